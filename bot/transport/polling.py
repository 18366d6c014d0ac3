"""Delivery of updates: the bot's identity, the registration of the webhook, and long polling."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import stamina
import structlog

from bot.errors import TelegramFailure, TelegramRefused, TelegramUnavailable
from bot.transport.gating import BotIdentity
from bot.transport.ingest import Ingest
from bot.transport.telegram_api import TelegramApi
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

T = TypeVar("T")

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
WEBHOOK_CHECK_S = 30.0


class Polling:
    """Long polling. An offset confirms updates only after they are on disk."""

    def __init__(
        self,
        telegram: TelegramApi,
        ingest: Ingest,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._telegram = telegram
        self._ingest = ingest
        self._pause = pause

    async def run(self) -> None:
        """Poll until cancelled. After a failure, wait up to 30 s, or as long as Telegram asks."""
        offset: int | None = None
        pause = FIRST_PAUSE_S
        while True:
            try:
                updates = await self._telegram.get_updates(offset=offset)
                for update in updates:
                    await self._store(update)
                    # The next getUpdates confirms everything before this offset. Telegram keeps it until then.
                    offset = int(update["update_id"]) + 1
                pause = FIRST_PAUSE_S
            except (TelegramFailure, StoreUnavailable, StoreFull, CommandRefused) as error:
                retry_after = error.retry_after if isinstance(error, TelegramUnavailable) else None
                log.warning("polling_failed", error=str(error), retry_in_s=retry_after or pause)
                await self._pause(retry_after or pause)
                pause = min(LONGEST_PAUSE_S, pause * 2)

    async def _store(self, update: Mapping[str, Any]) -> None:
        """Store one update. While its chat's box is full, wait: skipping the update would lose it."""
        while await self._ingest.take_in(update) == "full":
            log.warning("chat_is_full", update=update["update_id"])
            await self._pause(1.0)


async def fetch_identity(telegram: TelegramApi) -> BotIdentity:
    """Call getMe until it succeeds. Raises TelegramRefused at once for an unknown token."""
    return await _until_answered(telegram.get_me, "TELEGRAM_API_URL", is_final=(TelegramRefused,))


async def set_webhook(telegram: TelegramApi, url: str, *, secret: str, max_connections: int) -> None:
    """Call setWebhook until it succeeds."""
    call = partial(telegram.webhook.set, url, secret=secret, max_connections=max_connections)
    await _until_answered(call, "WEBHOOK_URL")
    log.info("webhook_set", host=urlsplit(url).hostname)


async def wait_until_no_webhook(telegram: TelegramApi) -> None:
    """Return as soon as no webhook is set. A webhook of somebody else is reported, not overwritten."""
    while url := (await _until_answered(telegram.webhook.info, "TELEGRAM_API_URL")).url:
        log.error(
            "webhook_is_set_elsewhere",
            host=urlsplit(url).hostname,
            hint="updates go there. Set WEBHOOK_URL, or run `mnemogram webhook delete` to poll instead",
        )
        await asyncio.sleep(WEBHOOK_CHECK_S)


async def _until_answered(
    call: Callable[[], Awaitable[T]], setting: str, *, is_final: tuple[type[TelegramFailure], ...] = ()
) -> T:
    """Retry a call of the Bot API after every failure except `is_final`, up to 30 s apart."""

    def should_retry(error: Exception) -> bool:
        if not isinstance(error, TelegramFailure) or isinstance(error, is_final):
            return False
        log.warning("waiting_for_telegram", setting=setting, error=str(error))
        return True

    caller = stamina.AsyncRetryingCaller(
        attempts=None, timeout=None, wait_initial=FIRST_PAUSE_S, wait_max=LONGEST_PAUSE_S, wait_jitter=0
    )
    return await caller(should_retry, call)
