"""Decides when the serving collection of a Qdrant server is copied, so that erased points leave the server's files."""

from collections.abc import Callable

from memory.keys import global_key, partition_key
from memory.recall.audit import Sizes
from memory.recall.spaces import SpacesRecord
from memory.redis.client import RedisClient

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
        self, redis: RedisClient, sizes: Sizes, *, partitions: int, clock: Callable[[], float]
    ) -> None:
        self._redis = redis
        self._sizes = sizes
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
        size = await self._sizes.size(record.serving.collection)
        return erasures if size and size <= LARGEST else None

    async def note(self, erasures: int) -> None:
        """Note that a copy has begun that covers these erasures."""
        await self._redis.call(
            "HSET", global_key("renewed"), "erasures", erasures, "at", f"{self._clock():.0f}"
        )
