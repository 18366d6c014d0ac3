"""What overtakes: tells the running turns of this process of stops, edits, new lines and pressed buttons."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Protocol

import structlog

from bot.inbox.records import Signal
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

READ_WAIT_MS = 2_000
PAUSE_S = 0.5


class SignalSource(Protocol):
    """Where signals are read from."""

    async def last_signal(self, partition: int) -> str: ...
    async def signals(
        self, partition: int, *, after: str, wait_ms: int
    ) -> tuple[str, list[tuple[str, Signal]]]: ...


class Incoming:
    """The signals for one context since its watch began, each given once, in their order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Signal] = asyncio.Queue()

    def put(self, signal: Signal) -> None:
        """Add a signal."""
        self._queue.put_nowait(signal)

    async def next(self) -> Signal:
        """The next signal, waiting for it."""
        return await self._queue.get()

    async def wait(self, seconds: float) -> None:
        """Return with the next signal, which is taken, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._queue.get()


class Signals:
    """The contexts that this process works on, each with what hears their signals."""

    def __init__(self, source: SignalSource) -> None:
        self._source = source
        self._watched: dict[str, list[Incoming]] = defaultdict(list)

    @contextmanager
    def watch(self, context_id: str) -> Generator[Incoming]:
        """What comes for the context from now on. A watch that begins before a turn takes what waits misses nothing."""
        incoming = Incoming()
        self._watched[context_id].append(incoming)
        try:
            yield incoming
        finally:
            self._watched[context_id].remove(incoming)
            if not self._watched[context_id]:
                del self._watched[context_id]

    async def listen(self, partition: int) -> None:
        """Read the partition's signals until cancelled. While the store is away none is lost: it is read on."""
        after: str | None = None
        while True:
            try:
                after = await self._source.last_signal(partition) if after is None else after
                after, signals = await self._source.signals(partition, after=after, wait_ms=READ_WAIT_MS)
            except (StoreUnavailable, StoreFull, CommandRefused) as error:
                log.warning("store_failed", loop="signals", error=str(error))
                await asyncio.sleep(PAUSE_S)
                continue
            for context_id, signal in signals:
                for incoming in self._watched.get(context_id, ()):
                    incoming.put(signal)
