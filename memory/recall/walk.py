"""The walk over a partition's histories that queues every message for the space being built."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.keys import ContextRef, contexts_key, epoch_key, order_key, walk_key, work_key
from memory.recall.space_record import SpacesRecord
from memory.redis.client import RedisClient, load_script

PAGE = 128
"""Messages queued at a time."""
BACKLOG = 256
"""No more is queued while the stream has more entries than this: new messages never wait behind the walk for long."""
_COUNTED_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkProgress:
    """How far a walk is: messages there were at its beginning, and those that are queued and finished since.

    What arrives on the way is queued too where it is met, so that `done` may end above `total`. `is_robbed`: it
    has ended, and what it queued is gone from the stream, but was not done in the space that is built.
    """

    total: int = 0
    queued: int = 0
    done: int = 0
    is_whole: bool = False
    is_robbed: bool = False


class Walk:
    """One partition's. Any number of processes may walk it; the cursor in the store tells where to go on.

    Every method raises StoreUnavailable or StoreFull when the store cannot answer.
    """

    def __init__(self, redis: RedisClient, *, partition: int) -> None:
        self._redis = redis
        self._partition = partition
        self._contexts: list[str] = []
        self._listed_for = 0

    async def advance(self, record: SpacesRecord) -> bool:
        """Begin the walk of the record's target, or queue more of it; whether there is room for still more."""
        kept = await self._read()
        if kept.build < record.build:
            await self._begin(record)
            return True
        if kept.build > record.build or kept.has_ended:
            return False
        await self._list_contexts(record.build)
        return await self._queue_next(kept)

    async def progress(self, record: SpacesRecord) -> WalkProgress:
        """How far the walk of the record's target is; nothing where it has not begun."""
        kept = await self._read()
        if kept.build != record.build:
            return WalkProgress()
        is_finished = kept.done >= kept.queued
        return WalkProgress(
            total=kept.total,
            queued=kept.queued,
            done=kept.done,
            is_whole=kept.has_ended and is_finished,
            is_robbed=kept.has_ended and not is_finished and await self._is_robbed(kept),
        )

    async def _begin(self, record: SpacesRecord) -> None:
        target = record.target
        if target is not None:
            script = load_script("memory.redis.scripts", "begin_walk")
            total = await self._count_messages()
            await self._redis.run(
                script, [walk_key(self._partition)], [record.build, target.collection, total]
            )

    async def _queue_next(self, cursor: "_Kept") -> bool:
        """A page of the context at the cursor, or else of the next one that has messages left; or the end."""
        at = bisect.bisect_left(self._contexts, cursor.context)
        for context_id in self._contexts[at:]:
            outcome, *told = await self._queue_page(cursor, context_id)
            if outcome != "queued":
                return False
            if told[0]:
                return True
            cursor = replace(cursor, context=context_id, sequence=told[1])
        script = load_script("memory.redis.scripts", "walk_on")
        await self._redis.run(script, [walk_key(self._partition)], _position(cursor))
        return False

    async def _queue_page(self, cursor: "_Kept", context_id: str) -> Sequence[Any]:
        ref = ContextRef(context_id=context_id, partition=self._partition)
        keys = [walk_key(self._partition), work_key(self._partition), order_key(ref), epoch_key(ref)]
        after = cursor.sequence if context_id == cursor.context else "-1"
        script = load_script("memory.redis.scripts", "walk_on")
        return await self._redis.run(script, keys, [*_position(cursor), context_id, after, PAGE, BACKLOG])

    async def _read(self) -> "_Kept":
        fields = ("build", "context", "sequence", "total", "queued", "done", "has_ended")
        values = await self._redis.call("HMGET", walk_key(self._partition), *fields)
        if values[0] is None:
            return _Kept()
        build, context, sequence, total, queued, done, has_ended = values
        return _Kept(
            build=int(build),
            context=context,
            sequence=sequence,
            total=int(total),
            queued=int(queued),
            done=int(done),
            has_ended=has_ended == "1",
        )

    async def _is_robbed(self, ended: "_Kept") -> bool:
        """Of a walk that had ended: nothing is left of what it queued, and then still not everything is done."""
        if await self._redis.call("XLEN", work_key(self._partition)):
            return False
        kept = await self._read()
        return kept.build == ended.build and kept.done < kept.queued

    async def _list_contexts(self, build: int) -> None:
        """Those that are registered later need no walk: their messages are written into the target as they come."""
        if self._listed_for != build:
            self._contexts = await self._registered()
            self._listed_for = build

    async def _registered(self) -> list[str]:
        return sorted(await self._redis.call("HKEYS", contexts_key(self._partition)))

    async def _count_messages(self) -> int:
        total = 0
        contexts = await self._registered()
        for start in range(0, len(contexts), _COUNTED_AT_ONCE):
            refs = [
                ContextRef(context_id=each, partition=self._partition)
                for each in contexts[start : start + _COUNTED_AT_ONCE]
            ]
            total += sum(await self._redis.calls([("ZCARD", order_key(ref)) for ref in refs]))
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """The walk as the store has it; the cursor's sequence as it was given, for comparing."""

    build: int = -1
    context: str = ""
    sequence: str = "-1"
    total: int = 0
    queued: int = 0
    done: int = 0
    has_ended: bool = False


def _position(cursor: _Kept) -> list[str | int]:
    return [cursor.build, cursor.context, cursor.sequence]
