"""The input of a turn: a batch of updates, the memory they were read with, and the claim they are answered under."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from bot.inbox.records import Claim
from bot.inbox.signals import Incoming
from bot.transport.gating import BotIdentity
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import quote_of
from bot.transport.words import Words, words_for
from bot.turn.batch import Batch, LastTurn, drop_outdated_quotes, is_stopped, plan_continuations, with_edits
from bot.turn.journal import TurnJournal
from bot.turn.limits import Charge
from bot.turn.media import ReadMessage
from bot.turn.outbox import Destination, destination_of
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Sender, message_id, render_message
from memory.history.selectors import TokenCounter
from memory.history.store import HistorySnapshot


@dataclass(slots=True, kw_only=True)
class Presses:
    """Presses of buttons that end with the turn."""

    settled: list[int] = field(default_factory=list[int])
    """Update ids of presses that were answered already."""
    stopping: list[WaitingUpdate] = field(default_factory=list[WaitingUpdate])
    """Presses of the Stop button, which are answered after the turn."""

    @property
    def update_ids(self) -> tuple[int, ...]:
        """The update ids of all of them."""
        return (*self.settled, *(update.update_id for update in self.stopping))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The batch of one turn with everything that belongs to it."""

    claim: Claim
    batch: Batch
    snapshot: HistorySnapshot
    """The memory as it was loaded together with the batch."""
    history: BufferedHistory
    """The memory with the messages that this turn will commit."""
    journal: TurnJournal
    incoming: Incoming
    """Signals for this context since before the batch was read."""
    waiting: Sequence[WaitingUpdate]
    """All updates that waited in the context."""
    joined: Sequence[int] = ()
    """The updates of an interrupted try, which this turn resumes."""
    stopped_before: int | None = None
    """Updates before this id were stopped by a /stop."""
    again: LastTurn | None = None
    """The turn whose question was edited: it is answered again, as if it had not been."""
    shown_as: Sequence[int] = ()
    """The Telegram messages that show the answer of `again`."""
    presses: Presses = field(default_factory=Presses)

    @property
    def first(self) -> WaitingUpdate:
        """The oldest update of the batch."""
        return self.batch.first

    @property
    def newest_update(self) -> int:
        """A stop after this update id concerns this turn."""
        return self.batch.newest.update_id

    @property
    def read_ids(self) -> Collection[int]:
        """The ids of the updates that this turn knows of."""
        return {update.update_id for update in self.waiting}

    @property
    def is_stopped(self) -> bool:
        """Return True if a stop came before the turn began."""
        return is_stopped(self.batch, self.waiting, self.stopped_before)

    @property
    def words(self) -> Words:
        """The catalogue in the language of the person who asks."""
        return words_for(self.first.message.language_code)

    @property
    def to(self) -> Destination:
        """The place of the answer."""
        return destination_of(self.batch.newest)

    @property
    def charge(self) -> Charge:
        """The person and chat whose limits the turn counts for. An edit counts like a message."""
        message = self.first.message
        return Charge(
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

    @property
    def reply_id(self) -> str:
        """The id of the answer in the history."""
        return self.id_of(self.newest_update, "reply")

    def id_of(self, *parts: object) -> str:
        """Return the id of a message of this turn: the same in every try."""
        return message_id(self.claim.ref.context_id, self.snapshot.epoch, *parts)

    def messages(
        self, reads: Sequence[ReadMessage], *, bot: BotIdentity, tokenizer: TokenCounter
    ) -> list[Message]:
        """Return the batch as messages for the history; for a turn that is answered again, all messages of it."""
        written = [
            self._message(update, read, bot=bot, tokenizer=tokenizer)
            for update, read in zip(self.batch.updates, reads, strict=True)
        ]
        if self.again is not None:
            return self._messages_again(self.again, written)
        continuations = plan_continuations(self.batch)
        written = [replace(each, continues=how) for each, how in zip(written, continuations, strict=True)]
        return drop_outdated_quotes(written, self.history.snapshot.newest)

    def _message(
        self, update: WaitingUpdate, read: ReadMessage, *, bot: BotIdentity, tokenizer: TokenCounter
    ) -> Message:
        message = update.message
        sender_id = 0 if message.sender_id is None else message.sender_id
        now = Message(
            id=self.id_of(update.update_id),
            role="user",
            text=read.text,
            sent_at=float(message.date),
            tokens=0,
            sender=Sender(id=sender_id, name=message.sender_name),
            telegram_message_id=message.message_id,
            edited_at=None if message.edit_date is None else float(message.edit_date),
            note=read.note,
            forwarded_from=message.forwarded_from,
            quote=quote_of(message, bot.id),
        )
        return replace(now, tokens=tokenizer.count(render_message(now)))

    def _messages_again(self, turn: LastTurn, edited: Sequence[Message]) -> list[Message]:
        """Return the turn's messages under new ids: the commit deletes the old ones with everything about them.

        An edit does not change what a message replies to, and it does not bring back a forgotten quotation.
        """
        now = {
            each.telegram_message_id: replace(
                each, sent_at=before.sent_at, continues=before.continues, quote=before.quote
            )
            for each in edited
            if each.telegram_message_id is not None
            and (before := turn.find(each.telegram_message_id)) is not None
        }
        return [
            replace(each, id=self.id_of(self.newest_update, number), sequence=None)
            for number, each in enumerate(with_edits(turn, now))
        ]
