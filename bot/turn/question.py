"""The input of a turn: a batch of updates, the memory they were read with, and the journal of finished steps."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from bot.errors import TurnStopped
from bot.inbox.records import Claim
from bot.inbox.signals import Incoming
from bot.transport.gating import BotIdentity, strip_mention
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import origin_of, quote_of
from bot.transport.words import Words, words_for
from bot.turn.batch import Batch, LastTurn, drop_outdated_quotes, own_presses, plan_continuations, with_edits
from bot.turn.media import ReadMessage, quoted_file, without_reply
from bot.turn.outbox import Part, blank_part
from bot.turn.store import TurnStore
from memory.codec import Id, dump_json, parse_json
from memory.history.buffered import BufferedHistory
from memory.history.fact import AwaitedCorrection
from memory.history.message import Message, Sender, message_id, render_message
from memory.history.selectors import TokenCounter
from memory.history.store import HistorySnapshot

_JOINED, _APPENDED = "joined", "appended"
_REVISION = "revision"
"""The history's revision that the turn has read. Another one in the next try: a message was forgotten meanwhile."""
_PREVIEW = "preview"
"""The message of ours that shows this turn, for the next try after a crash. A restart keeps it (restart.lua)."""


@dataclass(slots=True, kw_only=True)
class TurnJournal:
    """Reads the steps that were there when the turn began, and writes new ones to the store.

    It writes in the history's epoch: a turn whose tool erases its own memory goes on in the next one.
    """

    store: TurnStore
    claim: Claim
    history: BufferedHistory
    batch: Batch
    own_messages: int
    """The question's messages, which are the first pending ones of the history."""
    steps: dict[str, str]
    """The steps of an interrupted try, and then those of this one too."""

    async def finished(self, step: str) -> str | None:
        """Return the value that was recorded for this step, or None."""
        return self.steps.get(step)

    async def record(self, step: str, value: str) -> None:
        """Record a finished step, and the messages that tools have appended to the history so far.

        Raises Fenced, Forgotten or TurnStopped: the turn ends there.
        """
        fields = {step: value}
        if _JOINED not in self.steps:
            fields[_JOINED] = dump_json(tuple[Id, ...], self.batch.update_ids)
        if self.steps.get(_REVISION) != str(self.history.revision):
            fields[_REVISION] = str(self.history.revision)
        pending = self.history.pending
        if len(pending) > self.own_messages:
            fields[_APPENDED] = dump_json(list[Message], list(pending))
        self.steps |= fields
        newest = self.batch.updates[-1]  # a stop after this update ends the turn
        await self.store.record(
            self.claim,
            epoch=self.history.epoch,
            newest_update=newest.update_id,
            order_id=newest.order_id,
            fields=fields,
        )

    async def record_for_good(self, step: str, value: str) -> None:
        """Record a step of an erasure, which a /stop does not end."""
        with suppress(TurnStopped):  # raised after the write
            await self.record(step, value)

    async def restore_appended(self) -> None:
        """After a crash, append the messages of the finished steps again. Existing ones stay as they are."""
        line = self.steps.get(_APPENDED)
        if line is not None:
            appended = parse_json(list[Message], line)
            await self.history.append(self.claim.ref, appended, epoch=self.history.epoch)

    @property
    def is_outdated(self) -> bool:
        """Return True if messages were deleted or edited since an earlier try read the history."""
        return self.steps.get(_REVISION, str(self.history.revision)) != str(self.history.revision)

    async def show_in(self, message_id: int) -> None:
        """Record the message that shows this turn. Raises what `record` does."""
        await self.record(_PREVIEW, str(message_id))

    async def shown_in(self) -> int | None:
        """Return the message that shows this turn, if an earlier try recorded one."""
        return preview_in(self.steps)


def joined_updates(steps: Mapping[str, str]) -> tuple[int, ...]:
    """Return the updates of an interrupted turn, which the next try must answer together; () for a new turn."""
    return parse_json(tuple[int, ...], steps[_JOINED]) if _JOINED in steps else ()


def preview_in(steps: Mapping[str, str]) -> int | None:
    """Return the message that shows an interrupted turn."""
    return int(steps[_PREVIEW]) if _PREVIEW in steps else None


@dataclass(slots=True, kw_only=True)
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
    corrections: tuple[AwaitedCorrection, ...] = ()
    """Questions about facts that wait for an answer."""
    stopped_before: int | None = None
    """Updates before this id were stopped by a /stop."""
    again: LastTurn | None = None
    """The turn whose question was edited: it is answered again, as if it had not been."""
    shown_as: Sequence[int] = ()
    """The Telegram messages that show the answer of `again`."""
    notice: str = ""
    """A sentence that stands before the answer in the chat, and not in the history."""
    settled_presses: list[int] = field(default_factory=list[int])
    """Update ids of presses of buttons that were answered already and end with the turn."""

    first: WaitingUpdate = field(init=False)
    """The oldest update of the batch."""
    newest: WaitingUpdate = field(init=False)
    """The update that the reply answers. A stop after it concerns this turn."""
    words: Words = field(init=False)
    """The catalogue in the language of the person who asks."""
    to: Part = field(init=False)
    """The blank part of the answer: it says where the answer goes."""
    user_id: int = field(init=False)
    """The person whose limits the turn counts for; the chat if the sender is anonymous."""
    reply_id: str = field(init=False)
    """The id of the answer in the history."""
    stop_presses: list[WaitingUpdate] = field(init=False)
    """Presses of the Stop button that are answered after the turn."""

    def __post_init__(self) -> None:
        """Compute what many steps of the turn need."""
        first, newest = self.batch.updates[0], self.batch.updates[-1]
        self.first, self.newest = first, newest
        self.words = words_for(first.message.language_code)
        self.to = blank_part(newest, epoch=self.snapshot.epoch)
        self.user_id = first.message.chat_id if first.message.sender_id is None else first.message.sender_id
        self.reply_id = self.id_of(newest.update_id, "reply")
        self.stop_presses = own_presses(self.batch, self.waiting)

    @property
    def read_ids(self) -> Collection[int]:
        """The ids of the updates that this turn knows of."""
        return {update.update_id for update in self.waiting}

    @property
    def telegram_ids(self) -> set[int | None]:
        """The Telegram messages that are answered."""
        if self.again is not None:
            return {message.telegram_message_id for message in self.again.messages}
        return {update.message.message_id for update in self.batch.updates}

    @property
    def kept_reply_id(self) -> str:
        """The id of the answer if the history keeps it, else ""."""
        pending = self.history.pending
        return self.reply_id if pending and pending[-1].id == self.reply_id else ""

    @property
    def with_files(self) -> list[WaitingUpdate]:
        """The updates of the batch whose message has a file, or replies to one that has.

        A forgotten quotation stays forgotten after an edit.
        """
        updates = tuple(self.batch.messages)
        if self.again is not None:
            quoting = {each.telegram_message_id for each in self.again.messages if each.quote}
            updates = tuple(
                each if each.message.message_id in quoting else without_reply(each) for each in updates
            )
        return [each for each in updates if each.message.attachment or quoted_file(each)]

    def problem_in(self, reads: Mapping[int, ReadMessage]) -> str:
        """Return the sentence to say if nothing of the question can be read, else ""."""
        has_words = any(update.message.text for update in self.batch.updates)
        if has_words or any(read.text or read.images for read in reads.values()):
            return ""
        return next((read.problem for read in reads.values() if read.problem), "")

    def id_of(self, *parts: object) -> str:
        """Return the id of a message of this turn: the same in every try."""
        return message_id(self.claim.ref.context_id, self.snapshot.epoch, *parts)

    def messages(
        self, reads: Mapping[int, ReadMessage], *, bot: BotIdentity, tokenizer: TokenCounter
    ) -> list[Message]:
        """Return the batch as messages for the history; for a turn that is answered again, all messages of it.

        `reads` has the contents of files, by update id.
        """
        written = [
            self._message(update, reads.get(update.update_id), bot=bot, tokenizer=tokenizer)
            for update in self.batch.messages
        ]
        if self.again is not None:
            return self._messages_again(self.again, written)
        if len(written) == 1 and written[0].quote is None:
            return written
        continuations = plan_continuations(self.batch)
        written = [replace(each, continues=how) for each, how in zip(written, continuations, strict=True)]
        return drop_outdated_quotes(written, self.history.snapshot.newest)

    def _message(
        self, update: WaitingUpdate, read: ReadMessage | None, *, bot: BotIdentity, tokenizer: TokenCounter
    ) -> Message:
        message = update.message
        now = Message(
            id=self.id_of(update.update_id),
            role="user",
            text=read.text if read else strip_mention(message, bot=bot),
            sent_at=float(message.date),
            tokens=0,
            sender=Sender(id=message.sender_id or 0, name=message.sender_name),
            telegram_message_id=message.message_id or None,
            edited_at=None if message.edit_date is None else float(message.edit_date),
            note=read.note if read else message.note,
            forwarded_from=message.forwarded_from,
            forwarded_id=message.forwarded_id,
            origin="bot" if update.reminder else origin_of(message),
            quote=quote_of(message, bot.id, file=read.quoted if read else ""),
        )
        return replace(now, tokens=tokenizer.count(render_message(now)))

    def _messages_again(self, turn: LastTurn, edited: Sequence[Message]) -> list[Message]:
        """Return the turn's messages under new ids: the commit deletes the old ones with everything about them.

        An edit does not change whose words a message has or what it replies to, and it does not bring back a
        forgotten quotation.
        """
        now = {
            each.telegram_message_id: replace(
                each,
                sent_at=before.sent_at,
                forwarded_from=before.forwarded_from,
                forwarded_id=before.forwarded_id,
                origin=before.origin,
                continues=before.continues,
                quote=before.quote and replace(before.quote, file=(each.quote or before.quote).file),
            )
            for each in edited
            if each.telegram_message_id is not None
            and (before := turn.find(each.telegram_message_id)) is not None
        }
        return [
            replace(each, id=self.id_of(self.newest.update_id, number), sequence=None)
            for number, each in enumerate(with_edits(turn, now))
        ]
