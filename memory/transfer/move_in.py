"""Imports a history of another service into one context, in steps that can be repeated and resumed."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from memory.codec import Seconds, dump_json, parse_json
from memory.erasure import ErasureReceipt, delete_provably, sum_receipts
from memory.history.message import Message, Sender, is_indexed, message_id, render_message
from memory.history.redis_history import RedisHistory, dump_message
from memory.history.selectors import TokenCounter
from memory.history.store import PEOPLE_LIMIT, SESSION_GAP_S, SESSION_MESSAGES
from memory.keys import ContextRef, context_key, partition_key
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer.archives import Opener
from memory.transfer.export_survey import MOST_UNPACKED, Survey, read_export
from memory.transfer.foreign import ForeignChat, ForeignMessage, Reading, Service
from memory.transfer.unearthed import ImportGraves

ROWS_AT_ONCE, BYTES_AT_ONCE = 250, 500_000
"""Limits of one script, so that others wait a few milliseconds for it."""
_FORGOTTEN_AT_ONCE = 250


class ImportGone(Exception):
    """The import is being forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """An import as it is stored."""

    service: Service
    messages: int
    """Messages in the file."""
    started_at: Seconds
    """Unix seconds."""
    title: str = ""
    """The name of the chat, if it was one."""
    first_at: Seconds
    last_at: Seconds = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImport:
    """An import with its progress."""

    id: str
    record: ImportRecord
    first: int
    """The lowest sequence of its messages."""
    done: int | None
    """Messages of the file that were read; None while it is being forgotten."""
    added: int
    """Messages that were new."""
    forgotten: int
    """Messages that had been forgotten here and stay so."""

    @property
    def is_whole(self) -> bool:
        """Return True if the whole file was read."""
        return self.done == self.record.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRow:
    """A message to append: its JSON, and the facts that the script needs without decoding it."""

    id: str
    json: str
    sequence: int
    is_indexed: bool
    begins_session: bool
    telegram_id: str
    sender_id: str
    sender_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch:
    """Rows to append, and the number of the file's messages that are read with them."""

    rows: tuple[ImportedRow, ...]
    upto: int
    is_last: bool
    forgotten: int
    """Number of forgotten messages that this batch leaves out."""
    chats: str
    """Names of the tombstones that a reset leaves for chats which begin in this batch, with spaces."""
    people_limit: int = PEOPLE_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The context that gets the messages, and who is who in it."""

    ref: ContextRef
    registered: str
    """The context's entry in the registry (`contexts.dump_entry`)."""
    person: Sender | None = None
    """The person whose words a file of another assistant has; None for a group."""
    bot_id: int = 0
    """The bot itself: its messages in a file of Telegram are the assistant's."""
    own_chat: int | None = None
    """The chat's id at Telegram: its own file brings the Telegram ids of a supergroup's messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveIn:
    """Imports chats of one file into one place. Its id depends on the place and the content only.

    The id of each message is made of the service, the chat and its id there, so that nothing is there twice, whether a
    file is imported again or two imports run at once. After a crash the import goes on where it was.
    """

    redis: RedisClient
    place: Destination
    survey: Survey
    open_file: Opener
    tokenizer: TokenCounter
    now: float
    chats: frozenset[int] | None = None
    """Numbers of the chats that are imported; None for all."""
    most_unpacked: int = MOST_UNPACKED
    _offsets: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def messages(self) -> int:
        """Return the number of messages of the file that belong here."""
        return sum(each.messages for each in self.survey.counts if self._is_wanted(each.number))

    @property
    def id(self) -> str:
        """Return the id of the import, 12 hex digits."""
        chats = "" if self.chats is None else ",".join(map(str, sorted(self.chats)))
        whole = message_id(
            self.place.ref.context_id, "import", self.survey.service, self.survey.fingerprint, chats
        )
        return whole.replace("-", "")[:12]

    async def begin(self, *, epoch: int) -> StoredImport:
        """Take sequences for the messages, or find the import that has begun. Raises Forgotten and ImportGone."""
        wanted = sorted(
            (each for each in self.survey.counts if self._is_wanted(each.number)),
            key=lambda each: (each.first_at, each.number),
        )
        titles = {self.survey.chats[each.number].title for each in wanted if each.number in self.survey.chats}
        record = ImportRecord(
            service=self.survey.service,
            messages=self.messages,
            started_at=self.now,
            title=titles.pop() if len(titles) == 1 else "",
            first_at=min((each.first_at for each in wanted), default=0.0),
            last_at=max((each.last_at for each in wanted), default=0.0),
        )
        reply = await self.redis.run(
            begin_import(
                self.place.ref,
                expected_epoch=epoch,
                import_id=self.id,
                record=dump_json(ImportRecord, record),
                count=record.messages,
                registered=self.place.registered,
                first_at=record.first_at,
            )
        )
        offset = 0
        for each in wanted:
            self._offsets[each.number] = offset
            offset += each.messages
        if reply[1] == "":
            raise ImportGone
        return StoredImport(
            id=self.id,
            record=record,
            first=int(reply[0]),
            done=int(reply[1]),
            added=int(reply[2]),
            forgotten=int(reply[3] or 0),
        )

    async def run(self, stored: StoredImport, *, epoch: int) -> AsyncGenerator[StoredImport]:
        """Append what is left, and yield the progress after each step. What was forgotten here is left out.

        Raises Forgotten after a reset, ImportGone, BadJson if the file has changed, OSError, and the store's errors.
        """
        graves = ImportGraves(
            redis=self.redis,
            ref=self.place.ref,
            service=self.survey.service,
            owner=self.place.person.id if self.place.person else None,
        )
        await graves.refresh()
        batches = self._batches(stored, graves)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            call = append_imported(self.place.ref, expected_epoch=epoch, import_id=self.id, batch=batch)
            done, *counts = await self.redis.run(call)
            if done == "gone":
                raise ImportGone
            stored = replace(stored, done=int(done), added=int(counts[0]), forgotten=int(counts[1]))
            if stored.is_whole and stored.forgotten and not stored.added:
                await forget_import(
                    self.redis, self.place.ref, stored, epoch=epoch, recall=None
                )  # it is empty
            yield stored
            await graves.refresh()

    def _is_wanted(self, chat: int) -> bool:
        return self.chats is None or chat in self.chats

    def _batches(self, stored: StoredImport, graves: ImportGraves) -> Iterator[ImportBatch]:
        rows: list[ImportedRow] = []
        chats: dict[str, None] = {}
        size, upto, left, chat = 0, stored.done or 0, 0, ""
        for key, row in islice(self._rows(stored.first, graves), upto, None):
            upto, left = upto + 1, left + 1
            if row is not None:
                rows.append(row)
                size += len(row.json)
                if key != chat:
                    chats[graves.name_chat(key)] = None
                    chat = key
            is_last = upto == stored.record.messages
            if left >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE or is_last:
                yield ImportBatch(
                    rows=tuple(rows),
                    upto=upto,
                    is_last=is_last,
                    forgotten=left - len(rows),
                    chats=" ".join(chats),
                )
                rows, chats, size, left = [], {}, 0, 0

    def _rows(self, first: int, graves: ImportGraves) -> Iterator[tuple[str, ImportedRow | None]]:
        """Yield the key of the chat and the row of each message; None for one that was forgotten."""
        reading = Reading(now=self.now)
        sessions = _Sessions()
        chat, number = -1, 0
        for foreign in read_export(self.open_file, reading, most_unpacked=self.most_unpacked):
            if not self._is_wanted(foreign.chat):
                continue
            number = number + 1 if foreign.chat == chat else 0
            chat = foreign.chat
            # The id of a chat may stand at the end of the file.
            known = self.survey.chats.get(chat) or reading.chats[chat]
            key = known.key or known.title
            message = self._message(
                foreign,
                message_id(self.place.ref.context_id, "imported", self.survey.service, key, foreign.key),
            )
            shown_as = str(foreign.telegram_id or "") if self._has_telegram_ids(known) else ""
            is_gone = graves.is_forgotten(message, chat=key, is_own=self._is_own(known), shown_as=shown_as)
            sequence = first + self._offsets[chat] + number
            yield (
                key,
                None
                if is_gone
                else _row(message, shown_as, sequence, sessions.begins(chat, message.sent_at)),
            )

    def _has_telegram_ids(self, chat: ForeignChat) -> bool:
        """Return True if the file has the message ids that the bot knows: only those of a supergroup are the same."""
        return chat.chat_id == self.place.own_chat and (chat.chat_id or 0) < -(10**12)

    def _is_own(self, chat: ForeignChat) -> bool:
        """Return True for the history of the very chat that imports it."""
        is_private = (self.place.own_chat or 0) > 0
        return chat.chat_id is not None and chat.chat_id == (
            self.place.bot_id if is_private else self.place.own_chat
        )

    def _message(self, foreign: ForeignMessage, id_: str) -> Message:
        service, sender = self.survey.service, self.place.person
        if service == "Telegram":
            is_known = foreign.sender_id is not None
            sender = Sender(id=foreign.sender_id or 0, name=foreign.sender_name) if is_known else None
        is_ours = foreign.role == "assistant" or (sender is not None and sender.id == self.place.bot_id)
        message = Message(
            id=id_,
            role="assistant" if is_ours else "user",
            text=foreign.text,
            sent_at=foreign.sent_at or 0.0,
            tokens=0,
            sender=None if is_ours else sender,
            edited_at=foreign.edited_at,
            note=foreign.note,
            forwarded_from=foreign.forwarded_from,
            forwarded_id=foreign.forwarded_id,
            origin="via_bot" if foreign.via_bot else "typed",
            imported_from=service,
        )
        return replace(message, tokens=self.tokenizer.count(render_message(message)))


def _row(message: Message, telegram_id: str, sequence: int, begins_session: bool) -> ImportedRow:
    return ImportedRow(
        id=message.id,
        json=dump_message(message),
        sequence=sequence,
        is_indexed=is_indexed(message),
        begins_session=begins_session,
        telegram_id=telegram_id,
        sender_id=str(message.sender.id) if message.sender else "",
        sender_name=message.sender.name if message.sender else "",
    )


@dataclass(slots=True)
class _Sessions:
    """Divides the messages into stretches of talk, as live messages are."""

    _chat: int = -1
    _count: int = 0
    _last_at: float = 0.0

    def begins(self, chat: int, sent_at: float) -> bool:
        """Return True if this message, the next one, begins a session."""
        is_new = chat != self._chat or sent_at - self._last_at >= SESSION_GAP_S
        is_new |= self._count >= SESSION_MESSAGES
        self._count = 1 if is_new else self._count + 1
        self._chat, self._last_at = chat, sent_at
        return is_new


async def list_imports(redis: RedisClient, ref: ContextRef) -> list[StoredImport]:
    """Return the imports of a context, the oldest first. Raises StoreUnavailable."""
    fields: dict[str, str] = await redis.call("HGETALL", context_key(ref, "imports"))
    found = [
        StoredImport(
            id=id_,
            record=parse_json(ImportRecord, record),
            first=int(fields[f"{id_}:first"]),
            done=int(fields[f"{id_}:done"]) if f"{id_}:done" in fields else None,
            added=int(fields[f"{id_}:added"]),
            forgotten=int(fields.get(f"{id_}:forgotten", 0)),
        )
        for id_, record in fields.items()
        if ":" not in id_
    ]
    return sorted(found, key=lambda each: (each.record.started_at, each.id))


async def forget_import(
    redis: RedisClient,
    ref: ContextRef,
    stored: StoredImport,
    *,
    epoch: int,
    recall: Recall | None,
    for_good: bool = True,
) -> ErasureReceipt:
    """Erase the messages of an import with everything that rests on them, and read back. Repeating goes on.

    Without `for_good` a later import can bring the messages: this one was cancelled. An import that still runs ends
    with ImportGone. Raises Forgotten after a reset, and the store's errors.
    """
    imports, order = context_key(ref, "imports"), context_key(ref, "order")
    last = stored.first + stored.record.messages - 1
    await redis.call("HDEL", imports, f"{stored.id}:done")
    receipts: list[ErasureReceipt] = []
    history = RedisHistory(redis, buries=for_good)
    page = ("ZRANGEBYSCORE", order, stored.first, last, "LIMIT", 0, _FORGOTTEN_AT_ONCE)
    while ids := await redis.call(*page):
        receipts.append(await delete_provably(ref, ids, epoch=epoch, store=history, recall=recall))
    names = await redis.call("HKEYS", imports)
    await redis.calls(
        [
            ("ZREMRANGEBYSCORE", context_key(ref, "sessions"), stored.first, last),
            ("HDEL", imports, stored.id, *(each for each in names if each.startswith(f"{stored.id}:"))),
            ("INCR", partition_key(ref.partition, "erasures")),
        ]
    )
    return sum_receipts(receipts)


@lua_script("memory.redis.scripts")
def begin_import(
    ref: ContextRef,
    *,
    expected_epoch: int,
    import_id: str,
    record: str,
    count: int,
    registered: str,
    first_at: float,
) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def append_imported(
    ref: ContextRef, *, expected_epoch: int, import_id: str, batch: ImportBatch
) -> ScriptCall: ...
