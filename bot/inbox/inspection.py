"""The inbox as operators see it: what waits, what died, what became of one update; and a dead letter's two ways."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from bot.inbox.records import GROUP
from bot.inbox.redis_inbox import inbox_script
from memory import keys
from memory.keys import ContextRef
from memory.redis.client import RedisClient

_BATCH = 500
_SENT = "sent:"
_PART = "part:"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingContext:
    """A context with something to do. `oldest_s` is None when its oldest update was erased meanwhile.

    `updates` wait for a turn; `delivering` have their answer, of which `parts` are still to be sent.
    """

    ref: ContextRef
    updates: int
    delivering: int
    parts: int
    oldest_s: float | None
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """An update that was set aside, and for how many seconds it has been."""

    update_id: int
    ref: ContextRef
    reason: str
    attempts: int
    age_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRecord:
    """What became of one update, never what it says. Times are Unix seconds; `sent` has Telegram message ids.

    `ahead` counts the updates of its context that come first, where it waits for its turn. A dead letter
    can be retried or dropped. `gate` is what the door told (`Arrival.gate`), `turn` what its turn did and `parts` how each
    part was sent (bot/turn/turn_trace.py, send_note.py); `turn_of` is the update with which it was answered, and which has
    these. `steps` are the names of the finished steps of a turn that goes on. `begun_at` is of the last attempt.
    """

    update_id: int
    ref: ContextRef
    state: str
    reason: str
    received_at: float | None
    finished_at: float | None
    attempts: int
    sent: tuple[int, ...]
    ahead: int | None
    is_dead_letter: bool
    gate: str = ""
    redelivered: int = 0
    begun_at: float | None = None
    begun_by: str = ""
    committed_at: float | None = None
    turn: str = ""
    turn_of: int | None = None
    parts: Mapping[int, str] = field(default_factory=dict[int, str])
    steps: tuple[str, ...] = ()


class InboxInspection:
    """Reads all partitions. Every method raises StoreUnavailable, and retry and drop StoreFull."""

    def __init__(self, redis: RedisClient, *, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock

    async def waiting(self) -> list[WaitingContext]:
        """Every context with something to do, the longest waiting first."""
        found = [
            context for partition in range(self._partitions) for context in await self._waiting_in(partition)
        ]
        return sorted(found, key=lambda context: -(context.oldest_s or 0))

    async def dead_letters(self) -> list[DeadLetter]:
        """Every dead letter, the newest first."""
        found = [
            letter
            for partition in range(self._partitions)
            for letter in await self._dead_letters_in(partition)
        ]
        return sorted(found, key=lambda letter: letter.age_s or 0)

    async def index_work(self) -> int:
        """How many messages and erasures wait for an indexer, or are with one."""
        lengths = [
            await self._redis.call("XLEN", keys.work_key(partition)) for partition in range(self._partitions)
        ]
        return sum(int(length) for length in lengths)

    async def find(self, update_id: int) -> UpdateRecord | None:
        """The record of an update; None if it never came, or was finished over TERMINAL_UPDATE_TTL_S ago."""
        for partition in range(self._partitions):
            reply = await self._redis.call("HGETALL", keys.update_key(partition, update_id))
            fields = cast(dict[str, str], reply)
            if fields:
                ref = ContextRef(context_id=fields["context"], partition=partition)
                return await self._record(update_id, ref, fields)
        return None

    async def unanswered(self, partition: int) -> list[tuple[ContextRef, str]]:
        """One payload of each context that has updates waiting or dead: the contexts of which nothing else may be kept."""
        waiting = [context.ref.context_id for context in await self._waiting_in(partition)]
        boxes = [
            keys.box_key(ContextRef(context_id=context_id, partition=partition)) for context_id in waiting
        ]
        firsts = await self._redis.calls([("ZRANGE", box, 0, 0) for box in boxes]) if boxes else []
        dead = cast("list[str]", await self._redis.call("ZRANGE", keys.dead_key(partition), 0, -1))
        ids = [int(number) for number in [*(first[0] for first in firsts if first), *dead]]
        found: dict[ContextRef, str] = {}
        for start in range(0, len(ids), _BATCH):
            reading = [
                ("HMGET", keys.update_key(partition, number), "context", "payload")
                for number in ids[start : start + _BATCH]
            ]
            for context_id, payload in await self._redis.calls(reading):
                if context_id and payload:
                    found[ContextRef(context_id=context_id, partition=partition)] = payload
        return list(found.items())

    async def retry(self, update_id: int) -> bool:
        """Put a dead letter back at the head of its context's line; False if it is not one."""
        return await self._settle_dead(update_id, "retry")

    async def drop(self, update_id: int) -> bool:
        """End a dead letter for good; False if it is not one."""
        return await self._settle_dead(update_id, "drop")

    async def _waiting_in(self, partition: int) -> list[WaitingContext]:
        names = ("box:", "outbox:", "delivering:")
        prefixes = [keys.partition_key(partition, name) for name in names]
        rows = await self._redis.run(
            inbox_script("waiting"),
            [keys.active_key(partition), keys.ready_key(partition)],
            [GROUP, *prefixes, keys.update_prefix(partition)],
        )
        return [
            WaitingContext(
                ref=ContextRef(context_id=context, partition=partition),
                updates=int(updates),
                delivering=int(delivering),
                parts=int(parts),
                oldest_s=self._age(received_at),
                worker=worker,
            )
            for context, updates, delivering, parts, received_at, worker in rows
        ]

    async def _dead_letters_in(self, partition: int) -> list[DeadLetter]:
        reply = await self._redis.call("ZRANGE", keys.dead_key(partition), 0, -1)
        ids = [int(number) for number in cast("list[str]", reply)]
        letters: list[DeadLetter] = []
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            rows = await self._redis.calls(
                [
                    (
                        "HMGET",
                        keys.update_key(partition, number),
                        "context",
                        "reason",
                        "attempts",
                        "finished_at",
                    )
                    for number in batch
                ]
            )
            letters += [
                self._dead_letter(partition, number, row) for number, row in zip(batch, rows, strict=True)
            ]
        return letters

    def _dead_letter(self, partition: int, update_id: int, row: Sequence[Any]) -> DeadLetter:
        context, reason, attempts, finished_at = row
        return DeadLetter(
            update_id=update_id,
            ref=ContextRef(context_id=context or "", partition=partition),
            reason=reason or "",
            attempts=int(attempts or 0),
            age_s=self._age(finished_at),
        )

    async def _record(self, update_id: int, ref: ContextRef, fields: Mapping[str, str]) -> UpdateRecord:
        rank, died, journal = await self._redis.calls(
            [
                ("ZRANK", keys.box_key(ref), update_id),
                ("ZSCORE", keys.dead_key(ref.partition), update_id),
                ("HKEYS", keys.journal_key(ref)),
            ]
        )
        sent = sorted(int(name.removeprefix(_SENT)) for name in fields if name.startswith(_SENT))
        return UpdateRecord(
            update_id=update_id,
            ref=ref,
            state=fields.get("state", ""),
            reason=fields.get("reason", ""),
            received_at=_seconds(fields.get("received_at")),
            finished_at=_seconds(fields.get("finished_at")),
            attempts=int(fields.get("attempts", 0)),
            sent=tuple(sent),
            ahead=None if rank is None else int(rank),
            is_dead_letter=died is not None,
            gate=fields.get("gate", ""),
            redelivered=int(fields.get("redelivered", 0)),
            begun_at=_seconds(fields.get("begun_at")),
            begun_by=fields.get("begun_by", ""),
            committed_at=_seconds(fields.get("committed_at")),
            turn=fields.get("turn", ""),
            turn_of=int(fields["turn_of"]) if "turn_of" in fields else None,
            parts={
                int(name.removeprefix(_PART)): line for name, line in fields.items() if name.startswith(_PART)
            },
            steps=tuple(sorted(journal)) if rank == 0 else (),
        )

    async def _settle_dead(self, update_id: int, verb: Literal["retry", "drop"]) -> bool:
        record = await self.find(update_id)
        if record is None:
            return False
        partition = record.ref.partition
        done = await self._redis.run_durably(
            inbox_script("retry"),
            [
                keys.dead_key(partition),
                keys.update_key(partition, update_id),
                keys.box_key(record.ref),
                keys.active_key(partition),
                keys.ready_key(partition),
            ],
            [update_id, record.ref.context_id, verb, self._clock(), keys.TERMINAL_UPDATE_TTL_S],
        )
        return bool(done)

    def _age(self, since: str | None) -> float | None:
        return max(0.0, self._clock() - float(since)) if since else None


def _seconds(value: str | None) -> float | None:
    return float(value) if value else None
