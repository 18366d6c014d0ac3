"""A code that makes its sender an operator, read from the bot's updates without taking anybody's away."""

import asyncio
import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

from bot.cli.failures import CommandFailed
from bot.cli.webhook import open_bot_api
from bot.errors import TelegramFailure, TelegramRefused
from bot.settings import Settings
from bot.transport.telegram_api import TelegramApi
from bot.transport.updates import IncomingMessage, ParsedUpdate, parse_update

CODE_S = 300
"""Time for the code to arrive."""
MOST_UPDATES = 100
"""Updates that one getUpdates returns. If more wait, the newest cannot be read without confirming the oldest."""
_PAUSE_S = 1.0


async def receive_operator(settings: Settings, *, say: Callable[[str], None]) -> tuple[int, str]:
    """Show a new code and return the id and the name of the person who sends it to the bot.

    Raises CommandFailed if no code arrives in CODE_S, or if the updates go elsewhere.
    """
    code = secrets.token_hex(4)
    async with open_bot_api(settings) as telegram:
        try:
            await _check_way(telegram)
            username = (await telegram.get_me()).username
            say(f"Open https://t.me/{username}?start={code} and press Start.")
            say(f"Or send this code to @{username}: {code}")
            say(f"Waiting for it, up to {CODE_S // 60} minutes …")
            async with asyncio.timeout(CODE_S):
                return await _wait(telegram, code)
        except TimeoutError:
            raise CommandFailed("The code did not arrive in time.") from None
        except TelegramRefused as refusal:
            raise CommandFailed(f"The updates cannot be read here: {refusal}") from None
        except TelegramFailure as failure:
            raise CommandFailed(f"The Bot API does not answer ({failure}).") from None


async def _check_way(telegram: TelegramApi) -> None:
    info = await telegram.webhook.info()
    if info.url:
        raise CommandFailed(
            f"The bot's updates go to a webhook at {urlsplit(info.url).hostname}, so a code cannot be read here."
        )
    if info.pending_updates >= MOST_UPDATES:
        raise _crowded()


async def _wait(telegram: TelegramApi, code: str) -> tuple[int, str]:
    """Poll until the code arrives. No offset is sent, so that every update stays at Telegram for the bot.

    Only if nothing waits before the code but /start of its sender, both are confirmed: the bot need not see them.
    """
    while True:
        raw = await telegram.get_updates(offset=None)
        updates = list(map(parse_update, raw))
        for number, update in enumerate(updates):
            if (message := _private_text(update)) and message.text.split() in ([code], ["/start", code]):
                before = [_private_text(each) for each in updates[:number]]
                if all(one and one.text == "/start" and one.chat_id == message.chat_id for one in before):
                    await telegram.get_updates(offset=update.update_id + 1, wait_s=0)
                return message.chat_id, message.sender_name
        if len(raw) >= MOST_UPDATES:
            raise _crowded()
        if raw:  # they are returned at once, each time
            await asyncio.sleep(_PAUSE_S)


def _private_text(update: ParsedUpdate) -> IncomingMessage | None:
    """Return the message that a person wrote in their private chat, whose id is theirs."""
    message = update.message if update.kind == "message" else None
    if message is None or message.chat_type != "private" or message.is_from_bot or message.forwarded_from:
        return None
    return message


def _crowded() -> CommandFailed:
    return CommandFailed(
        f"{MOST_UPDATES} updates or more wait at Telegram, so a code cannot be seen. Start the bot once to take them."
    )
