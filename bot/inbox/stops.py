"""Stops that overtake: tells a running turn of this process that its reader has ended it."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

import structlog

from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

READ_WAIT_MS = 2_000
PAUSE_S = 0.5


class StopSource(Protocol):
    """Where stop requests are read from."""

    async def last_stop(self, partition: int) -> str: ...
    async def stops(
        self, partition: int, *, after: str, wait_ms: int
    ) -> tuple[str, list[tuple[str, int]]]: ...


class StopSignals:
    """The running turns of this process, by context, each with the event that ends it."""

    def __init__(self, source: StopSource) -> None:
        self._source = source
        self._running: dict[str, list[tuple[int, asyncio.Event]]] = defaultdict(list)

    @contextmanager
    def watch(self, context_id: str, *, newest_update: int) -> Generator[asyncio.Event]:
        """An event that is set when a stop younger than `newest_update` comes for the context."""
        watched = (newest_update, asyncio.Event())
        self._running[context_id].append(watched)
        try:
            yield watched[1]
        finally:
            self._running[context_id].remove(watched)
            if not self._running[context_id]:
                del self._running[context_id]

    async def listen(self, partition: int) -> None:
        """Read the partition's stop requests until cancelled. While the store is away none is lost: it is read on."""
        after: str | None = None
        while True:
            try:
                after = await self._source.last_stop(partition) if after is None else after
                after, stops = await self._source.stops(partition, after=after, wait_ms=READ_WAIT_MS)
            except (StoreUnavailable, StoreFull, CommandRefused) as error:
                log.warning("store_failed", loop="stops", error=str(error))
                await asyncio.sleep(PAUSE_S)
                continue
            for context_id, update_id in stops:
                self._stop(context_id, update_id)

    def _stop(self, context_id: str, update_id: int) -> None:
        for newest_update, event in self._running.get(context_id, ()):
            if update_id > newest_update:
                event.set()
