"""Isolation: an update over which two workers died runs alone.

If it kills a third worker, alone, it becomes a dead letter (take.lua). An update that only ran at the same time as the
killer finishes alone, or survives and goes on with the others.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Protocol

from bot.inbox.records import ISOLATED_FROM, Claim

SURVIVED_S = 1.0
"""An update that kills its worker usually does so at once. After this long it is not suspected any more."""
ALONE_S, SHORTEST_ALONE_S = 1.0, 0.25
"""Isolated updates share ALONE_S, then others may begin. Each has SHORTEST_ALONE_S at least, and twice as long after
each death in which others ran too: then it may kill late. In a model of sixteen of
them and ten new updates a second, the others waited for up to 6.9 s with 2 s for ALONE_S, and 4.3 s with 1 s.
"""
OPEN_S = 1.0
"""Pause between two isolated periods, in which others begin. In half a second a worker began fewer updates than
arrived.
"""


Note = Callable[[], Awaitable[None]]


class Settling(Protocol):
    """Ends the work on a context."""

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool: ...


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


class Isolation:
    """Decides when an update may begin. One instance per worker and event loop."""

    def __init__(self, settling: Settling, slots: Slots) -> None:
        self._settling = settling
        self._slots = slots
        self._lane = asyncio.Lock()
        self._isolated: set[Claim] = set()
        self._alone: Claim | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._closed_at = self._opened_at = self._begun_at = -math.inf

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool:
        """Settle the claim. Return True if the context has more to do and is still ours.

        During an isolation the next update may not begin, so the context goes to the end of the line.
        """
        rotate = rotate or not self._open.is_set()
        has_more = await self._settling.settle(claim, rotate=rotate, handed_back=handed_back)
        if has_more and self._open.is_set():
            self._begun_at = monotonic()
            return True
        return has_more and await self._settling.settle(claim, rotate=True)

    @asynccontextmanager
    async def begin(self, claim: Claim, let_others_in: Note) -> AsyncGenerator[None]:
        """Run the block in a slot, as soon as the claim's update may begin.

        `let_others_in` stores that an isolated update has survived. It returns before another update begins.
        """
        working = self._isolate(claim, let_others_in) if claim.deaths >= ISOLATED_FROM else self.slot()
        async with working:
            self._begun_at = monotonic()
            yield

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Run the block in a slot while no update is isolated."""
        while True:
            await self._open.wait()
            async with self._slots.work():
                if self._open.is_set():  # an isolation may have begun while this waited for a slot
                    yield
                    return

    @asynccontextmanager
    async def _isolate(self, claim: Claim, let_others_in: Note) -> AsyncGenerator[None]:
        self._isolated.add(claim)
        survival: asyncio.Task[None] | None = None
        try:
            await self._lane.acquire()
            self._alone = claim
            async with self._slots.work():
                await self._close()
                survival = asyncio.create_task(self._survive(claim, let_others_in), name="survival")
                yield
        finally:
            if survival is not None:
                survival.cancel()
            self._end(claim)

    async def _close(self) -> None:
        """Let nothing begin from now on, and wait until everything that began has survived."""
        if self._open.is_set():
            await asyncio.sleep(self._opened_at + OPEN_S - monotonic())
            self._open.clear()
            await asyncio.sleep(self._begun_at + SURVIVED_S - monotonic())
            self._closed_at = monotonic()

    async def _survive(self, claim: Claim, let_others_in: Note) -> None:
        share_s = max(SHORTEST_ALONE_S, ALONE_S / len(self._isolated))
        await asyncio.sleep(share_s * 2 ** (claim.deaths - ISOLATED_FROM))
        await let_others_in()
        self._end(claim)

    def _end(self, claim: Claim) -> None:
        """End the isolation of this claim, unless it has ended. Let others begin, or the next isolated update."""
        self._isolated.discard(claim)
        if self._alone == claim:
            self._alone = None
            self._lane.release()
        is_over = not self._isolated or monotonic() >= self._closed_at + ALONE_S
        if is_over and self._alone is None and not self._open.is_set():
            self._open.set()
            self._opened_at = monotonic()
