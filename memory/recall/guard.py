"""The guard of recall: a budget for each search, and a pause of recall while the index does not answer in time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

import structlog

from memory.breaker import Breaker, BreakerEvent
from memory.errors import RecallTimedOut, RecallUnavailable

log = structlog.get_logger()

BUDGET_S = 1.0
"""Time for the index in one recall. It takes 2 to 20 ms, up to 100,000 messages."""
_PROBE_BUDGET_S = 0.8
"""Time for a probe. A check of health that makes one must end within a second."""
_TIMEOUTS_TO_PAUSE = 2
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0


class RecallGuard:
    """Pauses recall after two timeouts in a row. While it pauses, requests fail at once with RecallTimedOut.

    `probe` asks the index for anything. It runs in the background, one at a time, so that no turn waits for it.
    """

    def __init__(self, probe: Callable[[], Awaitable[object]], *, budget_s: float = BUDGET_S) -> None:
        self._probe = probe
        self._budget_s = budget_s
        self._probing: asyncio.Task[None] | None = None
        self._breaker = Breaker(
            opens_on=(RecallTimedOut,),
            failures_to_open=_TIMEOUTS_TO_PAUSE,
            trusts_probes=False,
            first_s=_FIRST_PAUSE_S,
            longest_s=_LONGEST_PAUSE_S,
            notify=self._report,
        )

    @property
    def is_paused(self) -> bool:
        """True while recall pauses."""
        return self._breaker.is_open

    @asynccontextmanager
    async def in_time(self) -> AsyncGenerator[None]:
        """Wrap one search. Raises RecallTimedOut after the budget, and at once while recall pauses."""
        with self.unless_paused():
            async with _limited(self._budget_s):
                yield

    async def probe(self) -> None:
        """Ask the index now. Raises RecallUnavailable, at once while recall pauses."""
        with self.unless_paused():
            await self._ask()

    @contextmanager
    def unless_paused(self) -> Generator[None]:
        """Wrap a request without a budget of its own. Raises RecallTimedOut at once while recall pauses."""
        with self._breaker.guard(may_probe=False):
            yield

    def close(self) -> None:
        """End the probes."""
        if self._probing is not None:
            self._probing.cancel()

    async def _ask(self) -> None:
        async with _limited(_PROBE_BUDGET_S):
            await self._probe()

    def _report(self, event: BreakerEvent, breaker: Breaker) -> None:
        if event == "opened":
            log.error(
                "recall_paused",
                reason="the vector index does not answer in time: answers come without recall",
                setting="QDRANT_URL",
                probe_in_s=breaker.pause_s,
            )
            self._probing = asyncio.create_task(self._probe_until_closed(), name="recall-probe")
        elif event == "closed":
            log.warning("recall_resumed")

    async def _probe_until_closed(self) -> None:
        while self._breaker.is_open:
            await asyncio.sleep(self._breaker.wait_s)
            with suppress(RecallUnavailable), self._breaker.guard():
                await self._ask()


@asynccontextmanager
async def _limited(budget_s: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(budget_s):
            yield
    except TimeoutError:
        raise RecallTimedOut from None
