"""The parts of a prompt, the budget for it, the assembled request, and its record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.agent.actions import CompletedStep, StepDigest
from bot.agent.model import Image, PromptMessage, ToolSpec
from memory.facts.selection import Memories
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.selectors import WINDOW_CHUNK
from memory.history.summary import Summary
from memory.history.talk import TalkLine
from memory.zones.clocks import ON_UTC, Clocks

NO_MEMORIES = Memories()
TALK_ITEM = "talk:"
"""Beginning of the ids of overheard messages in records. Their Telegram ids follow."""

PromptOrder = Literal["described", "cached"]
"""described: recalled messages before the conversation. cached: after it, so that requests begin alike."""

LeftOutCause = Literal["", "no_room", "not_selected", "no_text", "repeated"]
"""no_room: it did not fit. not_selected: it is too old for the prompt. no_text: it has nothing to show. repeated: it
stands elsewhere in the prompt. "" for a thing that is in the prompt.
"""

PartName = Literal[
    "system",
    "tools",
    "summary",
    "recalled",
    "facts",
    "talk",
    "window",
    "ledger",
    "standing",
    "prompt",
    "record",
    "task",
    "digest",
    "steps",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """The marks of a chat's texts."""

    # True if marks name the writers.
    is_group: bool = False
    # The clocks of the people, for the dates in the texts.
    clocks: Clocks = ON_UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParts(ChatView):
    """The contents of a prompt for one agent, before anything is left out."""

    system: str
    tools: Sequence[ToolSpec] = ()
    summary: Summary | None = None
    # Messages with their neighbours, and facts, that a search found.
    recalled: Memories = NO_MEMORIES
    # Recent messages that were not addressed to the bot, oldest first.
    talk: Sequence[TalkLine] = ()
    # The standing wishes of the person who asks, newest first.
    standing: Sequence[Fact] = ()
    # The newest messages of the conversation, oldest first.
    window: Sequence[Message] = ()
    # The number of messages without a summary that are neither in `window` nor in `prompt`.
    unselected: int = 0
    # The tool calls of past turns that this agent may see, oldest first.
    ledger: Sequence[LedgerTurn] = ()
    # The messages to answer.
    prompt: Sequence[Message] = ()
    # The pictures of these messages by message id, and those that they quote by `quoted_key`.
    images: Mapping[str, Sequence[Image]] = field(default_factory=dict[str, Sequence[Image]])
    # The calls of other agents in this run.
    record: Sequence[LedgerEntry] = ()
    # The task of a delegated agent.
    task: str = ""
    # Replaces the first of `steps`.
    digest: StepDigest | None = None
    steps: Sequence[CompletedStep] = ()
    # True if nothing of this turn is kept.
    is_incognito: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBudget:
    """The room for a prompt, in tokens."""

    # The window of the model.
    window: int
    # The most that a prompt may take, the tools' schemas included. The rest is for the answer.
    room: int
    order: PromptOrder = "cached"
    # In the cached order a window that is too long loses about this many messages at once.
    chunk: int = WINDOW_CHUNK


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSize:
    """The size of a request in tokens, before anything is left out."""

    tokens: int
    # The share of the steps that a new digest would replace: all without a digest, except the newest.
    older_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordItem:
    """One thing that is in a prompt, or was left out."""

    # The id of a message, a fact, a summary or a ledger entry; a tool's name; the first call id of a step. Messages to
    # others have TALK_ITEM and their Telegram id. "older" means all messages that the selector left out.
    id: str
    # Its tokens in the prompt; 0 if they were not counted.
    tokens: int
    # Why it was changed or left out; "" for an unchanged item.
    why: str = ""
    # The same for programs.
    cause: LeftOutCause = ""
    # The number of things that it stands for.
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPart:
    """One part of a prompt, and the reason for it."""

    part: PartName
    tokens: int
    why: str
    included: tuple[RecordItem, ...] = ()
    left_out: tuple[RecordItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRecord:
    """The contents of one request as ids and token counts, without text."""

    agent: str
    order: PromptOrder
    # The window of the model, and the room for prompts in it.
    window: int
    room: int
    tokens: int
    # In the order of the prompt.
    parts: tuple[RecordPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledPrompt:
    """A request that fits, and its record."""

    messages: tuple[PromptMessage, ...]
    record: PromptRecord


def quoted_key(message: Message) -> str:
    """Return the key of the pictures that a message quotes. They are shown as long as the quotation is."""
    return f"{message.id}:quoted"
