"""The histories in Redis: one atomic script and one round trip for each read or write."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Any, Literal, TypeAlias

from memory.brief_cache import BriefCache
from memory.codec import dump_json, parse_json
from memory.errors import Forgotten, RecordCorrupt
from memory.history.fact import Fact, is_source
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, edit_message, is_indexed, render_message, writing_of
from memory.history.store import (
    PEOPLE_LIMIT,
    SESSION_GAP_S,
    SESSION_MESSAGES,
    ChatChoices,
    CurrentMessages,
    Deletion,
    Erasure,
    HistorySnapshot,
    Passage,
    RecordCounts,
    SummaryState,
)
from memory.history.summary import Summary
from memory.history.talk import TALK_LOADED, RecentTalk, TalkLine
from memory.keys import ERASED_KEYS, ContextRef, context_key, listed_prefixes
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script, named, numbered
from memory.tombstones import copy_beside, names_of, reset_names

_SCRIPTS = "memory.redis.scripts"
_RECENT_BYTES = 8 * 2**20
"""Size of the messages that stay parsed: about 5,000 short ones."""
_PARSED = 4
"""A parsed message and its JSON take up to so many times the JSON."""
RecentMessages: TypeAlias = BriefCache[tuple[str, str], Message]
"""Parsed messages by their sequence and JSON in the store, so an edit is another one. The next turn needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message to append: its JSON, and the facts that the script needs without decoding it."""

    id: str
    json: str
    sent_at: float
    is_indexed: bool
    telegram_id: str
    sender_id: str
    sender_name: str
    quotes: str
    """Telegram id of the message of this chat that it quotes, or ""."""
    is_source: bool
    """True if facts may rest on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Messages to append, and the limits that the script keeps."""

    rows: tuple[MessageRow, ...]
    people_limit: int
    session_gap_s: float
    session_messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdit:
    """An edit of one message: its JSON as it was read, and the new one."""

    id: str
    before: str
    after: str
    is_new_text: bool


class RedisHistory:
    """HistoryStore on Redis or Valkey."""

    def __init__(self, redis: RedisClient, *, buries: bool = True) -> None:
        """Without `buries` deleted messages leave no tombstones."""
        self._redis = redis
        self._buries = buries
        self._recent = recent_messages()

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """See HistoryStore."""
        return parse_snapshot(named(await self._redis.run(load_snapshot(ref, limit=limit))), self._recent)

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """See HistoryStore. The context's created_at is the first message's time."""
        if not messages:
            return []
        call = append_history(
            ref, expected_epoch=epoch, now=messages[0].sent_at, batch=message_batch(messages)
        )
        sequences = await self._redis.run(call)
        return [
            replace(message, sequence=int(sequence))
            for message, sequence in zip(messages, sequences, strict=True)
        ]

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """See HistoryStore."""
        if after_sequence is None:
            call = read_page(ref, direction="newest", bound=before_sequence, limit=limit, whole=whole)
        else:
            call = read_page(ref, direction="oldest", bound=after_sequence, limit=limit, whole=whole)
        return parse_messages(await self._redis.run(call))

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """See HistoryStore."""
        return dict((await self.get_current({ref: ids}))[ref].messages) if ids else {}

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        """Read messages of several contexts of one partition, with their people and sessions, in one round trip."""
        if not wanted:
            return {}
        replies = await self._redis.run_all([get_messages(ref, ids=list(ids)) for ref, ids in wanted.items()])
        current: dict[ContextRef, CurrentMessages] = {}
        for ref, reply in zip(wanted, map(named, replies), strict=True):
            ids = reply["rows"][::3]
            current[ref] = CurrentMessages(
                epoch=int(reply.get("epoch", 0)),
                messages=dict(zip(ids, parse_messages(reply["rows"]), strict=True)),
                people=numbered(reply["people"]),
                sessions=dict(zip(ids, map(int, reply["starts"]), strict=True)),
                facts={
                    each: parse_facts(lines) for each, lines in zip(ids, reply["facts"], strict=True) if lines
                },
            )
        return current

    async def around(self, ref: ContextRef, sequences: Collection[int], *, reach: int) -> dict[int, Passage]:
        """See HistoryStore."""
        if not sequences:
            return {}
        call = read_neighbours(ref, reach=reach, sequences=[str(each) for each in sequences])
        replies = await self._redis.run(call)
        return {
            sequence: Passage(messages=tuple(parse_messages(rows)), facts=parse_facts(facts))
            for sequence, (rows, facts) in zip(sequences, replies, strict=True)
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
        """See HistoryStore."""

        def edit(found: Message) -> Message:
            if found.edited_at is not None and edited_at < found.edited_at:
                return found
            return edit_message(found, text=text, note=note, tokens=tokens, edited_at=edited_at)

        return await _change_message(self._redis, ref, message_id, edit, epoch=epoch)

    async def refuse(self, ref: ContextRef, message_id: str, *, epoch: int) -> bool:
        """See HistoryStore."""
        return await _change_message(
            self._redis, ref, message_id, lambda found: replace(found, is_refused=True), epoch=epoch
        )

    async def delete(
        self,
        ref: ContextRef,
        ids: Collection[str],
        *,
        epoch: int,
        quoted: Collection[int] = (),
        unquoted: Collection[str] = (),
    ) -> Deletion:
        """See HistoryStore. `unquoted` are ids of messages that lose their quotation, whatever it quotes."""
        if not ids and not quoted and not unquoted:
            return Deletion()
        names = await _tombstones_of(self._redis, ref, ids, quoted) if self._buries else []
        call = forget_messages(
            ref,
            expected_epoch=epoch,
            ids=tuple(ids),
            quoted=tuple(map(str, quoted)),
            unquoted=tuple(unquoted),
            buried=tuple(names),
        )
        deletion = _parse_deletion(await self._redis.run(call), ids)
        return replace(deletion, not_copied=await copy_beside(self._redis, ref.partition, names))

    async def count_traces(self, ref: ContextRef, *, mentioning: Deletion | None = None) -> RecordCounts:
        """See HistoryStore. Artifacts and receipts that have expired are not counted."""
        if mentioning is None:
            call = count_traces(ref, prefixes=listed_prefixes(ref), erased_keys=ERASED_KEYS)
        else:
            call = count_mentions(ref, deleted=mentioning)
        return parse_json(RecordCounts, await self._redis.run(call))

    async def erase(self, ref: ContextRef) -> Erasure:
        """See HistoryStore."""
        names, buried = await reset_names(self._redis, ref)
        call = erase_context(ref, prefixes=listed_prefixes(ref), erased_keys=ERASED_KEYS, buried=buried)
        erasure = parse_json(Erasure, await self._redis.run(call))
        return replace(erasure, not_copied=await copy_beside(self._redis, ref.partition, names))

    async def start_conversation(self, ref: ContextRef, *, epoch: int) -> int:
        """Begin a new conversation after the present messages; return the sequence at which it begins.

        Drops the summaries of the conversation before, and its active agent.
        """
        return int(await self._redis.run(new_conversation(ref, expected_epoch=epoch)))

    async def load_ledger(
        self, ref: ContextRef, *, after_sequence: int, upto_sequence: int
    ) -> list[LedgerTurn]:
        """Read the turns whose last message is after the first sequence and not after the second, oldest first."""
        key = context_key(ref, "ledger")
        rows = await self._redis.call("ZRANGEBYSCORE", key, f"({after_sequence}", upto_sequence)
        return [parse_json(LedgerTurn, line) for line in rows]

    async def find_by_telegram(self, ref: ContextRef, telegram_message_id: int) -> str | None:
        """Return the id of the message that is shown under this Telegram id, or None."""
        found = await self._redis.call("HGET", context_key(ref, "telegram"), telegram_message_id)
        return None if found is None else str(found)


async def _tombstones_of(
    redis: RedisClient, ref: ContextRef, ids: Collection[str], quoted: Collection[int]
) -> list[str]:
    """Return the names of the tombstones of messages that are deleted now."""
    keys = [context_key(ref, "telegram"), context_key(ref, "messages")]
    rows: list[list[str | None]] = await redis.calls([("HMGET", key, *ids) for key in keys if ids])
    links, lines = rows or ([], [])
    shown = [each for link in links if link for each in link.split()]
    found: list[Message] = []
    for line in filter(None, lines):
        with suppress(RecordCorrupt):
            found.append(parse_json(Message, line))
    written = [writing_of(each) for each in found if each.sender and not each.imported_from]
    return await names_of(redis, ref, message=ids, shown=shown, quoted=quoted, written=written)


class RedisTalk:
    """The lines of talk of all contexts. Methods raise StoreUnavailable or StoreFull.

    A line is found by its `score` (`score_of`). The inbox writes lines, a turn loads them with the history.
    """

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def find(self, ref: ContextRef, score: int) -> TalkLine | None:
        """Return the line, or None if there is none."""
        for line in await self._redis.call("ZRANGEBYSCORE", context_key(ref, "talk"), score, score):
            with suppress(RecordCorrupt):
                return parse_json(TalkLine, line)
        return None

    async def newest(self, ref: ContextRef, *, limit: int) -> list[tuple[int, TalkLine]]:
        """Return the newest lines with their scores, at most `limit`, oldest first, without unreadable ones."""
        key, found = context_key(ref, "talk"), list[tuple[int, TalkLine]]()
        rows = await self._redis.call("ZRANGE", key, -limit, -1, "WITHSCORES")
        for line, score in rows:
            with suppress(RecordCorrupt):
                found.append((int(score), parse_json(TalkLine, line)))
        return found

    async def forget(self, ref: ContextRef, score: int) -> int:
        """Erase the line and those that copy its message; return how many. Repeating it erases none."""
        names = await names_of(self._redis, ref, talk=[score])
        forgotten = int(await self._redis.run(forget_talk(ref, score=score, buried=tuple(names))))
        if forgotten:
            await copy_beside(self._redis, ref.partition, names)
        return forgotten


@lua_script(_SCRIPTS)
def forget_talk(ref: ContextRef, *, score: int, buried: tuple[str, ...]) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def load_snapshot(ref: ContextRef, *, limit: int, talk_limit: int = TALK_LOADED) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def append_history(
    ref: ContextRef, *, expected_epoch: int, now: float, batch: MessageBatch
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def read_page(
    ref: ContextRef, *, direction: Literal["newest", "oldest"], bound: int | None, limit: int, whole: bool
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def get_messages(ref: ContextRef, *, ids: Sequence[str]) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def read_neighbours(ref: ContextRef, *, reach: int, sequences: Sequence[str]) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def replace_message(ref: ContextRef, *, expected_epoch: int, edit: MessageEdit) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def forget_messages(
    ref: ContextRef,
    *,
    expected_epoch: int,
    ids: tuple[str, ...],
    quoted: tuple[str, ...],
    unquoted: tuple[str, ...],
    buried: tuple[str, ...],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def count_traces(
    ref: ContextRef, *, prefixes: Mapping[str, str], erased_keys: Mapping[str, str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def count_mentions(ref: ContextRef, *, deleted: Deletion) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def erase_context(
    ref: ContextRef, *, prefixes: Mapping[str, str], erased_keys: Mapping[str, str], buried: list[str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def new_conversation(ref: ContextRef, *, expected_epoch: int) -> ScriptCall: ...


def message_batch(messages: Sequence[Message]) -> MessageBatch:
    """Return the messages as scripts append them."""
    rows: list[MessageRow] = []
    for message in messages:
        telegram_id, sender = message.telegram_message_id, message.sender
        quoted = message.quote.telegram_message_id if message.quote else 0
        row = MessageRow(
            id=message.id,
            json=dump_message(message),
            sent_at=message.sent_at,
            is_indexed=is_indexed(message),
            telegram_id="" if telegram_id is None else str(telegram_id),
            sender_id=str(sender.id) if sender else "",
            sender_name=sender.name if sender else "",
            quotes=str(quoted or ""),
            is_source=is_source(message),
        )
        rows.append(row)
    return MessageBatch(
        rows=tuple(rows),
        people_limit=PEOPLE_LIMIT,
        session_gap_s=SESSION_GAP_S,
        session_messages=SESSION_MESSAGES,
    )


def dump_message(message: Message) -> str:
    """Return the message as JSON at rest, without its sequence, which the store's index has."""
    return dump_json(Message, replace(message, sequence=None))


async def stop_answer(
    redis: RedisClient, ref: ContextRef, message_id: str, *, text: str, tokens: int, epoch: int
) -> None:
    """Mark an answer as stopped, and keep this text of it. Repeating is harmless. Raises Forgotten after a reset."""

    def cut(found: Message) -> Message:
        return replace(found, text=text, tokens=tokens, is_stopped=True)

    await _change_message(redis, ref, message_id, cut, epoch=epoch)


async def _change_message(
    redis: RedisClient, ref: ContextRef, message_id: str, change: Callable[[Message], Message], *, epoch: int
) -> bool:
    """Replace a message by what `change` makes of it, also if it was changed meanwhile."""
    while True:
        reply = named(await redis.run(get_messages(ref, ids=[message_id])))
        if int(reply.get("epoch", 0)) != epoch:
            raise Forgotten
        if not (rows := reply["rows"]):
            return False
        (found,) = parse_messages(rows)
        edited = change(found)
        if edited == found:
            return True
        call = replace_message(
            ref,
            expected_epoch=epoch,
            edit=MessageEdit(
                id=message_id,
                before=rows[2],
                after=dump_message(edited),
                is_new_text=_shown_text(edited) != _shown_text(found),
            ),
        )
        if await redis.run(call) == "replaced":
            return True


def _shown_text(message: Message) -> str | None:
    """Return the text that summaries, facts and the index may contain; None of a refused message."""
    return None if message.is_refused else render_message(message)


def recent_messages() -> RecentMessages:
    """Return an empty cache for `parse_snapshot`."""
    return BriefCache(max_bytes=_RECENT_BYTES)


def parse_snapshot(reply: Mapping[str, Any], recent: RecentMessages) -> HistorySnapshot:
    """Return the snapshot in the reply to `load_snapshot`. Messages that it read a moment ago are in `recent`."""
    reply = {**named(reply["meta"]), **reply}
    created_at, failed_at, summary = map(reply.get, ("created_at", "summary_failed_at", "summary"))
    newest = [
        recent.get((sequence, line)) or _parse_recent(sequence, line, recent)
        for sequence, line in zip(reply["order"][1::2], reply["lines"], strict=True)
        if line
    ]
    return HistorySnapshot(
        epoch=int(reply.get("epoch", 0)),
        count=int(reply["count"]),
        conversation_count=int(reply["conversation_count"]),
        conversation_start=int(reply.get("conversation_start", 0)),
        next_sequence=int(reply.get("next_sequence", 0)),
        created_at=float(created_at) if created_at else None,
        newest=tuple(reversed(newest)),
        summary=parse_json(Summary, summary) if summary else None,
        ledger=tuple([parse_json(LedgerTurn, turn) for turn in reply.get("ledger", ())]),
        revision=int(reply.get("revision", 0)),
        summary_state=SummaryState(
            covered_count=int(reply.get("covered", 0)), failed_at=int(failed_at) if failed_at else None
        ),
        people=numbered(reply["people"]),
        talk=RecentTalk(
            lines=_parse_talk(reply["talk"], reply.get("talk_after", "")), count=int(reply["talk_count"])
        ),
        choices=ChatChoices(
            model=reply.get("model", ""),
            agent=reply.get("active_agent", ""),
            of_features=parse_json(dict[str, str], reply.get("choices", "{}")),
            zones=numbered(reply["zones"]),
            zone_asked=reply.get("zone_asked", ""),
        ),
        holds=frozenset(reply["holds"]),
        standing=parse_facts(reply.get("standing", ())),
        incognito_until=float(reply.get("incognito_until", 0)),
        retention=reply.get("retention", ""),
    )


def _parse_deletion(line: str, ids: Collection[str]) -> Deletion:
    deletion = parse_json(Deletion, line)
    return replace(
        deletion,
        message_ids=tuple(ids) if deletion.sequences else (),
        sender_ids=tuple(dict.fromkeys(deletion.sender_ids)),
        known_by=tuple(dict.fromkeys(deletion.known_by)) if deletion.messages or deletion.quotes else (),
    )


def parse_messages(rows: Sequence[str]) -> list[Message]:
    """Return the messages of rows of id, sequence and JSON."""
    return [_parse_message(sequence, line) for sequence, line in zip(rows[1::3], rows[2::3], strict=True)]


def _parse_message(sequence: str, line: str) -> Message:
    """Return the message of `dump_message`, with its sequence."""
    return parse_json(Message, f'{{"sequence":{int(float(sequence))},{line[1:]}')


def _parse_recent(sequence: str, line: str, recent: RecentMessages) -> Message:
    message = _parse_message(sequence, line)
    recent.put((sequence, line), message, _PARSED * getsizeof(line))
    return message


def parse_facts(lines: Sequence[str | None]) -> tuple[Fact, ...]:
    """Return the facts of these lines of JSON, without those that do not exist."""
    return tuple([parse_json(Fact, line) for line in lines if line])


def _parse_talk(lines: Sequence[str], after: str) -> tuple[TalkLine, ...]:
    """Return the lines that can be read: a damaged line is talk, and must not stop a turn.

    A model's filter has refused the lines up to the time `after`, "" for none.
    """
    found: list[TalkLine] = []
    for line in lines:
        with suppress(RecordCorrupt):
            found.append(parse_json(TalkLine, line))
    return tuple(line for line in found if not after or line.sent_at > float(after))
