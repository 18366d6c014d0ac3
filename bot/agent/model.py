"""The types that an agent and a chat model exchange, the Protocols of the models, and counted calls."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from bot.agent.daemon_thread import call_in_daemon_thread
from bot.errors import ModelRepliedNothing, TellUser
from memory.history.selectors import TokenCounter

PromptRole = Literal["system", "user", "assistant", "tool"]

OnText = Callable[[str], Awaitable[None]]
"""Called with the whole text of the reply so far. A retry starts again with a shorter text."""

_LONG_TEXT = 100_000
"""Characters of a text whose tokens are counted in a thread, because ten times as many take a second."""
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The tool names that endpoints accept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call of the model."""

    id: str
    name: str
    # JSON text as the model wrote it, until the output parser has checked it.
    arguments: str
    # The error from the output parser, in words for the model. The call then gets this answer and does not run.
    problem: str | None = None
    # The endpoint's other fields of the call, such as Gemini's signature: a JSON object, "" for none.
    opaque: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    # The text that is counted for its share of a prompt.
    described: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        described = json.dumps([self.name, self.description, dict(self.parameters)], ensure_ascii=False)
        object.__setattr__(self, "described", described)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; zeros if it does not say. A sum names no model."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    # The name of the model at its endpoint.
    model: str = ""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One reply of the model: text, tool calls, or both."""

    # Without thoughts, which are neither shown nor kept.
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    # "length" and "content_filter" for all endpoints' words for these, else the endpoint's own word.
    finish_reason: str | None = None
    # The endpoint's other fields of the message, such as its reasoning: a JSON object, "" for none.
    opaque: str = ""
    # The model that wrote it. Only this model gets the opaque fields back.
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture for a model that sees. `tokens` is our estimate of its share of the window."""

    data: bytes
    mime_type: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a request."""

    role: PromptRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    # The call that a message of role "tool" answers.
    tool_call_id: str | None = None
    # Only messages of role "user" have images.
    images: tuple[Image, ...] = ()
    # The opaque fields of a reply with tool calls, and the model that wrote it.
    opaque: str = ""
    model: str = ""


class ChatModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """The name of the model at its endpoint."""
        ...

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Return one reply, never an empty one. Raises the TellUser errors after its own retries."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The form of a structured answer: a JSON Schema of type object, as OpenAI's strict mode demands it.

    All its objects have `additionalProperties` false and everything required. `name` is a-z and _.
    """

    name: str
    schema: Mapping[str, Any]
    # Fields without which an item of a list is left out. Other fields may be missing in an answer.
    needed: frozenset[str] = frozenset()


class JsonModel(Protocol):
    """A chat model that answers in JSON."""

    @property
    def name(self) -> str:
        """The name of the model at its endpoint."""
        ...

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return one reply whose text should be JSON of this schema. The caller checks that.

        Raises the TellUser errors after its own retries.
        """
        ...


@dataclass(slots=True, kw_only=True)
class MeteredCall:
    """A model call whose usage is counted here if the endpoint does not report it, or the call fails.

    `usages` receives the usage of a call that ends without a reply, because it is billed all the same.
    """

    # The name of the model.
    model: str
    # Counted with `meter`.
    prompt_tokens: int
    meter: TokenCounter
    usages: list[Usage]
    on_text: OnText | None = None
    _text: str = ""

    async def run(self, sending: Awaitable[ModelReply]) -> ModelReply:
        """Return the reply of a call that passes its text to `take`, with a usage that names the model. Raises the
        errors of the call.

        Without a reply the prompt and the text so far are counted. That is a call that was cancelled (a stop, a
        restart, the deadline), or that failed after the endpoint had begun to answer.
        """
        try:
            reply = await sending
        except (asyncio.CancelledError, ModelRepliedNothing):
            self.usages.append(self._count(self._text))
            raise
        except TellUser:
            if self._text:
                self.usages.append(self._count(self._text))
            raise
        if reply.usage != Usage():
            return replace(reply, usage=replace(reply.usage, model=self.model))
        texts = (reply.text, *(text for call in reply.tool_calls for text in (call.name, call.arguments)))
        if sum(map(len, texts)) > _LONG_TEXT:
            usage = await call_in_daemon_thread(lambda: self._count(*texts), name="count-tokens")
        else:
            usage = self._count(*texts)
        return replace(reply, usage=usage)

    async def take(self, text: str) -> None:
        """Pass the text of the reply so far to `on_text`, and keep it."""
        self._text = text
        if self.on_text is not None:
            await self.on_text(text)

    def _count(self, *texts: str) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=sum(map(self.meter.count, texts)),
            model=self.model,
        )
