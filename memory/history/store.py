"""What a store of histories does, and what one read of it gives."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory.history.ledger import LedgerTurn
from memory.history.message import Message
from memory.history.summary import Summary
from memory.history.talk import HeardLine
from memory.keys import ContextRef

SESSION_GAP_S = 3600.0
"""A message that comes so long after the one before begins a session."""
SESSION_MESSAGES = 100
"""A session has at most so many messages: talk that never pauses would else be one."""
PAGE = 100
"""Messages in a round trip: a window of 8,000 tokens rarely has more."""
PEOPLE_LIMIT = 500
"""Of how many who wrote in a context the names are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySnapshot:
    """A context as one read found it. `newest` is of the current conversation, oldest first, without what
    the `summary` covers. `ledger` has the turns of those messages, oldest first.

    `count` is of the whole history, `conversation_count` of the current conversation, which begins at the
    sequence `conversation_start`; `covered_count` of its messages are told by the summary. `created_at` is None while nothing was ever appended in this epoch.
    `people` are those who wrote here (sender id → the name that they showed last; at most PEOPLE_LIMIT).
    `active_agent` is who a transfer gave the chat to, "" for the main agent. `revision` counts deletions and
    edits. `heard` is what was said here lately and not to the bot, oldest first. `summary_failed_at` is the `next_sequence` at which summarising failed for good, None while it does not.
    """

    epoch: int
    count: int
    conversation_count: int
    conversation_start: int
    next_sequence: int
    created_at: float | None
    newest: tuple[Message, ...]
    summary: Summary | None = None
    covered_count: int = 0
    ledger: tuple[LedgerTurn, ...] = ()
    active_agent: str = ""
    revision: int = 0
    summary_failed_at: int | None = None
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    heard: tuple[HeardLine, ...] = ()

    @property
    def is_whole_conversation(self) -> bool:
        """Whether `newest` holds every message of the current conversation."""
        return len(self.newest) >= self.conversation_count

    @property
    def has_all_uncovered(self) -> bool:
        """Whether `newest` holds every message of the current conversation that no summary covers."""
        return len(self.newest) >= self.conversation_count - self.covered_count


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentMessages:
    """The epoch of a context now, those of the wanted messages that are there now, and what is known of them.

    `people` are those who wrote in the context, as in HistorySnapshot. `sessions` tells of each message the
    sequence at which its session began: 0 of those from before sessions were kept.
    """

    epoch: int
    messages: Mapping[str, Message]
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    sessions: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How much is kept of a context beside its messages. `people` are names, `sessions` beginnings of sessions,
    `heard` lines that were not said to the bot, `quotes` quotations in other messages.
    """

    summaries: int
    ledger_turns: int
    artifacts: int
    people: int = 0
    sessions: int = 0
    heard: int = 0
    quotes: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        told = self.summaries + self.ledger_turns + self.artifacts
        return told + self.people + self.sessions + self.heard + self.quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What erasing a context removed, and the epoch that began with it."""

    epoch: int
    messages: int
    summaries: int = 0
    ledger_turns: int = 0
    artifacts: int = 0
    heard: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What deleting messages removed: them, and what told of them.

    `quotes` is how many messages quoted them and lost the quotation. `sequences` are those of the messages,
    `artifact_ids` those that the ledger turns named, `message_ids` what was to be deleted, `sender_ids` who wrote it,
    `known_by` what it was quoted under (Telegram and message ids): for reading back.
    """

    messages: int = 0
    summaries: int = 0
    ledger_turns: int = 0
    artifacts: int = 0
    sequences: tuple[int, ...] = ()
    artifact_ids: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()
    sender_ids: tuple[int, ...] = ()
    quotes: int = 0
    known_by: tuple[str, ...] = ()


class HistoryStore(Protocol):
    """Messages of many contexts. Every write names the epoch in which its work began.

    A write raises Forgotten, and writes nothing, when the context was reset since; a write of nothing does
    nothing. All methods raise StoreUnavailable or StoreFull when the store cannot answer.
    """

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """The context and the newest `limit` messages of its current conversation, in one round trip."""
        ...

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """Append in order; returns the messages with their sequences.

        A message whose id is there already is not appended again and keeps its sequence.
        """
        ...

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """A page of the current conversation, or of the whole history; newest first.

        With `after_sequence` (-1 for the beginning): oldest first, from there on. A page may be short; only
        an empty one says that there is no more.
        """
        ...

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """The messages with these ids; those that are not there are left out."""
        ...

    async def around(
        self, ref: ContextRef, sequences: Collection[int], *, reach: int
    ) -> dict[int, list[Message]]:
        """For each of these sequences its message and at most `reach` before and after it in its session, in one
        round trip: oldest first, of the whole history; none of those that are gone.
        """
        ...

    async def replace(
        self,
        ref: ContextRef,
        message_id: str,
        *,
        text: str,
        tokens: int,
        edited_at: float,
        epoch: int,
        note: str | None = None,
    ) -> bool:
        """Replace a message's text (and its note, unless that is None), drop the summaries, ledger turns and quotations
        that told the old one, queue its vector anew. `tokens` are those of its `told_text`.

        False if the message is not kept. An edit that is older than the one kept changes nothing.
        """
        ...

    async def delete(
        self, ref: ContextRef, ids: Collection[str], *, epoch: int, quoted: Collection[int] = ()
    ) -> Deleted:
        """Delete messages, and the summaries, ledger turns, artifacts and quotations that tell of them; queues the
        removal of their vectors, and a compression where a summary went.

        `quoted` are Telegram ids of messages that are not kept: what quotes them loses the quotation all the same.
        """
        ...

    async def count_kept(self, ref: ContextRef, *, telling: Deleted | None = None) -> Kept:
        """What is kept beside the messages; with `telling` only what still tells of those deleted ones, such as
        the name of one who has no message left.
        """
        ...

    async def erase(self, ref: ContextRef) -> Erased:
        """Erase the whole history and begin a new epoch; queues the removal of the vectors."""
        ...


async def newest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False
) -> AsyncGenerator[Message]:
    """The current conversation (or the whole history) from its end; reads only as far as it is asked."""
    page = await store.page(ref, limit=PAGE, whole=whole)
    while page:
        for message in page:
            yield message
        page = await store.page(ref, before_sequence=page[-1].sequence, limit=PAGE, whole=whole)


async def oldest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False
) -> AsyncGenerator[Message]:
    """The current conversation (or the whole history) from its beginning, messages appended meanwhile too."""
    page = await store.page(ref, after_sequence=-1, limit=PAGE, whole=whole)
    while page:
        for message in page:
            yield message
        page = await store.page(ref, after_sequence=page[-1].sequence, limit=PAGE, whole=whole)
