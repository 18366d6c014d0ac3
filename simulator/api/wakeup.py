"""A bell that wakes everyone who waits for a change."""

import asyncio


class Wakeup:
    """Waiters look at the state, then wait; in one event loop no ring between the two can be missed."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.is_closed = False

    def ring(self) -> None:
        self._event.set()
        if not self.is_closed:
            self._event = asyncio.Event()

    def close(self) -> None:
        """From now on nobody waits any more."""
        self.is_closed = True
        self.ring()

    async def sleep(self, seconds: float) -> None:
        """So long, however often it rings; but not after it was closed."""
        end = asyncio.get_running_loop().time() + seconds
        while not self.is_closed and (left := end - asyncio.get_running_loop().time()) > 0:
            await self.wait(left)

    async def wait(self, timeout: float | None) -> bool:
        """Whether the bell rang within `timeout` seconds (None: no limit)."""
        # Not asyncio.wait_for: on 3.11 it starts the wait in a new task, later, and would miss a ring.
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return False
        return True
