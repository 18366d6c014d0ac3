"""Long polling, where there is no public address: an offset is confirmed only after the durable write."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import structlog

from bot.errors import TelegramFailure, TelegramUnavailable
from bot.transport.ingest import Ingest
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0


class UpdateSource(Protocol):
    """Where updates are polled from."""

    async def get_updates(self, *, offset: int | None) -> list[Mapping[str, Any]]: ...


class Polling:
    """Feeds the ingest from getUpdates."""

    def __init__(
        self,
        source: UpdateSource,
        ingest: Ingest,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._source = source
        self._ingest = ingest
        self._pause = pause

    async def run(self) -> None:
        """Poll until cancelled. Failures of Telegram or the store are waited out, up to 30 s at a time or as asked."""
        offset: int | None = None
        pause = FIRST_PAUSE_S
        while True:
            try:
                updates = await self._source.get_updates(offset=offset)
                for update in updates:
                    await self._store(update)
                    # The next getUpdates confirms what is before this; until then Telegram keeps it.
                    offset = int(update["update_id"]) + 1
                pause = FIRST_PAUSE_S
            except (TelegramFailure, StoreUnavailable, StoreFull, CommandRefused) as error:
                asked = error.retry_after if isinstance(error, TelegramUnavailable) else None
                log.warning("polling_failed", error=str(error), retry_in_s=asked or pause)
                await self._pause(asked or pause)
                pause = min(LONGEST_PAUSE_S, pause * 2)

    async def _store(self, update: Mapping[str, Any]) -> None:
        """Take one update in; while its chat's box is full, wait: skipping it would lose it."""
        while await self._ingest.take_in(update) == "full":
            log.warning("chat_is_full", update=update["update_id"])
            await self._pause(1.0)
