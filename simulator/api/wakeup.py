"""A bell that wakes all tasks that wait for a change."""

import asyncio


class Wakeup:
    """A bell. A task checks the state and then waits; in one event loop it misses no ring in between."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.is_closed = False

    def ring(self) -> None:
        self._event.set()
        if not self.is_closed:
            self._event = asyncio.Event()

    def close(self) -> None:
        """Wake all tasks; from now on waits return at once."""
        self.is_closed = True
        self.ring()

    async def sleep(self, seconds: float) -> None:
        """Sleep for so many seconds in spite of rings; return early if the bell is closed."""
        end = asyncio.get_running_loop().time() + seconds
        while not self.is_closed and (left := end - asyncio.get_running_loop().time()) > 0:
            await self.wait(left)

    async def wait(self, timeout: float | None) -> bool:
        """Return True if the bell rings within `timeout` seconds; None means no limit."""
        # asyncio.wait_for on Python 3.11 starts the wait later, in a new task, and would miss a ring.
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return False
        return True
