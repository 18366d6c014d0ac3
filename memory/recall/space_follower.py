"""The record of the spaces in Redis, and a process that follows its changes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from memory.codec import dump_json, parse_json
from memory.keys import Key, global_key, partition_key
from memory.recall.embedders.embedder import PROBE, EmbeddingError, EmbeddingUnavailable
from memory.recall.spaces import (
    LAYOUT,
    Space,
    SpaceDescription,
    Spaces,
    SpacesRecord,
    has_our_terms,
    is_same,
    plan_claim,
)
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

REOPEN_AFTER_S = 30.0
"""Pause before another try to open an embedder."""

FIRST_ANSWER_S = 2.0
"""Time for the first answer of an endpoint. Messages wait for it, then they are indexed by words."""
ASK_AFTER_S, ASK_AT_LEAST_EVERY_S = 1.0, 60.0
"""Pause before the second question to an endpoint, which doubles, and the longest pause."""

OpenSpace = Callable[[SpaceDescription], Awaitable[Space]]
"""Opens a space of other settings. Its embedder is None if it cannot be opened here and now."""
AskSpace = Callable[[], Awaitable[tuple[SpaceDescription, Space]]]
"""Asks the endpoint of our settings for the size of its vectors, and opens their space. Raises EmbeddingError."""


@lua_script("memory.redis.scripts")
def replace_spaces(spaces: Key, before: str, after: str) -> ScriptCall: ...


class SpaceRegister:
    """Reads and replaces the record. Every method raises StoreUnavailable; a change also raises StoreFull."""

    def __init__(self, redis: RedisClient, *, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock

    async def load(self) -> SpacesRecord | None:
        """Return the record; None before the first start of a process that writes vectors."""
        text = await self._redis.call("GET", global_key("spaces"))
        return None if text is None else parse_json(SpacesRecord, text)

    async def claim(self, ours: SpaceDescription, *, is_forced: bool = False) -> SpacesRecord:
        """Direct all messages into `ours`, see `plan_claim`. Repeating changes nothing unless `is_forced`."""
        while True:
            record = await self.load()
            is_empty = record is None and not await self._has_contexts()
            planned = plan_claim(record, ours, is_empty=is_empty, now=self._clock(), is_forced=is_forced)
            if planned == record or await self.replace(record, planned):
                return planned

    async def replace(self, before: SpacesRecord | None, after: SpacesRecord) -> bool:
        """Write `after` if the record is still `before`. Return False, without a change, if another was faster."""
        text = await self._redis.call("GET", global_key("spaces"))
        if (None if text is None else parse_json(SpacesRecord, text)) != before:
            return False
        script = replace_spaces(global_key("spaces"), text or "", dump_json(SpacesRecord, after))
        return bool(await self._redis.run(script))

    async def _has_contexts(self) -> bool:
        for partition in range(self._partitions):
            if await self._redis.call("HLEN", partition_key(partition, "contexts")):
                return True
        return False


class SpaceFollower:
    """Decides which spaces this process searches and writes. `refresh` updates `spaces` in place.

    A process takes no work before it has claimed its own space. With `ask_space` this is a stand-in until the endpoint
    has answered: the last known space of its model, the space of all others, or words alone.
    """

    def __init__(
        self,
        register: SpaceRegister,
        *,
        ours: SpaceDescription,
        own: Space,
        open_space: OpenSpace,
        clock: Callable[[], float],
        ask_space: AskSpace | None = None,
    ) -> None:
        self._own = own
        # None when the endpoint has answered.
        self._ask_space = ask_space
        self._ask_at = 0.0
        self._ask_after_s = ASK_AFTER_S
        self._open_space = open_space
        self._clock = clock
        self._opened: dict[str, Space] = {}
        self._retry_at = 0.0
        self._has_claimed = False
        self._paused_for: str | None = None
        self.register = register
        self.ours = ours
        self.spaces = Spaces(serving=own, takes_work=False)

    async def learn(self) -> None:
        """Ask our endpoint for the size of its vectors, unless it has answered. Its space becomes ours.

        Raises EmbeddingError if it does not answer.
        """
        if self._ask_space is not None:
            self.ours, self._own = await self._ask_space()
            self._ask_space = None

    async def learn_when_due(self) -> None:
        """Ask again after a pause, and claim the space of the answer. Raises StoreUnavailable and StoreFull."""
        if self._ask_space is None or not self._has_claimed or self._clock() < self._ask_at:
            return
        await self._try_to_learn()
        if self._ask_space is None:
            log.info("embedding_endpoint_answers", space=self.ours.collection)
            await self.claim()

    async def _try_to_learn(self, limit_s: float | None = None) -> None:
        """Ask once. The first failure is logged."""
        try:
            async with asyncio.timeout(limit_s):
                await self.learn()
            return
        except TimeoutError:
            failure = EmbeddingUnavailable(f"the embedding endpoint did not answer within {limit_s:g} s")
        except EmbeddingError as error:
            failure = error
        if self._ask_at == 0.0:
            log.warning(
                "embedding_endpoint_waits",
                reason=str(failure),
                said=failure.words,
                hint="messages are found by their words; they get vectors as soon as it answers",
            )
        self._ask_at = self._clock() + self._ask_after_s
        self._ask_after_s = min(2 * self._ask_after_s, ASK_AT_LEAST_EVERY_S)

    async def claim(self, *, is_forced: bool = False) -> SpacesRecord:
        """Direct all messages into our space, and follow the record. An endpoint is asked first.

        Raises StoreUnavailable and StoreFull. If this changes the space, a broken embedder raises an EmbeddingError
        and claims nothing. Otherwise one process with wrong settings would stop the indexing of all others.
        """
        await self._try_to_learn(FIRST_ANSWER_S)
        before = await self.register.load()
        is_change = before is not None and (is_forced or not is_same(before.destination, self.ours))
        if is_change and self._own.embedder is not None and self._ask_space is None:
            await self._own.embedder.embed([PROBE])
        record = await self.register.claim(self.ours, is_forced=is_forced)
        self._has_claimed = True
        if record != before and record.target is not None:
            serving = record.serving.collection if record.serving else None
            log.info("reindex_started", space=record.target.collection, serving=serving)
        await self._follow(record)
        return record

    async def refresh(self) -> SpacesRecord | None:
        """Read the record and follow it. Raises StoreUnavailable."""
        record = await self.register.load()
        if record is not None:
            await self._follow(record)
        return record

    async def _follow(self, record: SpacesRecord) -> None:
        serving = await self._open_searchable(record.serving or record.target)
        target = record.target
        building: Space | None = None
        if target is not None and is_same(target, self.ours) and target.collection != serving.name:
            building = await self._open_own(target)
            if record.goal == "copy":
                building = replace(building, copies=serving.name)
        self.spaces.serving = serving
        self.spaces.building = building
        self.spaces.is_incomplete = record.goal == "fill" and target is not None
        self.spaces.takes_work = is_same(record.destination, self.ours)
        self._log_pause(record)

    async def _open_searchable(self, description: SpaceDescription | None) -> Space:
        """Return the described space, or our own if that one cannot be searched from here."""
        if description is None or description.layout != LAYOUT:
            return self._own
        if is_same(description, self.ours):
            return await self._open_own(description)
        space = await self._open(description)
        return space if space.embedder is not None or has_our_terms(description) else self._own

    async def _open_own(self, description: SpaceDescription) -> Space:
        """Return our own space in the collection of the description."""
        if description.collection == self._own.name:
            return self._own
        return replace(await self._open(description), embedder=self._own.embedder)

    async def _open(self, description: SpaceDescription) -> Space:
        """Open a space once, or again after REOPEN_AFTER_S while it has no embedder."""
        space = self._opened.get(description.collection)
        if space is None or (space.embedder is None and self._clock() >= self._retry_at):
            self._retry_at = self._clock() + REOPEN_AFTER_S
            space = self._opened[description.collection] = await self._open_space(description)
        return space

    def _log_pause(self, record: SpacesRecord) -> None:
        is_paused = not self.spaces.takes_work and record.destination is not None
        other = record.destination.collection if is_paused and record.destination else None
        if other is not None and other != self._paused_for and self._has_claimed:
            log.warning(
                "indexing_paused",
                wanted=other,
                ours=self.ours.collection,
                hint="a process with another embedding model, or another version, was started after this one",
            )
        self._paused_for = other
