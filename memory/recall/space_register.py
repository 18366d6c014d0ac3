"""The record of the spaces in the store, which all processes read, and which only changes as it was read."""

from collections.abc import Callable

from memory.keys import contexts_key, spaces_key
from memory.recall.space_record import SpaceDescription, SpacesRecord, dump_record, parse_record, plan_claim
from memory.redis.client import RedisClient, load_script


class SpaceRegister:
    """Reads and replaces the record. Every method raises StoreUnavailable, a change StoreFull too."""

    def __init__(self, redis: RedisClient, *, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock

    async def load(self) -> SpacesRecord | None:
        """The record; None while no process that writes vectors has ever started."""
        text = await self._redis.call("GET", spaces_key())
        return None if text is None else parse_record(text)

    async def claim(self, ours: SpaceDescription, *, is_forced: bool = False) -> SpacesRecord:
        """Say that messages belong into `ours` from now on; the record after it. See `plan_claim`.

        Repeating changes nothing, but with `is_forced`, which begins a building anew each time.
        """
        while True:
            record = await self.load()
            is_empty = record is None and not await self._has_contexts()
            wanted = plan_claim(record, ours, is_empty=is_empty, now=self._clock(), is_forced=is_forced)
            if wanted == record or await self.replace(record, wanted):
                return wanted

    async def replace(self, read: SpacesRecord | None, wanted: SpacesRecord) -> bool:
        """Put `wanted` in the place of what was read; False, and no change, where another was faster."""
        text = await self._redis.call("GET", spaces_key())
        if (None if text is None else parse_record(text)) != read:
            return False
        script = load_script("memory.redis.scripts", "replace_spaces")
        return bool(await self._redis.run(script, [spaces_key()], [text or "", dump_record(wanted)]))

    async def _has_contexts(self) -> bool:
        for partition in range(self._partitions):
            if await self._redis.call("HLEN", contexts_key(partition)):
                return True
        return False
