"""What an agent and its tools work with while they answer one prompt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.agent.actions import CompletedStep, StepDigest
from bot.agent.model import Image, OnText, Usage
from bot.agent.prompt.receipt import PromptReceipt
from bot.agent.scope import Caller
from bot.agent.step_notes import StepNote
from memory.artifacts.store import ContextArtifacts
from memory.chat_history import ChatHistory
from memory.history import contexts
from memory.history.heard import HeardLine
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.summary import Summary
from memory.keys import ContextRef, context_id
from memory.recall.history_search import RankedMessage
from memory.redis.client import RedisClient

Emit = Callable[[str], Awaitable[None]]
"""Takes the reply of a run."""
OnStatus = Callable[[str], Awaitable[None]]
"""Told what the run is doing now, such as "Running tool add". It must not raise."""


@dataclass(slots=True, kw_only=True)
class AgentContext:
    """One conversation, and the run that answers its newest prompt.

    `user_messages` are the messages of this turn, not yet in the history; `images` are theirs, by message id. `heard` is
    what was said here lately and not to the bot. `completed_steps` is the thinking
    area: empty at the start of each run and never part of the history. `emit_functions` are given the reply
    when the run ends; `on_text` the text as it grows. `people` are those who wrote here before (sender id → name).
    `recalled` is None until the run has searched its memory.

    `agent_name` is who has the chat ("" for the main agent); a transfer changes it. `summary`, `past_ledger` and
    `is_window_short` (no summarizer, or one that fails: row I7) are of the conversation before this turn.
    `ledger` are this turn's own entries, in the order of their calls; `receipts` those of its requests, `usages`
    those of its model's calls, of replies that are replayed and of calls without a reply too. A run within a delegation has its path in `delegation_id`, its
    `task`, and shares these three and the `notes` of what was done.
    Without `artifacts` large results are cut instead of kept. `caller` is for whom the run works: it decides which tools
    there are, in delegations and after transfers too. `count_uncovered` tells, for receipts and without a round
    trip, how many messages of the conversation no summary covers.
    """

    ref: ContextRef
    chat_history: ChatHistory
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    user_messages: tuple[Message, ...] = ()
    images: Mapping[str, tuple[Image, ...]] = field(default_factory=dict[str, tuple[Image, ...]])
    heard: tuple[HeardLine, ...] = ()
    is_group: bool = False
    request_id: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    emit_functions: list[Emit] = field(default_factory=list[Emit])
    on_status: OnStatus | None = None
    on_text: OnText | None = None
    completed_steps: list[CompletedStep] = field(default_factory=list[CompletedStep])
    recalled: Sequence[RankedMessage] | None = None
    agent_name: str = ""
    summary: Summary | None = None
    past_ledger: tuple[LedgerTurn, ...] = ()
    is_window_short: bool = False
    ledger: list[LedgerEntry] = field(default_factory=list[LedgerEntry])
    receipts: list[PromptReceipt] = field(default_factory=list[PromptReceipt])
    usages: list[Usage] = field(default_factory=list[Usage])
    notes: list[StepNote] = field(default_factory=list[StepNote])
    delegation_id: str = ""
    task: str = ""
    digest: StepDigest | None = None
    artifacts: ContextArtifacts | None = None
    caller: Caller = field(default_factory=Caller)
    count_uncovered: Callable[[], Awaitable[int]] | None = None

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
        """The context of these keys: any plain JSON mapping, in any order; registered when it is new.

        `namespace` is the transport's own, so that no other transport reaches its contexts. Two first calls
        at the same instant give one context. Raises StoreUnavailable or StoreFull.
        """
        ref = ContextRef(context_id=context_id(namespace, context_keys), partition=partition)
        await contexts.get_or_create(redis, ref, context_keys=context_keys, title="", now=now)
        return cls(ref=ref, chat_history=open_history(ref))

    @property
    def context_id(self) -> str:
        """The id that the context's keys give."""
        return self.ref.context_id

    @property
    def depth(self) -> int:
        """How many delegations this is within: 0 for the agent that talks with the chat."""
        return len(self.delegation_id.split("/")) if self.delegation_id else 0

    async def emit(self, reply: str) -> None:
        """Give the reply to each emit function, in the order in which they were registered."""
        for emit in self.emit_functions:
            await emit(reply)

    async def tell_status(self, status: str) -> None:
        """Show what the run is doing; it never becomes a part of the history."""
        if self.on_status is not None:
            await self.on_status(status)
