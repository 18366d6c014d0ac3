"""Checks of the bot at Telegram: its token, privacy mode, and the webhook's state against WEBHOOK_URL."""

import time
from urllib.parse import urlsplit

from bot.cli.bot_api import bot_api_url, simulates
from bot.cli.checks.findings import Finding, fail, ok, warn
from bot.cli.output import age, count
from bot.errors import TelegramFailure, TelegramRefused
from bot.settings import Settings
from bot.transport.gating import BotIdentity
from bot.transport.telegram_api import WebhookInfo, open_telegram

_RECENT_S = 3600
_MANY_PENDING = 100


async def check_bot(settings: Settings) -> list[Finding]:
    """The token, by getMe, and privacy mode. Raises TelegramFailure when Telegram does not answer."""
    async with open_telegram(token=settings.token, api_url=bot_api_url(settings), connections=2) as telegram:
        try:
            bot = await telegram.get_me()
        except TelegramRefused as refusal:
            return [fail("telegram", str(refusal), "Ask @BotFather for the token: /mybots → API Token.")]
        except TelegramFailure:
            if simulates(settings):
                return [_no_simulator(settings)]
            raise
    place = "the simulator" if simulates(settings) else urlsplit(settings.telegram_api_url).hostname
    return [ok("telegram", f"@{bot.username} ({bot.id}) at {place}"), _privacy(bot)]


async def check_webhook(settings: Settings) -> list[Finding]:
    """Where the updates go, against WEBHOOK_URL. Raises TelegramFailure when Telegram does not answer."""
    async with open_telegram(token=settings.token, api_url=bot_api_url(settings), connections=2) as telegram:
        try:
            info = await telegram.webhook.info()
        except TelegramFailure:
            if simulates(settings):
                return []  # `telegram` says it
            raise
    return judge_webhook(info, wanted=settings.webhook_url, now=time.time())


def judge_webhook(info: WebhookInfo, *, wanted: str | None, now: float) -> list[Finding]:
    """The webhook that is set, against the one that is wanted; then how it fares."""
    findings = [_judge_address(info.url, wanted)]
    if info.url and info.last_error and now - (info.last_error_at or now) < _RECENT_S:
        ago = age(now - (info.last_error_at or now))
        findings.append(
            warn(
                "webhook",
                f"Telegram could not deliver {ago} ago: {info.last_error}",
                "See that the address reaches HTTP_PORT and that its certificate is valid; Telegram tries again.",
            )
        )
    if info.pending_updates >= _MANY_PENDING:
        waiting = count(info.pending_updates, "update")
        findings.append(warn("webhook", f"{waiting} wait at Telegram", "Start `mnemogram run` or `serve`."))
    return findings


def _judge_address(found: str, wanted: str | None) -> Finding:
    host = urlsplit(found).hostname
    if wanted is None and not found:
        return ok("webhook", "none, and WEBHOOK_URL is not set: updates are polled")
    if wanted is None:
        return fail(
            "webhook",
            f"updates go to {host}, and WEBHOOK_URL is not set: polling gets none of them",
            "Set WEBHOOK_URL, or take it away with `mnemogram webhook delete`.",
        )
    if found == wanted:
        return ok("webhook", f"Telegram pushes to WEBHOOK_URL ({host})")
    if not found:
        return warn(
            "webhook",
            "not set yet: `mnemogram run` and `serve` set it when they start",
            "Start one of them, or `mnemogram webhook set`.",
        )
    return fail(
        "webhook",
        f"updates go to {host}, not to WEBHOOK_URL",
        "See whether another program uses this token; `mnemogram webhook set` takes the updates over.",
    )


def _privacy(bot: BotIdentity) -> Finding:
    if bot.can_read_all_group_messages:
        return ok(
            "privacy", "privacy mode is off: in groups the bot gets every message, and answers when addressed"
        )
    return ok(
        "privacy",
        "privacy mode is on: in groups the bot gets commands, mentions and replies to it, and nothing else. "
        "To change that: @BotFather → /setprivacy → Disable, then add it to each group anew.",
    )


def _no_simulator(settings: Settings) -> Finding:
    return warn(
        "telegram",
        "TELEGRAM_BOT_TOKEN is not set, and no simulator runs",
        "Start `mnemogram run` for the simulator (its page: "
        f"{bot_api_url(settings)}), or set the token of a bot from @BotFather.",
    )
