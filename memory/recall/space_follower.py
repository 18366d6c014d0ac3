"""The record of the spaces in Redis, and a process that follows its changes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from memory.codec import dump_json, parse_json
from memory.keys import Key, global_key, partition_key
from memory.recall.embedders.embedder import PROBE, Embedder, EmbeddingError, EmbeddingUnavailable
from memory.recall.spaces import LAYOUT, Space, SpaceDescription, Spaces, SpacesRecord, is_same, plan_claim
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

FIRST_ANSWER_S = 2.0
"""Time for the first answer of an endpoint. Messages wait for it, then they are indexed by words."""
ASK_AFTER_S, ASK_AT_LEAST_EVERY_S = 1.0, 60.0
"""Pause before the second question to an endpoint, which doubles, and the longest pause."""

OpenSpace = Callable[[SpaceDescription, Embedder | None], Space]
"""Returns the described space with this embedder."""
AskSpace = Callable[[], Awaitable[tuple[SpaceDescription, Embedder | None]]]
"""Returns the space of our settings, for an endpoint after its answer. Raises EmbeddingError."""


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
    """Decides in which collections this process searches and writes. `refresh` updates `spaces` in place.

    A process takes no work before it has claimed its own space. With `ask_space` this is a stand-in until the process
    claims one and its endpoint has answered: the last known space, or words alone.
    """

    def __init__(
        self,
        register: SpaceRegister,
        *,
        ours: SpaceDescription,
        embedder: Embedder | None,
        open_space: OpenSpace,
        clock: Callable[[], float],
        ask_space: AskSpace | None = None,
    ) -> None:
        self._embedder = embedder
        # None when it has answered.
        self._ask_space = ask_space
        self._ask_at = 0.0
        self._ask_after_s = ASK_AFTER_S
        self._open_space = open_space
        self._clock = clock
        self._opened: dict[str, Space] = {}
        self._has_claimed = False
        self._paused_for: str | None = None
        self.register = register
        self.ours = ours
        self.spaces = Spaces(serving=self._open(ours), takes_work=False)

    async def learn(self) -> None:
        """Ask our endpoint for the size of its vectors, unless it has answered. Its space becomes ours.

        Raises EmbeddingError if it does not answer.
        """
        if self._ask_space is not None:
            self.ours, self._embedder = await self._ask_space()
            self._ask_space = None
            self._opened.clear()

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
        if is_change and self._embedder is not None and self._ask_space is None:
            await self._embedder.embed([PROBE])
        record = await self.register.claim(self.ours, is_forced=is_forced)
        self._has_claimed = True
        if record != before and record.target is not None:
            log.info("reindex_started", space=record.target.collection)
        self._follow(record)
        return record

    async def refresh(self) -> SpacesRecord | None:
        """Read the record and follow it. Raises StoreUnavailable."""
        record = await self.register.load()
        if record is not None:
            self._follow(record)
        return record

    def _follow(self, record: SpacesRecord) -> None:
        ours = [each for each in (record.serving, record.target) if each and is_same(each, self.ours)]
        is_readable = record.serving is not None and record.serving.layout == LAYOUT
        other = record.serving if is_readable else None
        spaces = self.spaces
        spaces.serving = self._open(ours[0] if ours else other or self.ours)
        is_copying = record.goal == "copy" and len(ours) > 1
        spaces.building = replace(self._open(ours[1]), copies=spaces.serving.name) if is_copying else None
        spaces.takes_work = is_same(record.destination, self.ours)
        spaces.is_incomplete = record.serving is None or record.goal == "fill"
        self._log_pause(record)

    def _open(self, space: SpaceDescription) -> Space:
        """Return a space, without an embedder if it is not ours: then words alone are searched."""
        if space.collection not in self._opened:
            embedder = self._embedder if is_same(space, self.ours) else None
            self._opened[space.collection] = self._open_space(space, embedder)
        return self._opened[space.collection]

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
