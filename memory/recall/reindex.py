"""Re-indexing: after a change of the embedding space every message goes into the new one.

Until it is complete, searches find what it has, and people are told that they may miss messages.
"""

import bisect
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import structlog

from memory.history.store import BEFORE_ALL
from memory.keys import SWEEPING_TTL_S, ContextRef, Key, context_key, global_key, partition_key
from memory.recall.audit import Comparison, IndexAudit, IndexWatch
from memory.recall.space_follower import SpaceFollower, SpaceRegister
from memory.recall.spaces import (
    Goal,
    SpaceDescription,
    SpacesRecord,
    is_copy,
    is_same,
    plan_copy,
    plan_fill,
    plan_switch,
)
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

if TYPE_CHECKING:
    from memory.recall.qdrant.index import FormerCollections

log = structlog.get_logger()

PAGE = 128
"""Messages queued at a time."""
BACKLOG = 256
"""Longest stream to which the walk adds, so that new messages never wait behind the walk for long."""
CONTEXTS_AT_ONCE = 200
"""Contexts erased from a former collection by one request."""
_CONTEXTS_PER_COUNT = 500

_COMPLETED: Mapping[Goal, str] = {"build": "reindex_switched", "fill": "index_filled", "copy": "index_copied"}
"""Event of the log at the end of a build."""

Compare = Callable[[ContextRef], Awaitable[Comparison]]
"""Compares a chat with the serving index. Raises RecallUnavailable."""

ReindexState = Literal["idle", "building", "busy"]
"""idle: this process builds nothing. building: it does. busy: there is room to queue more at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cursor:
    """Place of a walk, as Redis has it: the script compares these strings."""

    build: str = "-1"
    context: str = ""
    sequence: str = str(BEFORE_ALL)


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


EVERY_S = 24 * 3600.0
"""Least time between two copies."""
LARGEST = 200_000
"""Points of the largest collection that is copied. Above that Qdrant's own vacuum must do: docs/operating.md."""
LOOK_EVERY_S = 30.0


class IndexRenewal:
    """Has the collection copied if data was erased since the last copy. All processes share what the store has.

    Raises StoreUnavailable, StoreFull and RecallUnavailable.
    """

    def __init__(
        self,
        redis: RedisClient,
        collections: "FormerCollections",
        *,
        partitions: int,
        clock: Callable[[], float],
    ) -> None:
        self._redis = redis
        self._collections = collections
        self._counters = [partition_key(partition, "erasures") for partition in range(partitions)]
        self._clock = clock
        self._look_at = 0.0

    async def find_due(self, record: SpacesRecord) -> int | None:
        """Return the number of erasures that a copy would cover now; None if no copy is due."""
        now = self._clock()
        if record.serving is None or record.sweep_after is not None or now < self._look_at:
            return None
        self._look_at = now + LOOK_EVERY_S
        counts = await self._redis.calls([("GET", key) for key in self._counters])
        erasures = sum(int(count or 0) for count in counts)
        covered, copied_at = await self._redis.call("HMGET", global_key("renewed"), "erasures", "at")
        is_recent = copied_at is not None and now < float(copied_at) + EVERY_S
        if erasures == int(covered or 0) or is_recent:
            return None
        size = await self._collections.size(record.serving.collection)
        return erasures if size and size <= LARGEST else None

    async def note(self, erasures: int) -> None:
        """Note that a copy has begun that covers these erasures."""
        await self._redis.call(
            "HSET", global_key("renewed"), "erasures", erasures, "at", f"{self._clock():.0f}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexProgress:
    """Progress of the current build over all partitions, or of the last one if `target` is None."""

    serving: SpaceDescription | None
    target: SpaceDescription | None = None
    goal: Goal = "build"
    total: int = 0
    done: int = 0


class Reindexer:
    """Walks the histories into the space being built, switches to it when it is complete, and erases former spaces.

    Any number of processes may run one: all decisions are in Redis and every step can be repeated. The walk only
    queues work, which the indexers do. The cursor moves together with the queued work (walk_on.lua), and work counts
    as done only in the destination space (finish_work.lua). So a crash loses nothing.

    With `is_renewed` the serving collection is copied after erasures, see IndexRenewal.
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        follower: SpaceFollower,
        collections: "FormerCollections",
        audit: IndexAudit,
        partitions: int,
        clock: Callable[[], float],
        is_renewed: bool = False,
    ) -> None:
        self.audit = audit
        self._collections = collections
        self._watch = IndexWatch(audit, collections, clock=clock)
        self._renewal = IndexRenewal(redis, collections, partitions=partitions, clock=clock)
        self._is_renewed = is_renewed
        self._follower = follower
        self._register = follower.register
        self._sweeper = Sweeper(redis, collections, register=follower.register, partitions=partitions)
        self._walks = [
            Walk(redis, partition=partition, compare=self._compare) for partition in range(partitions)
        ]
        self._clock = clock

    async def claim(self, *, is_forced: bool = False) -> SpacesRecord:
        """Direct all messages into our space, see SpaceFollower.claim. Call this before the first step."""
        return await self._follower.claim(is_forced=is_forced)

    async def learn(self) -> None:
        """Ask our endpoint for the size of its vectors, see SpaceFollower.learn. Raises EmbeddingError."""
        await self._follower.learn()

    async def follow(self) -> SpacesRecord | None:
        """Search and write the spaces that the record names. Raises StoreUnavailable."""
        return await self._follower.refresh()

    async def fill(self) -> Comparison:
        """Compare every chat now, and have the serving space filled if it differs. Return the comparison.

        Raises StoreUnavailable, StoreFull and RecallUnavailable.
        """
        record = await self._follower.refresh()
        seen = await self.audit.compare_all(self._follower.spaces.serving.index, is_thorough=True)
        if record is not None and not seen.is_same:
            await self._start(record, plan_fill(record, now=self._clock()))
        return seen

    async def step(self) -> ReindexState:
        """Follow the record and do the next part of the work.

        Raises StoreUnavailable and StoreFull, and RecallUnavailable if former collections cannot be erased.
        """
        await self._follower.learn_when_due()
        record = await self._follower.refresh()
        if record is None:
            return "idle"
        if record.target is None:
            return "idle" if await self._clean_up(record) else await self._care_for(record)
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
            goal=record.goal,
            # Messages that arrive during the walk may be queued too, beyond the first count.
            total=sum(max(cursor.total, cursor.queued) for cursor in cursors),
            done=sum(cursor.done for cursor in cursors),
        )

    async def _care_for(self, record: SpacesRecord) -> ReindexState:
        """Have the serving collection filled if it has lost data, and copied if its files have erased data."""
        spaces = self._follower.spaces
        is_ours = spaces.takes_work and is_same(record.serving, self._follower.ours)
        if not is_ours or record.serving is None or record.serving.collection != spaces.serving.name:
            return "idle"
        now = self._clock()
        if await self._watch.finds_loss(record, spaces.serving.index):
            if not await self._start(record, plan_fill(record, now=now)):
                self._watch.compare_again()
            return "busy"
        if self._watch.is_comparing:
            return "busy"
        erasures = await self._renewal.find_due(record) if self._is_renewed else None
        planned = plan_copy(record, token=secrets.token_hex(8), now=now)
        if erasures is not None and await self._start(record, planned):
            await self._renewal.note(erasures)
        return "idle"

    async def _start(self, record: SpacesRecord, planned: SpacesRecord) -> bool:
        """Begin a build. Return False if another process was faster."""
        if planned == record or not await self._register.replace(record, planned):
            return False
        log.info(
            "index_build_started",
            goal=planned.goal,
            space=planned.target.collection if planned.target else "",
        )
        await self._follower.refresh()
        return True

    async def _compare(self, ref: ContextRef) -> Comparison:
        index = self._follower.spaces.serving.index
        return await self.audit.compare(ref, index, is_thorough=True)

    async def _cursors(self, record: SpacesRecord) -> "Sequence[_WalkState | None]":
        return [await walk.state(record) for walk in self._walks]

    async def _switch(self, record: SpacesRecord, cursors: "Sequence[_WalkState | None]") -> None:
        if record.goal == "fill":
            await self._erase_unregistered(record)
        if not await self._register.replace(record, plan_switch(record, now=self._clock())):
            return  # another process switched, or the record has another target now
        log.info(
            _COMPLETED[record.goal],
            space=record.target.collection if record.target else "",
            messages=sum(cursor.done for cursor in cursors if cursor),
        )
        await self._follower.refresh()

    async def _erase_unregistered(self, record: SpacesRecord) -> None:
        """Erase the points of chats that were reset: an old snapshot may have brought them back."""
        if record.serving is None:
            return
        found = await self._collections.list_contexts(record.serving.collection)
        for ref, epoch in (await self.audit.find_unregistered(found)).items():
            await self._follower.spaces.serving.index.erase(ref.context_id, below_epoch=epoch)

    async def _clean_up(self, record: SpacesRecord) -> bool:
        """Erase former collections if that is due. Return True if the record has changed."""
        is_due = record.sweep_after is not None and self._clock() >= record.sweep_after
        if not is_due or not await self._sweeper.sweep(record):
            return False
        return await self._register.replace(record, replace(record, sweep_after=None, copies=()))


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

    def __init__(self, redis: RedisClient, *, partition: int, compare: Compare) -> None:
        self._redis = redis
        self._compare = compare
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
            await self._choose_contexts(record)
        return await self._queue_next(state.cursor)

    async def state(self, record: SpacesRecord) -> _WalkState | None:
        """Return the state of the walk of this record's build; None if it has not begun."""
        state = await self._read()
        return state if state is not None and state.build == record.build else None

    async def _begin(self, record: SpacesRecord) -> None:
        if record.target is not None:
            await self._choose_contexts(record)
            total = await self._count_messages()
            await self._redis.run(begin_walk(self._partition, record.build, record.target.collection, total))

    async def _choose_contexts(self, record: SpacesRecord) -> None:
        """List the contexts to walk: all, or those that differ from the index if it is filled."""
        contexts = await self._list_contexts()
        if record.goal == "fill":
            contexts = [each for each in contexts if await self._differs(each)]
        self._contexts, self._contexts_of_build = contexts, record.build

    async def _differs(self, context_id: str) -> bool:
        """Compare a context. Queue the removal of what the index has and the history has not."""
        ref = ContextRef(context_id=context_id, partition=self._partition)
        seen = await self._compare(ref)
        key, epoch = context_key(ref, "epoch"), 0
        if seen.surplus or seen.has_former:
            epoch = int(await self._redis.call("GET", key) or 0)
        # The indexer drops the points of a message that the history does not have.
        work = [("index", "id", each) for each in sorted(seen.surplus)]
        work += [("erase",)] if seen.has_former else []
        for operation, *more in work:
            fields = ("op", operation, "context", context_id, "epoch", epoch, *more)
            await self._redis.call("XADD", partition_key(self._partition, "work"), "*", *fields)
        return not seen.is_same

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
        after = cursor.sequence if context_id == cursor.context else str(BEFORE_ALL)
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
        total, contexts = 0, self._contexts
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
        collections: "FormerCollections",
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
            if name == serving or (is_copy(name) and name not in record.copies):
                continue  # perhaps a copy of another deployment, empty at this moment
            requests: list[Callable[[], Awaitable[object]]] = [partial(self._collections.delete, name)]
            if name not in record.copies:
                pages = range(0, len(contexts), CONTEXTS_AT_ONCE)
                erase = partial(self._collections.erase_contexts, name)
                requests = [partial(erase, contexts[start : start + CONTEXTS_AT_ONCE]) for start in pages]
                requests.append(partial(self._collections.delete_if_empty, name))
            for request in requests:
                async with self._flag(record) as is_ours:
                    if not is_ours:
                        return False
                    await request()
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
