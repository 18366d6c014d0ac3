"""What a prompt is made from, how much of a model's window it may take, and what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.agent.actions import CompletedStep, StepDigest
from bot.agent.model import Image, PromptMessage, ToolSpec
from bot.agent.prompt.receipt import PromptReceipt
from memory.history.heard import HeardLine
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.selectors import WINDOW_CHUNK
from memory.history.summary import Summary

PromptOrder = Literal["described", "cached"]
"""described: recalled messages before the conversation. cached: behind it, so that what repeats comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParts:
    """All that a prompt could tell, for one agent.

    `recalled` has the best hit first, `beside` (its id →) what was said around it, to be told with it; `window` and
    `ledger` (past turns, only what this agent may see) the oldest.
    `heard` is what was said in the chat lately and not to the bot, oldest first. `prompt` are the messages to answer,
    `images` (by message id) what they show; `record` what other agents of this run called, `task` what a delegated
    agent was told to do. `digest` tells the first of `steps`. `unselected`: how many messages that no summary covers
    are neither in `window` nor in `prompt`.
    """

    system: str
    tools: Sequence[ToolSpec] = ()
    summary: Summary | None = None
    recalled: Sequence[Message] = ()
    heard: Sequence[HeardLine] = ()
    beside: Mapping[str, Sequence[Message]] = field(default_factory=dict[str, Sequence[Message]])
    window: Sequence[Message] = ()
    unselected: int = 0
    ledger: Sequence[LedgerTurn] = ()
    prompt: Sequence[Message] = ()
    images: Mapping[str, Sequence[Image]] = field(default_factory=dict[str, Sequence[Image]])
    record: Sequence[LedgerEntry] = ()
    task: str = ""
    digest: StepDigest | None = None
    steps: Sequence[CompletedStep] = ()
    is_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBudget:
    """The model's `window` in tokens, of which `answer_tokens` are kept free.

    In the cached order a window that must be made shorter loses about `chunk` messages at once.
    """

    window: int
    answer_tokens: int
    order: PromptOrder = "cached"
    chunk: int = WINDOW_CHUNK

    @property
    def room(self) -> int:
        """What a prompt may take, the tools' schemas included."""
        return self.window - self.answer_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSize:
    """What a request would take before anything gives way; of it `older_steps`, which a digest could tell: all
    steps that no digest tells yet, but the newest.
    """

    tokens: int
    older_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledPrompt:
    """A request that fits, and the receipt that says what is in it."""

    messages: tuple[PromptMessage, ...]
    receipt: PromptReceipt
