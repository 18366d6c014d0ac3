"""What `mnemogram webhook` does and prints."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from bot.cli.bot_api import bot_api_url
from bot.cli.failures import CommandFailed
from bot.cli.output import count, iso, print_facts, print_json, print_line, utc
from bot.settings import Settings
from bot.transport.telegram_api import TelegramApi, WebhookInfo, open_telegram


async def set_webhook(settings: Settings, url: str) -> None:
    """Set it, and read it back. Raises CommandFailed if Telegram then names another one."""
    async with open_bot_api(settings) as telegram:
        await telegram.webhook.set(
            url, secret=settings.secret, max_connections=settings.webhook_max_connections
        )
        found = await telegram.webhook.info()
    if found.url != url:
        raise CommandFailed(f"Telegram took the webhook, but now names {_host(found.url)}: who else sets it?")
    print_line(f"Telegram pushes updates to {url}. {_waiting(found)}")


async def print_webhook(settings: Settings, *, as_json: bool) -> None:
    """Print the webhook as Telegram knows it."""
    async with open_bot_api(settings) as telegram:
        found = await telegram.webhook.info()
    if as_json:
        print_json(
            {
                "url": _shown(found.url, settings) or None,
                "is_ours": _is_ours(found.url, settings),
                "pending_updates": found.pending_updates,
                "last_error": found.last_error or None,
                "last_error_at": iso(found.last_error_at),
            }
        )
    elif not found.url:
        print_line(f"No webhook is set: updates are polled. {_waiting(found)}")
    else:
        is_ours = _is_ours(found.url, settings)
        error = f"{found.last_error} ({utc(found.last_error_at)} UTC)" if found.last_error else "none"
        print_facts(
            [
                ("webhook", _shown(found.url, settings) + ("" if is_ours else " (not our WEBHOOK_URL)")),
                ("waiting", count(found.pending_updates, "update")),
                ("last error", error),
            ]
        )


async def delete_webhook(settings: Settings) -> None:
    """Delete it; said also where there was none."""
    async with open_bot_api(settings) as telegram:
        before = await telegram.webhook.info()
        await telegram.webhook.delete()
    if not before.url:
        print_line(f"There was no webhook. {_waiting(before)}")
    else:
        print_line(f"The webhook at {_host(before.url)} is deleted. {_waiting(before)}")


@asynccontextmanager
async def open_bot_api(settings: Settings) -> AsyncGenerator[TelegramApi]:
    """The Bot API of these settings, or the running simulator's."""
    async with open_telegram(token=settings.token, api_url=bot_api_url(settings), connections=4) as telegram:
        yield telegram


def _waiting(found: WebhookInfo) -> str:
    pending = found.pending_updates
    return f"{count(pending, 'update')} {'waits' if pending == 1 else 'wait'} at Telegram."


def _is_ours(url: str, settings: Settings) -> bool:
    return bool(url) and url == settings.webhook_url


def _shown(url: str, settings: Settings) -> str:
    """A foreign address without its path, which may be somebody's secret."""
    return url if not url or _is_ours(url, settings) else f"{urlsplit(url).scheme}://{_host(url)}/…"


def _host(url: str) -> str:
    return urlsplit(url).hostname or "none"
