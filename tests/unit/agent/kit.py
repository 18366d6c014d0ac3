"""Fakes for the agent's tests: a history in memory, a scripted model, a journal in a dict."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

from prometheus_client import Counter, Histogram

from bot.agent.context import AgentContext, Conversation, Delegation, Journal, RunRecord
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.loop import run_agent
from bot.agent.mcp_servers import McpTools, McpToolset
from bot.agent.model import ChatModel, ModelReply, OnText, PromptMessage, ToolCall, ToolSpec, Usage
from bot.agent.prompt.parts import PromptOrder
from bot.agent.prompt.text import as_prompt_message
from bot.agent.team import Agent, Team
from bot.agent.tool import Tool
from memory.chat_history import ChatHistory, RankedMessage
from memory.errors import RecallUnavailable
from memory.facts.selection import Memories
from memory.history.buffered import BufferedHistory
from memory.history.fact import Fact
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, Role, Sender
from memory.history.selectors import MessageSelector, MessageWindowMessageSelector
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space, Spaces
from memory.recall.vector_index import Hit, VectorQuery
from memory.tokens import tokenizer_for
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.history import InMemoryHistory
from tests.fakes.vector_index import InMemoryIndex

REF = ContextRef(context_id="c" * 32, partition=0)
_OF_THE_CONVERSATION = frozenset(
    ["is_group", "people", "talk", "summary", "is_window_short", "count", "files", "refuse"]
)
FIRST_SECOND = 1_763_661_780.0  # 2025-11-20 18:03 UTC
TOKENIZER = tokenizer_for("gpt-4o")
SCRIPTED = Usage(prompt_tokens=10, completion_tokens=2, model="scripted")


def message(
    number: int, text: str, *, role: Role = "user", sender: str | None = "Olga", sequence: int | None = None
) -> Message:
    """Return the message `m<number>`, sent that many minutes after 18:03. Assistants have no sender."""
    return Message(
        id=f"m{number}",
        role=role,
        text=text,
        sent_at=FIRST_SECOND + 60 * number,
        tokens=TOKENIZER.count(text),
        sender=Sender(id=7, name=sender) if sender and role == "user" else None,
        sequence=sequence,
    )


def call(name: str, arguments: str = "{}", *, call_id: str = "") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def asks(*calls: ToolCall, text: str = "") -> ModelReply:
    """Return a reply with tool calls. Calls without an id get c0, c1 …, distinguished by their name."""
    named = (replace(each, id=each.id or f"{each.name}-{number}") for number, each in enumerate(calls))
    return ModelReply(text=text, tool_calls=tuple(named), usage=SCRIPTED, finish_reason="tool_calls")


def says(text: str) -> ModelReply:
    return ModelReply(text=text, usage=SCRIPTED, finish_reason="stop")


@dataclass(slots=True)
class ModelRequest:
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...]

    def shown(self) -> list[str]:
        """Return the messages as `role: text`, calls as `name(arguments) #id`, results with their id."""
        return [rendered_message(message) for message in self.messages]


def rendered_message(message: PromptMessage) -> str:
    calls = "".join(f" {each.name}({each.arguments}) #{each.id}" for each in message.tool_calls)
    answers = f" #{message.tool_call_id}" if message.tool_call_id else ""
    return f"{message.role}{answers}: {message.text}{calls}"


class ScriptedModel:
    """A ChatModel that returns its replies in order and raises those that are errors.

    `requests` are recorded.
    """

    name = "scripted"

    def __init__(self, *replies: ModelReply | Exception) -> None:
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        self.requests.append(ModelRequest(tuple(messages), tuple(tools)))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if on_text and reply.text:
            await on_text(reply.text)
        return reply


@dataclass(slots=True)
class DictJournal:
    """A Journal in a dict. Recording the named step raises `refusal`."""

    steps: dict[str, str] = field(default_factory=dict[str, str])
    refusal: Mapping[str, Exception] = field(default_factory=dict[str, Exception])

    async def finished(self, step: str) -> str | None:
        return self.steps.get(step)

    async def record(self, step: str, value: str) -> None:
        if step in self.refusal:
            raise self.refusal[step]
        self.steps[step] = value


class MemoryIndex(InMemoryIndex):
    """A VectorIndex in memory that records requests. While `failure` is set, a search raises it."""

    def __init__(self, *, failure: RecallUnavailable | None = None) -> None:
        super().__init__()
        self.failure = failure
        self.queries: list[VectorQuery] = []

    async def search(self, query: VectorQuery) -> list[Hit]:
        self.queries.append(query)
        if self.failure:
            raise self.failure
        return await super().search(query)


async def make_context(
    *,
    history: Sequence[Message] = (),
    prompt: Sequence[Message] = (),
    index: MemoryIndex | None = None,
    **details: Any,
) -> AgentContext:
    """Return a context with this history.

    With an `index`, all of it is indexed there. `details` are fields of the context, its conversation,
    its delegation and its record.
    """
    numbered = tuple(replace(each, sequence=number) for number, each in enumerate(history))
    recall = None
    if index is not None:
        recall = Recall(Spaces(serving=Space(embedder=FakeEmbedder(), index=index)))
        people = {each.sender.id: each.sender.name for each in numbered if each.sender}
        items = [IndexItem(ref=REF, epoch=0, message=each, people=people) for each in numbered]
        await recall.index(items)
    snapshot = HistorySnapshot(
        epoch=0,
        count=len(numbered),
        conversation_count=len(numbered),
        conversation_start=0,
        next_sequence=len(numbered),
        created_at=FIRST_SECOND,
        newest=numbered,
    )
    ids = iter(range(1_000_000))
    store = InMemoryHistory()
    await store.append(REF, numbered, epoch=0)
    chat_history = ChatHistory(
        ref=REF,
        epoch=0,
        store=BufferedHistory(store, REF, snapshot),
        recall=recall,
        tokenizer=TOKENIZER,
        clock=lambda: FIRST_SECOND,
        new_id=lambda: f"new-{next(ids)}",
    )
    conversation = {key: details.pop(key) for key in _OF_THE_CONVERSATION & details.keys()}
    past_ledger: tuple[LedgerTurn, ...] = details.pop("past_ledger", ())
    return AgentContext(
        conversation=Conversation(ref=REF, ledger=past_ledger, **conversation),
        chat_history=chat_history,
        user_messages=tuple(prompt),
        delegation=Delegation(path=details.pop("delegation_id", ""), task=details.pop("task", "")),
        record=RunRecord(ledger=details.pop("ledger", [])),
        **details,
    )


def hit(message: Message, *, before: Sequence[Message] = (), after: Sequence[Message] = ()) -> RankedMessage:
    """Return the message as a hit, with its neighbours."""
    return RankedMessage(message=message, score=1.0, before=tuple(before), after=tuple(after))


def recalls(*hits: RankedMessage, facts: Sequence[Fact] = (), people: Mapping[int, str] = {}) -> Memories:
    """Return what a search has found, the best first."""
    return Memories(messages=hits, facts=tuple(facts), people=people)


def sample(metric: Counter | Histogram, name: str, **labels: str) -> float:
    """Return the current value of one sample of a metric; 0 before its first."""
    samples = (each for family in metric.collect() for each in family.samples)
    return next((each.value for each in samples if each.name == name and each.labels == labels), 0.0)


class AgentOptions(TypedDict, total=False):
    """Optional arguments of FunctionsBasedAgent."""

    name: str
    order: PromptOrder
    shows_ledger: bool
    fallback_selector: MessageSelector
    mcp: McpToolset | None
    servers: McpTools | None


def make_agent(
    model: ChatModel,
    *functions: Callable[..., object] | Tool,
    selector: MessageSelector | None = None,
    limits: PromptLimits | None = None,
    **options: Unpack[AgentOptions],
) -> FunctionsBasedAgent:
    return FunctionsBasedAgent(
        model=model,
        prompt="You are a test.",
        tools=[each if isinstance(each, Tool) else Tool.from_function(each) for each in functions],
        message_selector=selector or MessageWindowMessageSelector(10),
        tokenizer=TOKENIZER,
        limits=limits or PromptLimits(context_window=8_000, answer_tokens=1_000),
        **options,
    )


async def run_alone(agent: Agent, context: AgentContext, *, journal: Journal, max_actions: int = 5) -> str:
    """Return the reply of a team of one."""
    return await run_agent(Team.of(agent), context, journal=journal, max_actions=max_actions)


async def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.001)


def as_spoken(message: Message, *, is_group: bool) -> PromptMessage:
    """Return the message in its own role, as `as_prompt_message` renders it."""
    return as_prompt_message([message], is_group=is_group)
