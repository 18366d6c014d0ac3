"""A worker's slots: how many contexts it works on at once, and how one that only waits lends its slot to others."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

RESTING_AT_MOST = 1_000
"""So many contexts may wait without a slot before `rest` keeps it; each has a claim, a heartbeat and an outbox in memory."""


class Slots:
    """Built for one event loop."""

    def __init__(self, count: int, *, resting_at_most: int = RESTING_AT_MOST) -> None:
        self.count = count
        self.resting = 0
        """How many have lent their slot."""
        self._free = asyncio.Semaphore(count)
        self._resting_at_most = resting_at_most
        self._owed = 0
        self._lent = asyncio.Event()

    @asynccontextmanager
    async def work(self) -> AsyncGenerator[None]:
        """Hold a slot for as long as the block runs."""
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
        """`lend`; where very many rest already the slot is kept."""
        if self.resting >= self._resting_at_most:
            yield
            return
        async with self.lend():
            yield

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[None]:
        """Within `work`: lend the slot to others for as long as the block runs; its end waits for a slot again.

        However many do: who may begin needs the slots of those who may not.
        """
        self.resting += 1
        self._free.release()
        lent, self._lent = self._lent, asyncio.Event()
        lent.set()
        is_ending = False
        try:
            yield
        except asyncio.CancelledError:
            is_ending = True
            raise
        finally:
            await self._take_back(is_ending=is_ending)

    def next_lent(self) -> Coroutine[Any, Any, bool]:
        """Returns when somebody lends a slot, counted from this call on."""
        return self._lent.wait()

    async def _take_back(self, *, is_ending: bool) -> None:
        """A slot for who goes on; who is cancelled gets none, and the end of its `work` must not give one back."""
        try:
            if is_ending:
                self._owed += 1
            else:
                await self._free.acquire()
        except asyncio.CancelledError:
            self._owed += 1
            raise
        finally:
            self.resting -= 1
