"""A Redis client that cancels its caller at a chosen round trip, as the end of a process would."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from memory.redis.client import RedisClient


class TrippingRedis:
    """A client that cancels its caller at round trip `at`, before the request or after the reply."""

    def __init__(self, redis: RedisClient, at: int, when: Literal["before", "after"]) -> None:
        self._redis = redis
        self._at = at
        self._when = when
        self._trips = 0

    async def run(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.run, *arguments)

    async def run_all(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.run_all, *arguments)

    async def run_durably(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.run_durably, *arguments)

    async def run_all_durably(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.run_all_durably, *arguments)

    async def call(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.call, *arguments)

    async def calls(self, *arguments: Any) -> Any:
        return await self._trip(self._redis.calls, *arguments)

    async def _trip(self, do: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        self._trips += 1
        if self._trips == self._at and self._when == "before":
            await _be_cancelled()
        reply = await do(*arguments)
        if self._trips == self._at and self._when == "after":
            await _be_cancelled()
        return reply


async def _be_cancelled() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
