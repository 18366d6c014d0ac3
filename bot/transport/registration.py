"""How Telegram comes to deliver to us: who we are, the webhook or its absence."""

import asyncio
from urllib.parse import urlsplit

import structlog

from bot.errors import TelegramFailure, TelegramRefused
from bot.transport.gating import BotIdentity
from bot.transport.telegram_api import TelegramApi

log = structlog.get_logger()

LONGEST_PAUSE_S = 30.0
WEBHOOK_CHECK_S = 30.0


async def who_we_are(telegram: TelegramApi) -> BotIdentity:
    """getMe, as often as it takes; a token that Telegram does not know raises TelegramRefused at once."""
    pause = 0.5
    while True:
        try:
            return await telegram.get_me()
        except TelegramRefused:
            raise
        except TelegramFailure as error:
            log.warning(
                "waiting_for_telegram", setting="TELEGRAM_API_URL", error=str(error), retry_in_s=pause
            )
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)


async def set_webhook(telegram: TelegramApi, url: str, *, secret: str, max_connections: int) -> None:
    """setWebhook, as often as it takes."""
    pause = 0.5
    while True:
        try:
            await telegram.webhook.set(url, secret=secret, max_connections=max_connections)
        except TelegramFailure as error:
            log.warning("webhook_not_set", setting="WEBHOOK_URL", error=str(error), retry_in_s=pause)
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)
        else:
            log.info("webhook_set", host=urlsplit(url).hostname)
            return


async def no_webhook_elsewhere(telegram: TelegramApi) -> bool:
    """True once no webhook is set. One that is set belongs to somebody: it is reported, not overwritten."""
    while True:
        try:
            info = await telegram.webhook.info()
        except TelegramFailure as error:
            log.warning("webhook_unknown", error=str(error))
            await asyncio.sleep(1)
            continue
        if not info.url:
            return True
        log.error(
            "webhook_is_set_elsewhere",
            host=urlsplit(info.url).hostname,
            hint="updates go there. Set WEBHOOK_URL, or run `mnemogram webhook delete` to poll instead",
        )
        await asyncio.sleep(WEBHOOK_CHECK_S)
