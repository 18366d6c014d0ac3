"""The history during one turn: read once, appended to in memory, written by the turn's commit."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from memory.errors import Forgotten
from memory.history.message import Message, edit_message
from memory.history.store import (
    PEOPLE_LIMIT,
    Deletion,
    Erasure,
    HistorySnapshot,
    HistoryStore,
    Passage,
    RecordCounts,
)
from memory.keys import ContextRef

_SEQUENCE = attrgetter("sequence")
"""Preloaded and pending messages have sequences, in ascending order."""


class BufferedHistory:
    """HistoryStore of one context for one turn, over the store that `snapshot` was loaded from.

    Appended messages wait in `pending`, visible to every read, until the turn's commit writes them. Their sequences
    are provisional. Deleting, editing and erasing change the store at once. After an erasure by somebody else, reading
    the store again raises Forgotten. Stored messages from the sequence `hidden_from` on are hidden.
    """

    def __init__(
        self,
        store: HistoryStore,
        ref: ContextRef,
        snapshot: HistorySnapshot,
        *,
        hidden_from: int | None = None,
    ) -> None:
        self.pending: list[Message] = []
        self.snapshot = snapshot if hidden_from is None else rewind(snapshot, hidden_from)
        self.epoch = snapshot.epoch  # rises when the turn itself erases the history
        self.revision = snapshot.revision  # rises when the turn itself edits or deletes messages
        self._store = store
        self._ref = ref
        self._hidden_from = hidden_from
        self._hidden_count = len(snapshot.newest) - len(self.snapshot.newest)
        self._next_sequence = snapshot.next_sequence

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """See HistoryStore; no round trip unless more messages are wanted than were preloaded."""
        _check(ref, self._ref)
        snapshot, pending = self.snapshot, len(self.pending)
        is_whole = len(snapshot.newest) >= snapshot.conversation_count - snapshot.summary_state.covered_count
        if limit > len(snapshot.newest) + pending and not is_whole:
            snapshot = await self._reload(limit)
        messages = (*snapshot.newest, *self.pending)
        newest = messages[max(len(messages) - limit, 0) :]
        ledger = snapshot.ledger
        if ledger:
            first = newest[0].sequence if newest else self._next_sequence
            ledger = tuple([turn for turn in ledger if turn.last_sequence >= (first or 0)])
        return replace(
            snapshot,
            count=snapshot.count + pending,
            conversation_count=snapshot.conversation_count + pending,
            next_sequence=self._next_sequence,
            newest=newest,
            ledger=ledger,
            people=_with_senders(snapshot.people, self.pending),
        )

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """See HistoryStore; nothing is written."""
        _check(ref, self._ref)
        if epoch != self.epoch:
            raise Forgotten
        appended: list[Message] = []
        for message in messages:
            known = self._find(message.id)
            if known is None:
                known = replace(message, sequence=self._next_sequence)
                self.pending.append(known)
                self._next_sequence += 1
            appended.append(known)
        return appended

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """See HistoryStore; reads the store only for messages that were not preloaded."""
        _check(ref, self._ref)
        if after_sequence is not None:
            return await self._page_forward(after_sequence, limit=limit, whole=whole)
        known = [*self.snapshot.newest, *self.pending]
        if before_sequence is not None:
            del known[bisect_left(known, before_sequence, key=_SEQUENCE) :]
        if known or (self._has_conversation() and not whole):
            return known[::-1][:limit]
        bounds = [bound for bound in (before_sequence, self._hidden_from) if bound is not None]
        before = min(bounds, default=None)
        return await self._store.page(ref, before_sequence=before, limit=limit, whole=whole)

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """See HistoryStore; reads the store only for messages that were not preloaded."""
        _check(ref, self._ref)
        found: dict[str, Message] = {}
        missing: list[str] = []
        for message_id in ids:
            known = self._find(message_id)
            if known is None:
                missing.append(message_id)
            else:
                found[message_id] = known
        if missing:
            stored = await self._store.get(ref, missing)
            found |= {each: m for each, m in stored.items() if is_before(m, self._hidden_from)}
        return found

    async def around(self, ref: ContextRef, sequences: Collection[int], *, reach: int) -> dict[int, Passage]:
        """See HistoryStore; pending messages are left out."""
        _check(ref, self._ref)
        stored = await self._store.around(ref, sequences, reach=reach)
        return {
            sequence: replace(passage, messages=_until(passage.messages, self._hidden_from))
            for sequence, passage in stored.items()
            if self._hidden_from is None or sequence < self._hidden_from
        }

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
        """See HistoryStore; changes the store at once, unless the message is pending."""
        _check(ref, self._ref)
        for at, message in enumerate(self.pending):
            if message.id == message_id:
                self.pending[at] = edit_message(
                    message, text=text, note=note, tokens=tokens, edited_at=edited_at
                )
                _strip_quotes(self.pending, {message.telegram_message_id})
                return True
        is_kept = await self._store.replace(
            ref, message_id, text=text, tokens=tokens, edited_at=edited_at, epoch=epoch, note=note
        )
        if is_kept:
            await self._reload(len(self.snapshot.newest), is_changed=True)
        return is_kept

    async def refuse(self, ref: ContextRef, message_id: str, *, epoch: int) -> bool:
        """See HistoryStore; changes the store at once, unless the message is pending."""
        _check(ref, self._ref)
        for at, message in enumerate(self.pending):
            if message.id == message_id:
                self.pending[at] = replace(message, is_refused=True)
                return True
        is_kept = await self._store.refuse(ref, message_id, epoch=epoch)
        if is_kept:
            await self._reload(len(self.snapshot.newest), is_changed=True)
        return is_kept

    async def delete(
        self, ref: ContextRef, ids: Collection[str], *, epoch: int, quoted: Collection[int] = ()
    ) -> Deletion:
        """See HistoryStore; changes the store at once and reads it again."""
        _check(ref, self._ref)
        pending = [message for message in self.pending if message.id in ids]
        stored = [wanted for wanted in ids if wanted not in [message.id for message in pending]]
        shown_as = [m.telegram_message_id for m in pending if m.telegram_message_id is not None]
        deleted = await self._store.delete(ref, stored, epoch=epoch, quoted=(*quoted, *shown_as))
        self.pending[:] = [message for message in self.pending if message.id not in ids]
        known_by = {int(each) for each in deleted.known_by if each.isdecimal()}
        quotes = _strip_quotes(self.pending, {*known_by, *quoted, *shown_as} - {0})
        if deleted.messages or deleted.quotes:
            await self._reload(len(self.snapshot.newest), is_changed=True)
        return replace(deleted, messages=deleted.messages + len(pending), quotes=deleted.quotes + quotes)

    async def count_traces(self, ref: ContextRef, *, mentioning: Deletion | None = None) -> RecordCounts:
        """See HistoryStore; the calls of this turn are not written yet, and not counted."""
        _check(ref, self._ref)
        return await self._store.count_traces(ref, mentioning=mentioning)

    async def erase(self, ref: ContextRef) -> Erasure:
        """See HistoryStore; changes the store at once and reads it again."""
        _check(ref, self._ref)
        erased = await self._store.erase(ref)
        self._hidden_from, self._hidden_count = None, 0
        self.snapshot = await self._store.load(ref, limit=0)
        self.epoch, self._next_sequence = self.snapshot.epoch, self.snapshot.next_sequence
        self.revision = self.snapshot.revision
        self.pending.clear()
        return erased

    async def _reload(self, limit: int, *, is_changed: bool = False) -> HistorySnapshot:
        """Read the store again, perhaps after a change of this turn.

        A change raises the revision by one. If it rose by more, somebody else has deleted a message too: then
        `revision` stays behind, and the commit sees that.
        """
        snapshot = await self._store.load(self._ref, limit=limit + self._hidden_count)
        if snapshot.epoch != self.epoch:
            raise Forgotten
        if is_changed and snapshot.revision > self.snapshot.revision:
            self.revision += 1
        self.snapshot = snapshot if self._hidden_from is None else rewind(snapshot, self._hidden_from)
        return self.snapshot

    async def _page_forward(self, after: int, *, limit: int, whole: bool) -> list[Message]:
        known = self.pending
        if self._has_conversation() and not whole:
            known = [*self.snapshot.newest, *self.pending]
        else:
            stored = await self._store.page(self._ref, after_sequence=after, limit=limit, whole=whole)
            page = [message for message in stored if is_before(message, self._hidden_from)]
            if page:
                return page
        start = bisect_right(known, after, key=_SEQUENCE)
        return known[start : start + limit]

    def _has_conversation(self) -> bool:
        """Return True if every stored message of the current conversation is preloaded."""
        return len(self.snapshot.newest) >= self.snapshot.conversation_count

    def _find(self, message_id: str) -> Message | None:
        """Return the preloaded or pending message with this id."""
        for message in chain(self.pending, self.snapshot.newest):
            if message.id == message_id:
                return message
        return None


async def refuse_messages(
    history: BufferedHistory, ref: ContextRef, ids: Collection[str], quoted: Collection[int]
) -> None:
    """Mark these messages as refused, and drop quotations of messages with the Telegram ids `quoted`."""
    for each in ids:
        await history.refuse(ref, each, epoch=history.epoch)
    if quoted:
        _strip_quotes(history.pending, quoted)  # also of a message of another chat, whose id is 0
        await history.delete(ref, (), epoch=history.epoch, quoted=quoted)


def _check(ref: ContextRef, own: ContextRef) -> None:
    if ref != own:
        raise ValueError("a turn can read only the history of its own context")


def _until(messages: Sequence[Message], sequence: int | None) -> tuple[Message, ...]:
    return tuple(message for message in messages if is_before(message, sequence))


def _strip_quotes(messages: list[Message], telegram_ids: Collection[int | None]) -> int:
    """Take the quotations of these ids out of the messages; return how many messages had one."""
    quoting = [m for m in messages if m.quote and m.quote.telegram_message_id in telegram_ids]
    messages[:] = [replace(m, quote=None) if m in quoting else m for m in messages]
    return len(quoting)


def _with_senders(people: Mapping[int, str], messages: Sequence[Message]) -> Mapping[int, str]:
    """Return the people of a context after these messages are appended."""
    found = dict(people)
    for message in messages:
        sender = message.sender
        if sender is not None and (sender.id in found or len(found) < PEOPLE_LIMIT):
            found[sender.id] = sender.name
    return found


def rewind(snapshot: HistorySnapshot, sequence: int) -> HistorySnapshot:
    """Return the snapshot without the messages from this sequence on, and without their turns of the ledger.

    A transfer in those turns is undone, and so are standing wishes. `next_sequence` stays: no sequence is used twice.
    """
    gone = {message.id for message in snapshot.newest if not is_before(message, sequence)}
    undone = [turn for turn in snapshot.ledger if turn.last_sequence >= sequence]
    handed_over = [each.agent for turn in undone for each in turn.entries if each.kind == "transfer"]
    agent = handed_over[0] if handed_over else snapshot.choices.agent
    return replace(
        snapshot,
        count=snapshot.count - len(gone),
        conversation_count=snapshot.conversation_count - len(gone),
        newest=tuple(message for message in snapshot.newest if is_before(message, sequence)),
        ledger=tuple(turn for turn in snapshot.ledger if turn.last_sequence < sequence),
        standing=tuple(fact for fact in snapshot.standing if gone.isdisjoint(fact.message_ids)),
        choices=replace(snapshot.choices, agent=agent)
        if agent != snapshot.choices.agent
        else snapshot.choices,
    )


def is_before(message: Message, sequence: int | None) -> bool:
    """Return True if the message comes before this sequence; None is after all messages."""
    return sequence is None or message.sequence is None or message.sequence < sequence
