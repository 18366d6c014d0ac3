"""The words that an agent and a chat model exchange, and the Protocol of the model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

PromptRole = Literal["system", "user", "assistant", "tool"]

OnText = Callable[[str], Awaitable[None]]
"""Told the whole text of the reply so far: a try that is repeated starts again from a shorter text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the model asked for. `arguments` is JSON text: as the model wrote it, until it is parsed.

    `problem` is what the output parser found wrong with the call, in words for the model; such a call is
    answered with that text and never run.
    """

    id: str
    name: str
    arguments: str
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; zeros where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One reply of the model: text, tool calls, or both. `finish_reason` is the endpoint's own word."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str | None = None

    def is_empty(self) -> bool:
        """Whether there is neither a word nor a call in it."""
        return not self.text.strip() and not self.tool_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture for a model that sees. `tokens` is our estimate of what it takes of the window."""

    data: bytes
    mime_type: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a request. `tool_call_id` names the call that a message of role "tool" answers.

    `images` are shown with the text; only a message of role "user" may have any.
    """

    role: PromptRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    images: tuple[Image, ...] = ()


class ChatModel(Protocol):
    """A chat model."""

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """One reply, never an empty one. Raises the TellUser errors of bot/errors.py, after its own tries."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """What a structured answer must look like: a JSON Schema of type object that closes all its objects
    (`additionalProperties` false, everything required), as OpenAI's strict mode wants it. `name` is a-z and _.
    """

    name: str
    schema: Mapping[str, Any]


class JsonModel(Protocol):
    """A chat model that answers in JSON."""

    @property
    def name(self) -> str:
        """What the endpoint knows it by."""
        ...

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """One reply whose text should be JSON of this schema: whether it is, the caller checks.

        Raises the TellUser errors of bot/errors.py, after its own tries.
        """
        ...
