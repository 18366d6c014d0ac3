"""Re-indexing: after a change of the embedding space every message is brought into the new one, then it serves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from memory.recall.space_follower import SpaceFollower
from memory.recall.space_record import SpaceDescription, SpacesRecord, is_same, plan_repeat, plan_switch
from memory.recall.space_register import SpaceRegister
from memory.recall.sweep import Sweeper, is_sweeping
from memory.recall.walk import Walk, WalkProgress
from memory.redis.client import RedisClient

log = structlog.get_logger()

ReindexState = Literal["idle", "building", "busy"]
"""Nothing is being built by us; something is; and there is room to queue more of it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexProgress:
    """How far the building of a space is, over all partitions: how many messages it comprises, and are done.

    `target` is None where nothing is being built: then it is of the last building that there was.
    """

    serving: SpaceDescription | None
    target: SpaceDescription | None = None
    total: int = 0
    done: int = 0


class Reindexer:
    """Walks the histories into the space being built, switches to it once it is whole, and clears up after it.

    Any number of processes may run one: every step is repeatable, and what decides is in the store. The walk only
    queues work; the indexers do it. Nothing is lost or swallowed by a kill: the cursor moves with what is queued
    (walk_on.lua), and work counts as done only in the space that is wanted (finish_work.lua).
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        register: SpaceRegister,
        follower: SpaceFollower,
        sweeper: Sweeper,
        partitions: int,
        clock: Callable[[], float],
    ) -> None:
        self._redis = redis
        self._register = register
        self._follower = follower
        self._sweeper = sweeper
        self._walks = [Walk(redis, partition=partition) for partition in range(partitions)]
        self._clock = clock

    async def claim(self, *, is_forced: bool = False) -> SpacesRecord:
        """Have messages go into our space from now on; see SpaceFollower.claim. Before the first step."""
        return await self._follower.claim(is_forced=is_forced)

    async def follow(self) -> None:
        """Search and write the spaces that the record names. Raises StoreUnavailable."""
        await self._follower.refresh()

    async def step(self) -> ReindexState:
        """Do what is to be done now, and follow the record.

        Raises StoreUnavailable, StoreFull, and RecallUnavailable where former collections cannot be cleared up.
        """
        record = await self._follower.refresh()
        if record is None:
            return "idle"
        if record.target is None:
            await self._clear_up(record)
            return "idle"
        if not is_same(record.target, self._follower.ours):
            return "idle"
        if await is_sweeping(self._redis):
            return "building"
        has_room = [await walk.advance(record) for walk in self._walks]
        if any(has_room):
            return "busy"
        walks = await self._progress(record)
        if any(walk.is_robbed for walk in walks):
            await self._repeat(record)
        elif all(walk.is_whole for walk in walks):
            await self._switch(record, walks)
        return "building"

    async def progress(self) -> ReindexProgress:
        """How far it is. Raises StoreUnavailable."""
        record = await self._register.load()
        if record is None:
            return ReindexProgress(serving=None)
        walks = await self._progress(record)
        return ReindexProgress(
            serving=record.serving,
            target=record.target,
            total=sum(max(walk.total, walk.queued) for walk in walks),
            done=sum(walk.done for walk in walks),
        )

    async def _progress(self, record: SpacesRecord) -> Sequence[WalkProgress]:
        return [await walk.progress(record) for walk in self._walks]

    async def _repeat(self, record: SpacesRecord) -> None:
        """Somebody finishes work without the space being built: as a worker from before there were spaces does."""
        if await self._register.replace(record, plan_repeat(record, now=self._clock())):
            log.warning("reindex_repeated", hint="a worker of an older version takes the work: stop it")

    async def _switch(self, record: SpacesRecord, walks: Sequence[WalkProgress]) -> None:
        if not await self._register.replace(record, plan_switch(record, now=self._clock())):
            return  # another process did, or another space is wanted now
        log.info(
            "reindex_switched",
            space=record.target.collection if record.target else "",
            former=record.serving.collection if record.serving else None,
            messages=sum(walk.done for walk in walks),
        )
        await self._follower.refresh()

    async def _clear_up(self, record: SpacesRecord) -> None:
        is_due = record.sweep_after is not None and self._clock() >= record.sweep_after
        if is_due and await self._sweeper.sweep(record):
            await self._register.replace(record, replace(record, sweep_after=None))
