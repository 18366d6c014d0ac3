"""The inbox for operators: waiting contexts, dead letters, the record of one update; retry and drop a dead letter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from bot.inbox.records import GROUP
from memory import keys
from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer.backup import scan_keys

DROPPED = "dropped by an operator"
"""Reason of a dead letter that was dropped."""

_SCRIPTS = "bot.inbox.scripts"
_BATCH = 500
_SENT = "sent:"
_PART = "part:"


@lua_script(_SCRIPTS)
def waiting(partition: int, *, group: str, prefixes: Mapping[str, str]) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def retry(
    ref: ContextRef, *, update: Key, id: int, context: str, drop_reason: str, now: float
) -> ScriptCall: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingContext:
    """A context with something to do."""

    ref: ContextRef
    updates: int
    """Updates that wait for a turn."""
    delivering: int
    """Updates whose answer is in the outbox."""
    parts: int
    """Parts of that answer which are not sent yet."""
    oldest_s: float | None
    """Age of its oldest update, or None if a reset has just erased that."""
    worker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """An update that was set aside `age_s` seconds ago."""

    update_id: int
    ref: ContextRef
    reason: str
    attempts: int
    age_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTimes:
    """Times of an update in Unix seconds. `begun` is of its last attempt."""

    received: float | None = None
    begun: float | None = None
    committed: float | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRecord:
    """The record of one update, without its text."""

    update_id: int
    ref: ContextRef
    state: str
    reason: str
    times: UpdateTimes
    gate: str
    """Decision of the gate (`Arrival.gate`)."""
    redelivered: int
    """Times that Telegram has sent it again."""
    attempts: int
    worker: str
    """The worker of its last attempt."""
    ahead: int | None
    """Updates of its context that come before it, if it waits for a turn."""
    steps: tuple[str, ...]
    """Names of the finished steps of its turn, if that goes on."""
    turn_of: int | None
    """The update with which it was answered, and which has the turn and the parts."""
    turn: str
    """Trace of its turn (bot/turn/commit.py)."""
    parts: Mapping[int, str]
    """How each part of the answer was sent (bot/turn/outbox.py)."""
    sent: tuple[int, ...]
    """Telegram message ids of the answer."""

    @property
    def is_dead_letter(self) -> bool:
        """Return True if it can be retried or dropped."""
        return self.state == "dead" and self.reason != DROPPED


class InboxInspection:
    """Reads all partitions. Each method raises StoreUnavailable; `retry` and `drop` also raise StoreFull."""

    def __init__(self, redis: RedisClient, *, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock

    async def waiting(self) -> list[WaitingContext]:
        """Return the contexts with something to do. The longest waiting comes first."""
        found = [
            context for partition in range(self._partitions) for context in await self._waiting_in(partition)
        ]
        return sorted(found, key=lambda context: -(context.oldest_s or 0))

    async def dead_letters(self) -> list[DeadLetter]:
        """Return the dead letters, newest first."""
        found = [
            letter
            for partition in range(self._partitions)
            for letter in await self._dead_letters_in(partition)
        ]
        return sorted(found, key=lambda letter: letter.age_s or 0)

    async def index_work(self) -> int:
        """Return the number of messages and erasures that are not indexed yet."""
        lengths = [
            await self._redis.call("XLEN", keys.partition_key(partition, "work"))
            for partition in range(self._partitions)
        ]
        return sum(int(length) for length in lengths)

    async def find_newest(self, ref: ContextRef) -> int | None:
        """Return the newest update of a context that has a record, or None. Reads the names of all keys, in pieces."""
        prefix, found, cursor = keys.key_prefixes(ref.partition)["update"], list[tuple[float, int]](), 0
        while True:
            call = scan_keys(ref.partition, cursor=cursor, count=_BATCH, pattern=f"{prefix}*")
            reply = await self._redis.run(call)
            cursor, ids = int(reply[0]), [int(key.removeprefix(prefix)) for key in reply[1]]
            for number, (context, at) in await read_updates(
                self._redis, ref.partition, ids, "context", "received_at"
            ):
                if context == ref.context_id:
                    found.append((float(at or 0), number))
            if not cursor:
                return max(found)[1] if found else None

    async def find(self, update_id: int) -> UpdateRecord | None:
        """Return the record of an update, or None if it never came or was finished over TERMINAL_UPDATE_TTL_S ago."""
        for partition in range(self._partitions):
            reply = await self._redis.call("HGETALL", keys.partition_key(partition, "update", update_id))
            fields = cast(dict[str, str], reply)
            if fields:
                ref = ContextRef(context_id=fields["context"], partition=partition)
                return await self._record(update_id, ref, fields)
        return None

    async def unanswered(self, partition: int) -> list[tuple[ContextRef, str]]:
        """Return a payload of each context with waiting or dead updates. Some contexts have no other record yet."""
        waiting = [context.ref.context_id for context in await self._waiting_in(partition)]
        boxes = [
            keys.context_key(ContextRef(context_id=context_id, partition=partition), "box")
            for context_id in waiting
        ]
        firsts = await self._redis.calls([("ZRANGE", box, 0, 0) for box in boxes]) if boxes else []
        dead = await dead_updates(self._redis, partition)
        ids = [*(int(first[0]) for first in firsts if first), *dead]
        found: dict[ContextRef, str] = {}
        for _, (context_id, payload) in await read_updates(self._redis, partition, ids, "context", "payload"):
            if context_id and payload:
                found[ContextRef(context_id=context_id, partition=partition)] = payload
        return list(found.items())

    async def retry(self, update_id: int) -> bool:
        """Put a dead letter back at the head of its context's line. Return False if it is none."""
        return await self._settle_dead(update_id, drop_reason="")

    async def drop(self, update_id: int) -> bool:
        """End a dead letter for good. Return False if it is none."""
        return await self._settle_dead(update_id, drop_reason=DROPPED)

    async def _waiting_in(self, partition: int) -> list[WaitingContext]:
        call = waiting(partition, group=GROUP, prefixes=keys.key_prefixes(partition))
        return [
            WaitingContext(
                ref=ContextRef(context_id=context, partition=partition),
                updates=int(updates),
                delivering=int(delivering),
                parts=int(parts),
                oldest_s=self._age(received_at),
                worker=worker or None,
            )
            for context, updates, delivering, parts, received_at, worker in await self._redis.run(call)
        ]

    async def _dead_letters_in(self, partition: int) -> list[DeadLetter]:
        ids = await dead_updates(self._redis, partition)
        fields = ("context", "reason", "attempts", "finished_at")
        return [
            DeadLetter(
                update_id=number,
                ref=ContextRef(context_id=context or "", partition=partition),
                reason=reason or "",
                attempts=int(attempts or 0),
                age_s=self._age(finished_at),
            )
            for number, (context, reason, attempts, finished_at) in await read_updates(
                self._redis, partition, ids, *fields
            )
        ]

    async def _record(self, update_id: int, ref: ContextRef, fields: Mapping[str, str]) -> UpdateRecord:
        rank, journal = await self._redis.calls(
            [("ZRANK", keys.context_key(ref, "box"), update_id), ("HKEYS", keys.context_key(ref, "journal"))]
        )
        return UpdateRecord(
            update_id=update_id,
            ref=ref,
            state=fields.get("state", ""),
            reason=fields.get("reason", ""),
            times=UpdateTimes(
                received=_seconds(fields.get("received_at")),
                begun=_seconds(fields.get("begun_at")),
                committed=_seconds(fields.get("committed_at")),
                finished=_seconds(fields.get("finished_at")),
            ),
            gate=fields.get("gate", ""),
            redelivered=int(fields.get("redelivered", 0)),
            attempts=int(fields.get("attempts", 0)),
            worker=fields.get("begun_by", ""),
            ahead=None if rank is None else int(rank),
            steps=tuple(sorted(journal)) if rank == 0 else (),
            turn_of=int(fields["turn_of"]) if "turn_of" in fields else None,
            turn=fields.get("turn", ""),
            parts=_numbered(fields, _PART),
            sent=tuple(sorted(_numbered(fields, _SENT))),
        )

    async def _settle_dead(self, update_id: int, *, drop_reason: str) -> bool:
        record = await self.find(update_id)
        if record is None:
            return False
        ref = record.ref
        call = retry(
            ref,
            update=keys.partition_key(ref.partition, "update", update_id),
            id=update_id,
            context=ref.context_id,
            drop_reason=drop_reason,
            now=self._clock(),
        )
        return bool(await self._redis.run_durably(call))

    def _age(self, since: str | None) -> float | None:
        return max(0.0, self._clock() - float(since)) if since else None


async def dead_updates(redis: RedisClient, partition: int) -> list[int]:
    """Return the ids of the dead letters of a partition, oldest first."""
    return [int(each) for each in await redis.call("ZRANGE", keys.partition_key(partition, "dead"), 0, -1)]


async def read_updates(
    redis: RedisClient, partition: int, ids: Sequence[int], *fields: str
) -> list[tuple[int, Sequence[Any]]]:
    """Return these fields of the records of updates, each with its id; at most 500 records in a round trip."""
    rows: list[Sequence[Any]] = []
    for start in range(0, len(ids), _BATCH):
        records = [keys.partition_key(partition, "update", each) for each in ids[start : start + _BATCH]]
        rows += await redis.calls([("HMGET", record, *fields) for record in records])
    return list(zip(ids, rows, strict=True))


def _seconds(value: str | None) -> float | None:
    return float(value) if value else None


def _numbered(fields: Mapping[str, str], prefix: str) -> dict[int, str]:
    """Return the fields whose names are this prefix and a number, by their numbers."""
    return {int(name.removeprefix(prefix)): text for name, text in fields.items() if name.startswith(prefix)}
