"""The conversation, the caller and the records that an agent and its tools work with in one run."""

import time
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.agent.actions import CompletedStep, StepDigest
from bot.agent.files import File
from bot.agent.model import Image, OnText, Usage
from bot.agent.prompt.parts import PromptRecord
from bot.errors import ToolFailed
from memory.artifacts.store import ContextArtifacts, OutgoingFiles
from memory.chat_history import ChatHistory
from memory.facts.context_facts import ContextFacts
from memory.facts.selection import Memories
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, has_request
from memory.history.summary import Summary
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_id
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import ContextReminders

Role = Literal["anyone", "administrators", "operators"]
"""A person's role in a chat. Each role includes the permissions of the roles before it."""
Place = Literal["private", "groups"]
RANKS: Mapping[Role, int] = {"anyone": 0, "administrators": 1, "operators": 2}

Listener = Callable[[str], Awaitable[None]]
"""A function that receives the reply of a run."""
OnStatus = Callable[[str], Awaitable[None]]
"""A function that shows the current work, such as "Running tool convert". It must not raise."""

LeftOut = Literal["quote", "talk", "memories", "conversation"]
"""A part of a prompt that a model's filter refused and that later prompts do not contain either."""

StepKind = Literal["model", "tool", "delegation", "transfer", "digest", "speech"]
UNKNOWN = "unknown"
"""Replaces a tool name that the model has invented: such a name may quote the conversation."""


class Journal(Protocol):
    """The finished steps of one turn ("model:1", "tool:1:0"). A resumed run replays them."""

    async def finished(self, step: str) -> str | None:
        """Return the value recorded for this step, or None."""
        ...

    async def record(self, step: str, value: str) -> None:
        """Store the value of a finished step. Raises Fenced, Forgotten or TurnStopped."""
        ...


class PictureMaker(Protocol):
    """Makes pictures for one turn; see bot/features/pictures/pictures.py."""

    def paid(self) -> list[Usage]:
        """Return the usages of the pictures of this turn, also of those before a crash."""
        ...

    async def make(self, context: "AgentContext", prompt: str, *, size: str, edits: bool) -> File:
        """Return a new picture, or an edit of a photo. Raises ToolFailed with the reason for the model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The person for whom a run works, and the place. The defaults give the lowest permissions."""

    role: Role = "anyone"
    place: Place | None = None
    chat_id: int | None = None
    # None if nobody asks: a turn of forwards, or a person without an id.
    person_id: int | None = None
    # Tells if this person may change the whole memory of the chat; may ask Telegram. None: the person may not.
    owns_memory: Callable[[], Awaitable[bool]] | None = field(default=None, compare=False)


@dataclass(slots=True, kw_only=True)
class StepNote:
    """One step of a run for `mnemogram trace`: times and tokens, never a word of the conversation."""

    kind: StepKind
    # The agent of a model call, or the tool.
    name: str
    # "ok", "error", "replayed" (finished before a crash), or the class of the error that ended the step.
    outcome: str
    seconds: float = 0.0
    # The usage of a model call that gave a reply.
    usage: Usage = field(default_factory=Usage)
    # The number of delegations around the step.
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCount:
    """The number of messages of a context, those of this turn included."""

    total: int
    # Messages of the present conversation that no summary covers.
    uncovered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation as it was before this turn."""

    ref: ContextRef
    is_group: bool = False
    # People who wrote here before: sender id → name.
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    # The time zones that people have chosen: sender id → name.
    zones: Mapping[int, str] = field(default_factory=dict[int, str])
    # Recent messages that were not addressed to the bot, oldest first.
    talk: tuple[TalkLine, ...] = ()
    # Standing wishes of people who write now, those of each the newest first.
    standing: tuple[Fact, ...] = ()
    summary: Summary | None = None
    # The tool calls of past turns.
    ledger: tuple[LedgerTurn, ...] = ()
    # True without a summarizer, or while it fails.
    is_window_short: bool = False
    # Counts its messages; no round trip. None if the numbers are unknown.
    count: Callable[[], MessageCount] | None = None
    # The facts that are kept of it; None if there are none, and none to come of its messages.
    facts: ContextFacts | None = None
    # The reminders that are set in it; None if nobody can set any.
    reminders: ContextReminders | None = None
    # Marks messages that a model's filter refused, by id, and drops quotations of messages, by Telegram id.
    refuse: Callable[[Collection[str], Collection[int]], Awaitable[None]] | None = None
    # The model that people have chosen; "" for the default.
    model: str = ""
    # Keeps the files that tools return for the chat; without it they cannot.
    files: OutgoingFiles | None = None
    # Makes pictures; None if there are none here.
    pictures: PictureMaker | None = None
    # True if nothing of this turn is kept, and the person knows it.
    is_incognito: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """The task of a delegated agent. The defaults are those of the agent that talks with the chat."""

    # `a` on the first level, `a/b` below it.
    path: str = ""
    task: str = ""
    # The number of delegations around the run.
    depth: int = 0


@dataclass(slots=True, kw_only=True)
class Thinking:
    """The thinking area of one agent: empty when its run starts, and never part of the history."""

    completed_steps: list[CompletedStep] = field(default_factory=list[CompletedStep])
    # Replaces the oldest completed steps in the prompt.
    digest: StepDigest | None = None
    # None until the run has searched its memory.
    recalled: Memories | None = None
    # True after a model's filter has refused the conversation up to here.
    is_window_refused: bool = False


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """The records of a run and of all its delegations."""

    # The calls of this turn, in call order.
    ledger: list[LedgerEntry] = field(default_factory=list[LedgerEntry])
    prompts: list[PromptRecord] = field(default_factory=list[PromptRecord])
    # The number of files that tools have returned.
    file_count: int = 0
    # One for each model call, also for replayed calls and calls without a reply.
    usages: list[Usage] = field(default_factory=list[Usage])
    notes: list[StepNote] = field(default_factory=list[StepNote])
    # The finish reason of the reply that ended the run, "" for a final tool.
    finish_reason: str = ""
    # What a model's filter refused, for the chat.
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])


@dataclass(slots=True, kw_only=True)
class AgentContext:
    """One conversation, and the run that answers its newest prompt."""

    conversation: Conversation
    chat_history: ChatHistory
    # The messages of this turn. They are not in the history yet.
    user_messages: tuple[Message, ...] = ()
    # The pictures of these messages, by message id.
    images: Mapping[str, tuple[Image, ...]] = field(default_factory=dict[str, tuple[Image, ...]])
    # Decides which tools the run may use, also in delegations and after transfers.
    caller: Caller = field(default_factory=Caller)
    # Without it large results are cut instead of stored.
    artifacts: ContextArtifacts | None = None
    # Distinguishes the tool calls of this turn from all others.
    request_id: str = ""
    # A tool call finds its own key in it, as "call".
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    # Called in this order with the reply, when the run ends.
    listeners: list[Listener] = field(default_factory=list[Listener])
    on_status: OnStatus | None = None
    # Called with the text of the reply as it grows.
    on_text: OnText | None = None
    # The agent that has the chat, "" for the main agent. A transfer changes it.
    agent_name: str = ""
    # Empty for the agent that talks with the chat.
    delegation: Delegation = field(default_factory=Delegation)
    thinking: Thinking = field(default_factory=Thinking)
    record: RunRecord = field(default_factory=RunRecord)

    @classmethod
    async def get_or_create(
        cls,
        redis: RedisClient,
        context_keys: Mapping[str, object],
        *,
        namespace: str,
        partition: int,
        open_history: Callable[[ContextRef], ChatHistory],
        now: float,
    ) -> "AgentContext":
        """Return the context of these keys, a plain JSON mapping in any order. Register it if it is new.

        Each transport has its own `namespace`, so that no other transport can reach its contexts. Two first
        calls at the same instant give one context. Raises StoreUnavailable or StoreFull.
        """
        ref = ContextRef(context_id=context_id(namespace, context_keys), partition=partition)
        await contexts.get_or_create(redis, ref, context_keys=context_keys, title="", now=now)
        return cls(conversation=Conversation(ref=ref), chat_history=open_history(ref))

    @property
    def ref(self) -> ContextRef:
        """The id of the conversation, and its partition."""
        return self.conversation.ref

    @property
    def context_id(self) -> str:
        """The id derived from the context's keys."""
        return self.ref.context_id

    async def show_status(self, status: str) -> None:
        """Show the current work. The status never becomes part of the history."""
        if self.on_status is not None:
            await self.on_status(status)


@contextmanager
def note_step(context: AgentContext, kind: StepKind, name: str) -> Generator[StepNote]:
    """Append a note when the step ends. After an error or a cancellation its class is the outcome."""
    step = StepNote(kind=kind, name=name, outcome="ok", depth=context.delegation.depth)
    began = time.perf_counter()
    try:
        yield step
    except BaseException as error:
        step.outcome = type(error).__name__
        raise
    finally:
        step.seconds = round(time.perf_counter() - began, 3)
        context.record.notes.append(step)


ONLY_QUOTED = (
    "The present message has only words of others. Ask whether the person wants it; call again after that."
)


def require_request(context: AgentContext) -> None:
    """Raise ToolFailed if the messages have no words of their writers: a forward or a document asks for nothing."""
    if context.user_messages and not has_request(context.user_messages):
        raise ToolFailed(ONLY_QUOTED)
