"""The one door to python-telegram-bot: the Bot API calls that we make, with our words for their failures."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

import httpx
import telegram
from telegram import error as tg
from telegram.request import BaseRequest, HTTPXRequest

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
)
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import Entity, RichText

T = TypeVar("T")

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""What we ask Telegram for; it must be named, or earlier choices stay in force."""
POLL_S = 25
"""How long one getUpdates waits at Telegram."""

_ADMINISTRATORS = ("creator", "administrator")
_SURELY_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookInfo:
    """What Telegram knows of our webhook; an empty url means that there is none."""

    url: str
    pending_updates: int
    last_error: str
    last_error_at: float | None


class TelegramApi:
    """The Bot API. Every method raises the TelegramFailure errors, whose texts carry neither token nor URL."""

    def __init__(self, bot: telegram.Bot, *, polls: BaseRequest) -> None:
        self._bot = bot
        self._polls = polls

    async def get_me(self) -> BotIdentity:
        """Who we are."""
        me = await _in_our_words(self._bot.get_me())
        return BotIdentity(
            id=me.id,
            username=me.username or "",
            can_read_all_group_messages=bool(me.can_read_all_group_messages),
        )

    async def send_message(
        self, chat_id: int, rich: RichText, *, thread_id: int | None = None, reply_to: int | None = None
    ) -> int:
        """Send one message of at most 4,096 UTF-16 units, without a link preview; its Telegram message id."""
        reply = (
            telegram.ReplyParameters(message_id=reply_to, allow_sending_without_reply=True)
            if reply_to is not None
            else None
        )
        sent = await _in_our_words(
            self._bot.send_message(
                chat_id=chat_id,
                text=rich.text,
                entities=[telegram.MessageEntity(**_fields(e)) for e in rich.entities],
                message_thread_id=thread_id,
                reply_parameters=reply,
                link_preview_options=telegram.LinkPreviewOptions(is_disabled=True),
            )
        )
        return sent.message_id

    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None:
        """Show "typing" for about five seconds."""
        await _in_our_words(
            self._bot.send_chat_action(chat_id=chat_id, action="typing", message_thread_id=thread_id)
        )

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """Whether this person (or, posting anonymously, the group itself) administers the chat."""
        if user_id == chat_id:
            return True
        member = await _in_our_words(self._bot.get_chat_member(chat_id=chat_id, user_id=user_id))
        return member.status in _ADMINISTRATORS

    async def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Register (name, description) pairs for the clients' command menu."""
        await _in_our_words(self._bot.set_my_commands(list(commands)))

    async def set_webhook(self, url: str, *, secret: str, max_connections: int) -> None:
        """Have updates pushed to `url`; what waits stays waiting."""
        await _in_our_words(
            self._bot.set_webhook(
                url=url,
                secret_token=secret,
                max_connections=max_connections,
                allowed_updates=list(ALLOWED_UPDATES),
            )
        )

    async def delete_webhook(self) -> None:
        """Stop the pushing; what waits stays waiting."""
        await _in_our_words(self._bot.delete_webhook())

    async def webhook_info(self) -> WebhookInfo:
        """The webhook as Telegram knows it."""
        info = await _in_our_words(self._bot.get_webhook_info())
        return WebhookInfo(
            url=info.url,
            pending_updates=info.pending_update_count,
            last_error=info.last_error_message or "",
            last_error_at=info.last_error_date.timestamp() if info.last_error_date else None,
        )

    async def get_updates(self, *, offset: int | None) -> list[Mapping[str, Any]]:
        """The next updates, waiting up to POLL_S. An `offset` confirms every update before it.

        They are as Telegram sent them, as the webhook gets them too: the library's own classes add fields, and
        one update that they cannot read would end the polling.
        """
        asked = {"timeout": POLL_S, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        query = urlencode(asked if offset is None else {**asked, "offset": offset})
        polled = self._polls.post(f"{self._bot.base_url}/getUpdates?{query}", read_timeout=POLL_S + 10)
        return cast("list[Mapping[str, Any]]", await _in_our_words(polled))


@asynccontextmanager
async def open_telegram(*, token: str, api_url: str, connections: int = 64) -> AsyncGenerator[TelegramApi]:
    """The Bot API at `api_url`. Nothing is sent yet, so Telegram may be down when we start."""
    # python-telegram-bot 22 warns at each RetryAfter that it builds, unless periods are to be timedeltas.
    os.environ["PTB_TIMEDELTA"] = "true"
    checked = {"event_hooks": {"response": [_check_answer]}}
    calls = HTTPXRequest(
        connection_pool_size=connections,
        connect_timeout=5,
        read_timeout=20,
        write_timeout=20,
        pool_timeout=30,
        httpx_kwargs=checked,
    )
    polls = HTTPXRequest(connection_pool_size=2, connect_timeout=5, pool_timeout=5, httpx_kwargs=checked)
    bot = telegram.Bot(token, base_url=f"{api_url}/bot", request=calls, get_updates_request=polls)
    # Bot.initialize() would ask getMe and fail the start when Telegram is down: only the clients are opened.
    async with calls, polls:
        yield TelegramApi(bot, polls=polls)


async def _check_answer(response: httpx.Response) -> None:
    """Whether the Bot API itself has answered. A gateway (502, 504) does not know what became of the call."""
    if response.is_success or response.is_server_error:
        await response.aread()
        if not _is_of_the_bot_api(response):
            raise httpx.RemoteProtocolError("not an answer of the Bot API", request=response.request)


def _is_of_the_bot_api(response: httpx.Response) -> bool:
    try:
        answer: Any = response.json()
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    return "result" in answer if response.is_success else cast("dict[str, Any]", answer).get("ok") is False


def _fields(entity: Entity) -> dict[str, Any]:
    return dict(entity.to_dict())


def _seconds(period: int | timedelta) -> float:
    return period.total_seconds() if isinstance(period, timedelta) else float(period)


async def _in_our_words(call: Awaitable[T]) -> T:
    try:
        return await call
    except tg.TelegramError as error:
        raise _translated(error) from None  # the original's text may carry the URL, and in it the token


def _translated(error: tg.TelegramError) -> TelegramFailure:
    match error:
        case tg.RetryAfter():
            return TelegramUnavailable("429", retry_after=_seconds(error.retry_after))
        case tg.ChatMigrated():
            return ChatMigrated(error.new_chat_id)
        case tg.Forbidden():
            return ChatUnreachable(error.message)
        case tg.InvalidToken():
            return TelegramRefused("the Bot API does not know this token (TELEGRAM_BOT_TOKEN)")
        case tg.BadRequest() | tg.Conflict():
            return TelegramRefused(error.message)
        case _ if isinstance(error.__cause__, httpx.HTTPError):
            name = type(error.__cause__).__name__
            if isinstance(error.__cause__, _SURELY_NOT_SENT):
                return TelegramUnavailable(name)
            return SendUnknown(name)
        case tg.TimedOut():
            return TelegramUnavailable("no free connection")
        case tg.NetworkError():
            return TelegramUnavailable("the Bot API failed")
        case _:  # an answer of success that cannot be read
            return SendUnknown("the answer cannot be read")
