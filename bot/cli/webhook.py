"""`webhook set`, `webhook info`, `webhook delete`, and the Bot API server that the console uses."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from bot.cli.failures import WRONG_USE, CommandFailed, print_error
from bot.cli.output import count, print_facts, print_json, print_line, utc
from bot.cli.session import AsJson, finish, load_quietly
from bot.times import iso

if TYPE_CHECKING:
    from bot.settings import Settings
    from bot.transport.telegram_api import TelegramApi, WebhookInfo

    BotApi = AbstractAsyncContextManager[TelegramApi]

SIMULATOR_HOST = "127.0.0.1"
SIMULATOR_PORT = 8081
SimulatorHost = Annotated[
    str,
    typer.Option(
        envvar="SIMULATOR_HOST",
        help="Address on which the simulator listens. Its page needs no password: leave it on loopback, except in a "
        "container.",
    ),
]
SimulatorPort = Annotated[
    int, typer.Option(min=0, max=65535, help="Port of the simulator and its chat page.")
]


def set_(simulator_port: SimulatorPort = SIMULATOR_PORT) -> None:
    """Make Telegram push updates to WEBHOOK_URL. Waiting updates stay there."""
    settings = load_quietly()
    if settings.webhook_url is None:
        print_error("WEBHOOK_URL: is not set; set it to the bot's public https address")
        raise typer.Exit(WRONG_USE)
    bot_api = open_bot_api(settings, simulator_port=simulator_port)
    finish(settings, _set(settings, bot_api, settings.webhook_url))


def info(simulator_port: SimulatorPort = SIMULATOR_PORT, as_json: AsJson = False) -> None:
    """Show the webhook at Telegram, the number of updates that wait there, and its last error."""
    settings = load_quietly()
    bot_api = open_bot_api(settings, simulator_port=simulator_port)
    finish(settings, _print_info(settings, bot_api, as_json=as_json))


def delete(simulator_port: SimulatorPort = SIMULATOR_PORT) -> None:
    """Stop the pushes from Telegram, so that updates can be polled. Waiting updates stay there."""
    settings = load_quietly()
    finish(settings, _delete(open_bot_api(settings, simulator_port=simulator_port)))


def simulates(settings: "Settings") -> bool:
    """Return True if `run` starts the simulator: there is no token, and TELEGRAM_API_URL is Telegram's own server."""
    is_telegram = settings.telegram_api_url == type(settings).model_fields["telegram_api_url"].default
    return settings.is_simulated and is_telegram


def bot_api_url(settings: "Settings", *, simulator_port: int) -> str:
    """Return the URL of the Bot API server: TELEGRAM_API_URL, or the simulator of a running `mnemogram run`."""
    if simulates(settings):
        return f"http://{SIMULATOR_HOST}:{simulator_port}"
    return settings.telegram_api_url


def open_bot_api(settings: "Settings", *, simulator_port: int = SIMULATOR_PORT) -> "BotApi":
    """Open a client of the Bot API server."""
    from bot.settings import InlineMode
    from bot.transport.telegram_api import open_telegram

    api_url, has_inline = bot_api_url(settings, simulator_port=simulator_port), settings.of(InlineMode).inline
    return open_telegram(token=settings.token, api_url=api_url, connections=2, has_inline=has_inline)


async def _set(settings: "Settings", bot_api: "BotApi", url: str) -> None:
    """Set the webhook and read it back. Raises CommandFailed if Telegram then names another one."""
    from bot.settings import WEBHOOK_CONNECTIONS

    async with bot_api as telegram:
        await telegram.webhook.set(url, secret=settings.secret, max_connections=WEBHOOK_CONNECTIONS)
        present = await telegram.webhook.info()
    if present.url != url:
        raise CommandFailed(
            f"Telegram accepted the webhook, but now has one at {_host(present.url)}. "
            "Another program with this token may set it."
        )
    print_line(f"Telegram pushes updates to {url}. {_waiting(present)}")


async def _print_info(settings: "Settings", bot_api: "BotApi", *, as_json: bool) -> None:
    async with bot_api as telegram:
        present = await telegram.webhook.info()
    is_ours = bool(present.url) and present.url == settings.webhook_url
    # The path of another program's address may be a secret.
    url = present.url
    if url and not is_ours:
        url = f"{urlsplit(url).scheme}://{_host(url)}/…"
    if as_json:
        print_json(
            {
                "url": url or None,
                "is_ours": is_ours,
                "pending_updates": present.pending_updates,
                "last_error": present.last_error or None,
                "last_error_at": iso(present.last_error_at),
            }
        )
    elif not url:
        print_line(f"No webhook is set: updates are polled. {_waiting(present)}")
    else:
        error = f"{present.last_error} ({utc(present.last_error_at)} UTC)" if present.last_error else "none"
        print_facts(
            [
                ("webhook", url if is_ours else f"{url} (not our WEBHOOK_URL)"),
                ("waiting", count(present.pending_updates, "update")),
                ("last error", error),
            ]
        )


async def _delete(bot_api: "BotApi") -> None:
    async with bot_api as telegram:
        before = await telegram.webhook.info()
        await telegram.webhook.delete()
    result = f"The webhook at {_host(before.url)} is deleted." if before.url else "There was no webhook."
    print_line(f"{result} {_waiting(before)}")


def _waiting(webhook: "WebhookInfo") -> str:
    pending = webhook.pending_updates
    return f"{count(pending, 'update')} {'waits' if pending == 1 else 'wait'} at Telegram."


def _host(url: str) -> str:
    return urlsplit(url).hostname or "no address"
