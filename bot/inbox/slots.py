"""Slots of a worker: the number of contexts that it works on at once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

RESTING_AT_MOST = 1_000
"""Contexts that may wait without a slot. Each has a claim, a heartbeat and an outbox in memory."""


class Slots:
    """One instance per worker and event loop."""

    def __init__(self, count: int, *, resting_at_most: int = RESTING_AT_MOST) -> None:
        self.resting = 0
        """Contexts that have released their slot for a while."""
        self._free = asyncio.Semaphore(count)
        self._resting_at_most = resting_at_most
        self._owed = 0
        """Slots that cancelled contexts did not take back. The next contexts that end do not release theirs."""

    @asynccontextmanager
    async def work(self) -> AsyncGenerator[None]:
        """Hold a slot during the block."""
        await self._free.acquire()
        try:
            yield
        finally:
            if self._owed:
                self._owed -= 1
            else:
                self._free.release()

    @asynccontextmanager
    async def rest(self) -> AsyncGenerator[None]:
        """Release the slot during the block, so that another context can use it, unless too many contexts rest.

        Call it within `work`. A waiting context, for example one whose chat has a rate limit, needs no slot.
        """
        if self.resting >= self._resting_at_most:
            yield
            return
        self.resting += 1
        self._free.release()
        try:
            try:
                yield
            except Exception:
                await self._free.acquire()
                raise
            await self._free.acquire()
        except asyncio.CancelledError:
            self._owed += 1
            raise
        finally:
            self.resting -= 1
