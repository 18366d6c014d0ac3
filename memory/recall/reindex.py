"""Re-indexing: after a change of the embedding space every message goes into the new one, which then serves."""

import bisect
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import structlog

from memory.keys import SWEEPING_TTL_S, ContextRef, Key, context_key, global_key, partition_key
from memory.recall.space_follower import SpaceFollower, SpaceRegister
from memory.recall.spaces import SpaceDescription, SpacesRecord, is_same, plan_switch
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

PAGE = 128
"""Messages queued at a time."""
BACKLOG = 256
"""Longest stream to which the walk adds, so that new messages never wait behind the walk for long."""
CONTEXTS_AT_ONCE = 200
"""Contexts erased from a former collection by one request."""
_CONTEXTS_PER_COUNT = 500

ReindexState = Literal["idle", "building", "busy"]
"""idle: this process builds nothing. building: it does. busy: there is room to queue more at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cursor:
    """Place of a walk, as Redis has it: the script compares these strings."""

    build: str = "-1"
    context: str = ""
    sequence: str = "-1"


@lua_script("memory.redis.scripts")
def begin_walk(partition: int, build: int, space: str, total: int) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def walk_on(
    ref: ContextRef, cursor: _Cursor, *, context: str, after: str, page: int, backlog: int
) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def end_walk(partition: int, cursor: _Cursor) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def end_sweeping(sweeping: Key, token: str) -> ScriptCall: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexProgress:
    """Progress of the current build over all partitions, or of the last one if `target` is None."""

    serving: SpaceDescription | None
    target: SpaceDescription | None = None
    total: int = 0
    done: int = 0


class FormerCollections(Protocol):
    """All of our collections on the index server. Every method raises RecallUnavailable."""

    async def list_names(self) -> list[str]:
        """Return the names of all our collections, whatever their space."""
        ...

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """Erase the points of these contexts from this collection. Return how many there were."""
        ...

    async def delete_if_empty(self, name: str) -> bool:
        """Delete the collection unless it has points of another deployment. Return True if it is gone."""
        ...


class Reindexer:
    """Walks the histories into the space being built, switches to it when it is complete, and erases former spaces.

    Any number of processes may run one: all decisions are in Redis and every step can be repeated. The walk only
    queues work, which the indexers do. The cursor moves together with the queued work (walk_on.lua), and work counts
    as done only in the destination space (finish_work.lua). So a crash loses nothing.
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        follower: SpaceFollower,
        collections: FormerCollections,
        partitions: int,
        clock: Callable[[], float],
    ) -> None:
        self._follower = follower
        self._register = follower.register
        self._sweeper = Sweeper(redis, collections, register=follower.register, partitions=partitions)
        self._walks = [Walk(redis, partition=partition) for partition in range(partitions)]
        self._clock = clock

    async def claim(self, *, is_forced: bool = False) -> SpacesRecord:
        """Direct all messages into our space, see SpaceFollower.claim. Call this before the first step."""
        return await self._follower.claim(is_forced=is_forced)

    async def learn(self) -> None:
        """Ask our endpoint for the size of its vectors, see SpaceFollower.learn. Raises EmbeddingError."""
        await self._follower.learn()

    async def follow(self) -> None:
        """Search and write the spaces that the record names. Raises StoreUnavailable."""
        await self._follower.refresh()

    async def step(self) -> ReindexState:
        """Follow the record and do the next part of the work.

        Raises StoreUnavailable and StoreFull, and RecallUnavailable if former collections cannot be erased.
        """
        await self._follower.learn_when_due()
        record = await self._follower.refresh()
        if record is None:
            return "idle"
        if record.target is None:
            await self._clean_up(record)
            return "idle"
        if not is_same(record.target, self._follower.ours):
            return "idle"
        if await self._sweeper.is_running():
            return "building"
        has_room = [await walk.advance(record) for walk in self._walks]
        if any(has_room):
            return "busy"
        cursors = await self._cursors(record)
        if all(cursor is not None and cursor.is_complete for cursor in cursors):
            await self._switch(record, cursors)
        return "building"

    async def progress(self) -> ReindexProgress:
        """Return the progress of the build. Raises StoreUnavailable."""
        record = await self._register.load()
        if record is None:
            return ReindexProgress(serving=None)
        cursors = [cursor for cursor in await self._cursors(record) if cursor]
        return ReindexProgress(
            serving=record.serving,
            target=record.target,
            # Messages that arrive during the walk may be queued too, beyond the first count.
            total=sum(max(cursor.total, cursor.queued) for cursor in cursors),
            done=sum(cursor.done for cursor in cursors),
        )

    async def _cursors(self, record: SpacesRecord) -> "Sequence[_WalkState | None]":
        return [await walk.state(record) for walk in self._walks]

    async def _switch(self, record: SpacesRecord, cursors: "Sequence[_WalkState | None]") -> None:
        if not await self._register.replace(record, plan_switch(record, now=self._clock())):
            return  # another process switched, or the record has another target now
        log.info(
            "reindex_switched",
            space=record.target.collection if record.target else "",
            former=record.serving.collection if record.serving else None,
            messages=sum(cursor.done for cursor in cursors if cursor),
        )
        await self._follower.refresh()

    async def _clean_up(self, record: SpacesRecord) -> None:
        is_due = record.sweep_after is not None and self._clock() >= record.sweep_after
        if is_due and await self._sweeper.sweep(record):
            await self._register.replace(record, replace(record, sweep_after=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class _WalkState:
    """A walk as Redis has it: messages at its beginning, and messages queued and finished since."""

    cursor: _Cursor
    total: int
    queued: int
    done: int
    has_ended: bool

    @property
    def build(self) -> int:
        return int(self.cursor.build)

    @property
    def is_complete(self) -> bool:
        return self.has_ended and self.done >= self.queued


class Walk:
    """Queues every message of a partition for the space being built.

    Any number of processes may walk a partition; the cursor in Redis says where to continue. Every method raises
    StoreUnavailable or StoreFull.
    """

    def __init__(self, redis: RedisClient, *, partition: int) -> None:
        self._redis = redis
        self._partition = partition
        self._contexts: list[str] = []
        self._contexts_of_build = 0

    async def advance(self, record: SpacesRecord) -> bool:
        """Begin the walk of the record's target, or queue more of it. Return True if there is room for more."""
        state = await self._read()
        if state is None or state.build < record.build:
            await self._begin(record)
            return True
        if state.build > record.build or state.has_ended:
            return False
        if self._contexts_of_build != record.build:
            # Contexts that are registered later need no walk: their messages go into the target as they arrive.
            self._contexts = await self._list_contexts()
            self._contexts_of_build = record.build
        return await self._queue_next(state.cursor)

    async def state(self, record: SpacesRecord) -> _WalkState | None:
        """Return the state of the walk of this record's build; None if it has not begun."""
        state = await self._read()
        return state if state is not None and state.build == record.build else None

    async def _begin(self, record: SpacesRecord) -> None:
        if record.target is not None:
            total = await self._count_messages()
            await self._redis.run(begin_walk(self._partition, record.build, record.target.collection, total))

    async def _queue_next(self, cursor: _Cursor) -> bool:
        """Queue a page of the next context that has messages left, or end the walk."""
        for context_id in self._contexts[bisect.bisect_left(self._contexts, cursor.context) :]:
            outcome, *details = await self._queue_page(cursor, context_id)
            if outcome != "queued":
                return False
            queued, last_sequence = details
            if queued:
                return True
            cursor = replace(cursor, context=context_id, sequence=last_sequence)
        await self._redis.run(end_walk(self._partition, cursor))
        return False

    async def _queue_page(self, cursor: _Cursor, context_id: str) -> Sequence[Any]:
        ref = ContextRef(context_id=context_id, partition=self._partition)
        after = cursor.sequence if context_id == cursor.context else "-1"
        script = walk_on(ref, cursor, context=context_id, after=after, page=PAGE, backlog=BACKLOG)
        return await self._redis.run(script)

    async def _read(self) -> _WalkState | None:
        fields = ("build", "context", "sequence", "total", "queued", "done", "has_ended")
        values = await self._redis.call("HMGET", partition_key(self._partition, "walk"), *fields)
        if values[0] is None:
            return None
        build, context, sequence, total, queued, done, has_ended = values
        return _WalkState(
            cursor=_Cursor(build=build, context=context, sequence=sequence),
            total=int(total),
            queued=int(queued),
            done=int(done),
            has_ended=has_ended == "1",
        )

    async def _list_contexts(self) -> list[str]:
        return sorted(await self._redis.call("HKEYS", partition_key(self._partition, "contexts")))

    async def _count_messages(self) -> int:
        total = 0
        contexts = await self._list_contexts()
        for start in range(0, len(contexts), _CONTEXTS_PER_COUNT):
            page = contexts[start : start + _CONTEXTS_PER_COUNT]
            refs = [ContextRef(context_id=each, partition=self._partition) for each in page]
            total += sum(await self._redis.calls([("ZCARD", context_key(ref, "order")) for ref in refs]))
        return total


class Sweeper:
    """Erases the points of our contexts from former collections, and deletes collections that are empty then."""

    def __init__(
        self,
        redis: RedisClient,
        collections: FormerCollections,
        *,
        register: SpaceRegister,
        partitions: int,
    ) -> None:
        self._redis = redis
        self._collections = collections
        self._register = register
        self._partitions = partitions

    async def sweep(self, record: SpacesRecord) -> bool:
        """Erase all collections but the serving one. Return False if it must be repeated from the beginning.

        Raises RecallUnavailable, StoreUnavailable and StoreFull.
        """
        contexts: list[str] = []
        for partition in range(self._partitions):
            contexts += await self._redis.call("HKEYS", partition_key(partition, "contexts"))
        serving = record.serving.collection if record.serving else ""
        for name in await self._collections.list_names():
            if name == serving:
                continue
            for start in range(0, len(contexts), CONTEXTS_AT_ONCE):
                async with self._flag(record) as is_ours:
                    if not is_ours:
                        return False
                    await self._collections.erase_contexts(name, contexts[start : start + CONTEXTS_AT_ONCE])
            async with self._flag(record) as is_ours:
                if not is_ours:
                    return False
                await self._collections.delete_if_empty(name)
        return True

    async def is_running(self) -> bool:
        """Return True if a process erases from former collections at this moment."""
        return bool(await self._redis.call("EXISTS", global_key("sweeping")))

    @asynccontextmanager
    async def _flag(self, record: SpacesRecord) -> AsyncGenerator[bool]:
        """Raise the flag for one request. Yields False if another has raised it, or the record has changed.

        The flag goes up before the record is read, and a walk begins only while it is down. So nothing is erased from a
        collection that has just become the target.
        """
        token = secrets.token_hex(8)
        is_ours = await self._redis.call("SET", global_key("sweeping"), token, "NX", "EX", SWEEPING_TTL_S)
        try:
            yield bool(is_ours) and await self._register.load() == record
        finally:
            if is_ours:
                await self._redis.run(end_sweeping(global_key("sweeping"), token))
