"""Rewrite the embedded store's append-only file: until then it keeps every command, and so all erased data."""

import asyncio
from collections.abc import Callable

from memory.embedded.data_dir import rest_after
from memory.errors import CommandRefused
from memory.keys import global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.durability import ask_info, is_rewriting
from memory.redis.server_files import rewrite_files

GATHER_S = 2.0
"""Time from an erasure to the rewrite, so that erasures that follow soon are in the same one."""
DAILY_S = 24 * 3600.0
"""Time between two rewrites without an erasure: the file also has data that expired."""


class FileRewriter:
    """Rewrites the file if data was erased since the last rewrite. Any number of processes may do this at once.

    The store has both counts, so that a process goes on after the crash of another. `clear_away` removes files of
    failed rewrites. Raises StoreUnavailable, StoreFull, and TimeoutError if a rewrite never ends, with nothing lost.
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        partitions: int,
        clock: Callable[[], float],
        clear_away: Callable[[], None],
    ) -> None:
        self._redis = redis
        self._clear_away = clear_away
        self._counters = [partition_key(partition, "erasures") for partition in range(partitions)]
        self._clock = clock
        self._pending_since: float | None = None
        self._not_before = 0.0
        self._daily_at = clock() + DAILY_S

    async def step(self) -> bool:
        """Rewrite the file if that is due; return True if it was rewritten."""
        *counts, rewritten = await self._redis.calls(
            [("GET", key) for key in (*self._counters, global_key("rewritten"))]
        )
        erased = sum(int(count or 0) for count in counts)
        now = self._clock()
        if not self._is_due(now, has_erased=erased != int(rewritten or 0)) or not await self._rewrite():
            return False
        await asyncio.to_thread(self._clear_away)
        # The count from before the rewrite: data erased meanwhile is for the next one.
        await self._redis.call("SET", global_key("rewritten"), erased)
        self._pending_since = None
        self._not_before = self._clock() + rest_after(self._clock() - now)
        self._daily_at = self._clock() + DAILY_S
        return True

    def _is_due(self, now: float, *, has_erased: bool) -> bool:
        if not has_erased:
            self._pending_since = None
            return now >= self._daily_at
        self._pending_since = now if self._pending_since is None else self._pending_since
        return now >= max(self._pending_since + GATHER_S, self._not_before)

    async def _rewrite(self) -> bool:
        """Return False if another rewrite is running, or if the server refused: its disk may be full."""
        if any(map(is_rewriting, await ask_info(self._redis, "persistence"))):
            return False
        try:
            await rewrite_files(self._redis)
        except CommandRefused:
            return False
        return True
