"""Has the embedded store's append-only file rewritten: until then it keeps every command, also of what is erased."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from memory.embedded.pacing import rest_after
from memory.errors import CommandRefused
from memory.keys import erasures_key, rewritten_key
from memory.redis.client import RedisClient

_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteTimes:
    """Seconds: from an erasure that is seen until the file is rewritten, so that those that follow it soon are in the
    same rewriting; between two where nothing is erased, as what ends by itself is in the file too; and of patience.
    """

    gather: float = 2.0
    daily: float = 24 * 3600.0
    patience: float = 600.0


class FileRewriter:
    """Compares what was erased with what the file was rewritten for; both are kept in the store, so that whoever comes
    after a crash goes on. Any number of processes may do this: the server takes one rewriting at a time.

    `clear_away` removes what rewritings left that came to nothing. Raises StoreUnavailable and StoreFull, and
    TimeoutError where a rewriting takes longer than `patience`, with nothing lost.
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        partitions: int,
        clock: Callable[[], float],
        clear_away: Callable[[], None],
        times: RewriteTimes | None = None,
    ) -> None:
        self._redis = redis
        self._clear_away = clear_away
        self._counters = [erasures_key(partition) for partition in range(partitions)]
        self._clock = clock
        self._times = times or RewriteTimes()
        self._since: float | None = None
        self._not_before = 0.0
        self._daily = clock() + self._times.daily

    async def step(self) -> bool:
        """Rewrite the file if that is due; whether it was."""
        erased, rewritten = await self._counts()
        now = self._clock()
        if not self._is_due(now, is_told=erased != rewritten) or not await self._rewrite():
            return False
        await asyncio.to_thread(self._clear_away)
        # As many as were counted before it began: what was erased meanwhile is for the next one.
        await self._redis.call("SET", rewritten_key(), erased)
        self._since = None
        self._not_before = self._clock() + rest_after(self._clock() - now)
        self._daily = self._clock() + self._times.daily
        return True

    def _is_due(self, now: float, *, is_told: bool) -> bool:
        """`is_told`: the file tells of something that was erased."""
        if not is_told:
            self._since = None
            return now >= self._daily
        self._since = now if self._since is None else self._since
        return now >= max(self._since + self._times.gather, self._not_before)

    async def _counts(self) -> tuple[int, int]:
        *counted, rewritten = await self._redis.calls(
            [("GET", key) for key in (*self._counters, rewritten_key())]
        )
        return sum(int(count or 0) for count in counted), int(rewritten or 0)

    async def _rewrite(self) -> bool:
        """Begin it and wait for its end; False where another one is under way, or it failed."""
        before = await self._persistence()
        if _is_rewriting(before):
            return False
        try:
            await self._redis.call("BGREWRITEAOF")
        except CommandRefused:  # somebody else was faster, or the disk is full
            return False
        async with asyncio.timeout(self._times.patience):
            while _is_rewriting(told := await self._persistence()):  # noqa: ASYNC110 - the server tells nobody of its end
                await asyncio.sleep(_POLL_S)
        # A server that was restarted meanwhile counts from 0, and has thrown the half one away.
        is_the_next = int(told.get("aof_rewrites", 0)) > int(before.get("aof_rewrites", 0))
        return is_the_next and told.get("aof_last_bgrewrite_status") == "ok"

    async def _persistence(self) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], await self._redis.call("INFO", "persistence"))


def _is_rewriting(told: Mapping[str, Any]) -> bool:
    return bool(int(told.get("aof_rewrite_in_progress", 0)) or int(told.get("aof_rewrite_scheduled", 0)))
