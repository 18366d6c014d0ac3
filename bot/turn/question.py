"""What a turn answers, with all that belongs to it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from bot.inbox.records import Claim
from bot.inbox.signals import Incoming
from bot.transport.ingest import WaitingUpdate
from bot.transport.words import Words, words_for
from bot.turn.batch import Batch
from bot.turn.journal import TurnJournal
from bot.turn.limits import Asked
from bot.turn.outbox import Destination
from bot.turn.reanswering import LastTurn
from memory.history.buffered import BufferedHistory
from memory.history.message import message_id
from memory.history.store import HistorySnapshot


@dataclass(slots=True, kw_only=True)
class Presses:
    """The presses of buttons that end with a turn: `settled` have their answer, `stopping` get it once the turn has ended."""

    settled: list[int] = field(default_factory=list[int])
    stopping: list[WaitingUpdate] = field(default_factory=list[WaitingUpdate])

    @property
    def update_ids(self) -> tuple[int, ...]:
        """Of all of them."""
        return (*self.settled, *(update.update_id for update in self.stopping))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The batch to answer, with the claim that it is answered under and the snapshot that was loaded with it.

    What the turn is to remember gathers in the `history`, for its commit. `incoming` are the signals since before the
    take, and `taken` the updates that were there then. `again` is the turn whose question was edited, with what is
    shown of its answer in `shown_as` (Telegram ids): it is answered as if that turn had not been.
    """

    claim: Claim
    batch: Batch
    snapshot: HistorySnapshot
    history: BufferedHistory
    journal: TurnJournal
    incoming: Incoming
    taken: Collection[int]
    to: Destination
    is_stopped: bool
    again: LastTurn | None = None
    shown_as: Sequence[int] = ()
    presses: Presses = field(default_factory=Presses)

    @property
    def newest_update(self) -> int:
        """The update id after which a stop means this turn."""
        return self.batch.newest.update_id

    @property
    def words(self) -> Words:
        """The catalogue in the language of who asks."""
        return words_for(self.batch.first.message.language_code)

    @property
    def asked(self) -> Asked:
        """Whose limits the turn counts for. An edit counts like a message: it has what runs begin anew."""
        message = self.batch.first.message
        return Asked(
            update_ids=tuple(sorted(self.batch.update_ids)),
            user_id=message.chat_id if message.sender_id is None else message.sender_id,
            chat_id=message.chat_id,
        )

    @property
    def telegram_ids(self) -> set[int | None]:
        """The Telegram messages that are answered."""
        if self.again is not None:
            return {message.telegram_message_id for message in self.again.messages}
        return {update.message.message_id for update in self.batch.updates}

    def id_of(self, *parts: object) -> str:
        """The id of a message of this turn: the same in every try of it."""
        return message_id(self.claim.ref.context_id, self.snapshot.epoch, *parts)

    @property
    def reply_id(self) -> str:
        """The id of the answer."""
        return self.id_of(self.newest_update, "reply")
