"""The contract of a store of histories, and its records."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol

from memory.codec import Id, dump_json
from memory.history.fact import Fact
from memory.history.ledger import LedgerTurn
from memory.history.message import Message
from memory.history.summary import Summary
from memory.history.talk import NO_TALK, RecentTalk
from memory.keys import ContextRef

SESSION_GAP_S = 3600.0
"""A message that comes at least this long after the previous one begins a session, a stretch of talk."""
SESSION_MESSAGES = 100
"""Limit of messages in a session: talk without a pause would be one session otherwise."""
BEFORE_ALL = -(2**53)
"""A sequence before all others: imported messages have negative ones."""
PEOPLE_LIMIT = 500
"""Names that are stored of the people of a context, at most."""


Holding = Literal["artifacts", "facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """Numbers of a context's records: those stored, those erased, or those that an erasure left.

    The names are those of `KeyKind.counted_as` (memory/keys.py).
    """

    messages: int = 0
    summaries: int = 0
    ledger_turns: int = 0
    artifacts: int = 0
    """Those that have not expired."""
    talk: int = 0
    quotes: int = 0
    """Messages that quote a deleted one."""
    people: int = 0
    sessions: int = 0
    answer_receipts: int = 0
    """Those that have not expired."""
    facts: int = 0
    reminders: int = 0

    @property
    def total(self) -> int:
        """Return the sum of all counts."""
        return sum(self.by_name().values())

    def by_name(self) -> dict[str, int]:
        """Return the counts by name, without the other fields of a subclass."""
        return {field.name: getattr(self, field.name) for field in fields(RecordCounts)}

    def __add__(self, other: "RecordCounts") -> "RecordCounts":
        added = other.by_name()
        return RecordCounts(**{name: number + added[name] for name, number in self.by_name().items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryState:
    """The summarising of a conversation at one moment."""

    covered_count: int = 0
    """Messages that the summary covers."""
    failed_at: int | None = None
    """`next_sequence` at which summarising was given up, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChoices:
    """What people and transfers have chosen for this context; "" for the default."""

    model: str = ""
    """Also one that is gone."""
    agent: str = ""
    """The agent that a transfer gave the chat to; "" for the main agent."""
    of_features: Mapping[str, str] = field(default_factory=dict[str, str])
    """Feature → what people have chosen of it here, such as when answers are voice messages."""
    zones: Mapping[int, str] = field(default_factory=dict[int, str])
    """Sender id → time zone, of the people and talkers who have chosen one anywhere."""
    zone_asked: str = ""
    """The person who was asked for a time zone last, and when; also a long time ago."""

    def with_feature(self, name: str, choice: str) -> str:
        """Return the JSON of `of_features` with this choice, for the field "choices" of a context's meta."""
        return dump_json(dict[str, str], {**self.of_features, name: choice})


NO_CHOICES = ChatChoices()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySnapshot:
    """A context at one moment."""

    epoch: int
    count: int
    """Messages of the whole history."""
    conversation_count: int
    """Messages of the current conversation."""
    conversation_start: int
    """Sequence at which the current conversation begins."""
    next_sequence: int
    created_at: float | None
    """Unix seconds of the first message of this epoch, or None."""
    newest: tuple[Message, ...]
    """Newest messages of the current conversation, oldest first, without those that the summary covers."""
    summary: Summary | None = None
    ledger: tuple[LedgerTurn, ...] = ()
    """Turns of the messages in `newest`, oldest first."""
    revision: int = 0
    """Count of deletions and edits."""
    summary_state: SummaryState = SummaryState()
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """Sender id → the name shown last, of up to PEOPLE_LIMIT senders."""
    talk: RecentTalk = NO_TALK
    """Recent talk that was not addressed to the bot."""
    choices: ChatChoices = NO_CHOICES
    holds: frozenset[Holding] = frozenset()
    """Its contents besides messages. "facts" also if messages wait to be read for facts."""
    standing: tuple[Fact, ...] = ()
    """For a turn: standing wishes of the senders of its updates, those of each sender the newest first."""
    incognito_until: float = 0.0
    """The time at which silence ends incognito (Unix seconds); 0 if a command has ended it, and without any."""
    retention: str = ""
    """What people have chosen about the age of messages (memory/retention.py), which outlives resets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentMessages:
    """Messages of a context that exist now, with its epoch and its people."""

    epoch: int
    messages: Mapping[str, Message]
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """See HistorySnapshot."""
    sessions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Message id → sequence at which its session began."""
    facts: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict[str, tuple[Fact, ...]])
    """Message id → facts that cite it, for messages that any fact cites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A message with its neighbours of the same session, and the facts that cite it."""

    messages: tuple[Message, ...] = ()
    """Oldest first."""
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(RecordCounts):
    """Counts of what the erasure of a context removed, and the new epoch. Scripts write it as JSON."""

    epoch: int
    updates: int = 0
    """Waiting updates that a reset has forgotten."""
    unsent: int = 0
    """Committed messages that a reset has dropped before they were sent."""
    vectors: int = 0
    """Counted before the erasure; the index erases them later."""
    not_copied: str = ""
    """Reason why the tombstone is not in the file beside the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion(RecordCounts):
    """Counts of what the deletion of messages removed, and the facts by which reading back finds traces of them.

    `quotes` counts the messages that lost a quotation.
    """

    sequences: tuple[int, ...] = ()
    """Sequences of the deleted messages."""
    quoting: tuple[int, ...] = ()
    """Sequences of other messages that lost a quotation."""
    turn_ends: tuple[int, ...] = ()
    """Last sequences of other turns that the ledger lost, because their tools found the messages."""
    artifact_ids: tuple[str, ...] = ()
    """Artifacts that the deleted turns named."""
    message_ids: tuple[str, ...] = ()
    """Ids that the caller wanted to delete."""
    sender_ids: tuple[Id, ...] = ()
    known_by: tuple[str, ...] = ()
    """Telegram and message ids under which the messages were quoted."""
    summary_ids: tuple[str, ...] = ()
    """Summaries that were dropped."""
    fact_ids: tuple[str, ...] = ()
    """Facts that cited the messages, or others that lost a quotation."""
    uncited_ids: tuple[str, ...] = ()
    """Other messages that these facts cited and that no fact cites any more."""
    not_copied: str = ""
    """Reason why the tombstones are not in the file beside the store."""


class HistoryStore(Protocol):
    """Messages of many contexts. Every write names the epoch in which its work began.

    After a reset a write raises Forgotten and writes nothing. All methods raise StoreUnavailable or StoreFull if the
    store cannot answer.
    """

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """Load the context with the newest `limit` messages of its current conversation, in one round trip."""
        ...

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """Append in order; return the messages with their sequences.

        A message whose id exists is not appended again and keeps its sequence.
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
        """Read a page of the current conversation, or of the whole history, newest first.

        With `after_sequence` (BEFORE_ALL for the beginning) it is oldest first. A page may be short; only an empty page
        is the end.
        """
        ...

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """Return the messages with these ids that exist."""
        ...

    async def around(self, ref: ContextRef, sequences: Collection[int], *, reach: int) -> dict[int, Passage]:
        """Return for each sequence its message with up to `reach` neighbours on each side, and its facts.

        Neighbours are of the same session, also of older conversations. It takes one round trip. A sequence without a
        message has none.
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
        """Replace a message's text, and its note unless that is None; queue the update of its vector.

        Summaries, ledger turns and quotations of the old text are dropped, and so is the mark of `refuse`. `tokens` are
        those of its `render_message`. Return False if the message does not exist. An edit older than the stored one
        changes nothing.
        """
        ...

    async def refuse(self, ref: ContextRef, message_id: str, *, epoch: int) -> bool:
        """Mark a message that a model's filter refused. Everything that tells its text is dropped, as by an edit.

        The message stays. Return False if it does not exist.
        """
        ...

    async def delete(
        self, ref: ContextRef, ids: Collection[str], *, epoch: int, quoted: Collection[int] = ()
    ) -> Deletion:
        """Delete messages, and the summaries, ledger turns, artifacts and quotations that mention them.

        It queues the removal of their vectors, and a compression if a summary is dropped. `quoted` are Telegram ids of
        messages that are not stored: messages that quote them lose the quotation too.
        """
        ...

    async def count_traces(self, ref: ContextRef, *, mentioning: Deletion | None = None) -> RecordCounts:
        """Count the records besides the messages; with `mentioning`, those that still mention deleted messages."""
        ...

    async def erase(self, ref: ContextRef) -> Erasure:
        """Erase the whole history and begin a new epoch; queue the removal of the vectors."""
        ...
