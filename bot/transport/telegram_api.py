"""The only user of python-telegram-bot: our calls of the Bot API and its files, with errors of our own.

No text of an error carries the token or a URL, because the URL contains the token.
"""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeVar, cast
from urllib.parse import quote, urlencode

import httpx
import telegram
from telegram import error as tg
from telegram.request import BaseRequest, HTTPXRequest

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    FileGone,
    FileTooLarge,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    ThreadGone,
    TokenRefused,
)
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import RichText
from memory.http_calls import HttpCall, shielded, track_request

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""Kinds of updates that we request. Without this list Telegram keeps an earlier choice."""
POLL_S = 25
"""Duration of one getUpdates at Telegram."""

_NOT_PASSED_ON = {401, 403, 404, 408, 425}
"""Statuses of a gateway in front of the Bot API that mean: the call was not passed on, so it may be repeated."""
_ADMINISTRATORS = ("creator", "administrator")
_FILE_ATTEMPTS = 2
_FILE_SILENCE_S = 20
_NOT_MODIFIED = "message is not modified"
"""Answer to an edit that changes nothing."""
_NOT_THERE_TO_DELETE = "message to delete not found"
_QUERY_IS_OLD = "query is too old"
"""Answer to a callback query that was answered already, or that is older than about 15 minutes."""

# Beginnings of the Bot API's descriptions in lower case (tdlib/telegram-bot-api, Client.cpp), after "Bad Request: ".
_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message to delete not found",
    "message can't be deleted",
    "message_id_invalid",
    "there is no text in the message to edit",
)
_NO_THREAD = ("message thread not found", "topic_deleted", "topic_id_invalid")
_NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)

T = TypeVar("T")
CommandScope = Literal["default", "all_private_chats", "all_group_chats", "all_chat_administrators", "chat"]
"""Audience of a command menu; "chat" is one chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An inline button. A press arrives as a callback query with this data (at most 64 bytes)."""

    text: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookInfo:
    """The webhook as Telegram knows it; an empty url means that there is none."""

    url: str
    pending_updates: int
    last_error: str
    last_error_at: float | None


class TelegramApi:
    """The Bot API. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot, *, polls: BaseRequest) -> None:
        self._bot = bot
        self._polls = polls
        self.webhook = TelegramWebhook(bot)

    async def get_me(self) -> BotIdentity:
        """Return the bot's identity."""
        me = await translate_errors(self._bot.get_me())
        return BotIdentity(
            id=me.id,
            username=me.username or "",
            can_read_all_group_messages=bool(me.can_read_all_group_messages),
        )

    async def send_message(
        self,
        chat_id: int,
        rich: RichText,
        *,
        thread_id: int | None = None,
        reply_to: int | None = None,
        buttons: Sequence[Button] = (),
    ) -> int:
        """Send one message of at most 4,096 UTF-16 units, without a link preview. Return its message id."""
        sent = await translate_errors(
            self._bot.send_message(
                chat_id=chat_id,
                text=rich.text,
                entities=_entities(rich) if rich.entities else (),
                message_thread_id=thread_id,
                reply_parameters=None if reply_to is None else _reply(reply_to),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons) if buttons else None,
            )
        )
        return sent.message_id

    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None:
        """Replace the text and the buttons of a message of ours. Repeating is harmless. Raises MessageGone."""
        await _unless(
            _NOT_MODIFIED,
            self._bot.edit_message_text(
                chat_id=chat_id,
                message_id=message_id,
                text=rich.text,
                entities=_entities(rich) if rich.entities else (),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons) if buttons else None,
            ),
        )

    async def remove_buttons(self, chat_id: int, message_id: int) -> None:
        """Remove the buttons of a message of ours. Raises MessageGone."""
        await _unless(
            _NOT_MODIFIED, self._bot.edit_message_reply_markup(chat_id=chat_id, message_id=message_id)
        )

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """Delete a message of ours, if it still exists. Raises MessageGone if it is older than 48 hours."""
        await _unless(_NOT_THERE_TO_DELETE, self._bot.delete_message(chat_id=chat_id, message_id=message_id))

    async def send_document(
        self,
        chat_id: int,
        content: bytes,
        *,
        name: str,
        caption: RichText | None = None,
        thread_id: int | None = None,
        reply_to: int | None = None,
    ) -> int:
        """Send a file with a caption of at most 1,024 UTF-16 units. Return its message id."""
        caption = caption or RichText(text="")
        sent = await translate_errors(
            self._bot.send_document(
                chat_id=chat_id,
                document=content,
                filename=name,
                caption=caption.text or None,
                caption_entities=_entities(caption) if caption.entities else (),
                message_thread_id=thread_id,
                reply_parameters=None if reply_to is None else _reply(reply_to),
                disable_content_type_detection=True,
            )
        )
        return sent.message_id

    async def send_draft(
        self, chat_id: int, draft_id: int, rich: RichText, *, thread_id: int | None = None
    ) -> None:
        """Show a draft in a private chat for 30 seconds, in place of the one with this id (not 0).

        An empty text shows "Thinking…". The next sent message removes it.
        """
        await translate_errors(
            self._bot.send_message_draft(
                chat_id=chat_id,
                draft_id=draft_id,
                text=rich.text,
                entities=_entities(rich) if rich.entities else (),
                message_thread_id=thread_id,
            )
        )

    async def answer_callback(self, callback_id: str, text: str = "", *, is_alert: bool = False) -> None:
        """Answer the press of a button with at most 200 characters. An expired press is ignored."""
        await _unless(
            _QUERY_IS_OLD,
            self._bot.answer_callback_query(callback_id, text=text or None, show_alert=is_alert or None),
        )

    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None:
        """Show "typing" for about five seconds."""
        await translate_errors(
            self._bot.send_chat_action(chat_id=chat_id, action="typing", message_thread_id=thread_id)
        )

    async def member_status(self, chat_id: int, user_id: int) -> str:
        """Return a person's status in a chat: creator, administrator, member, restricted, left or kicked."""
        member = await translate_errors(self._bot.get_chat_member(chat_id=chat_id, user_id=user_id))
        return str(member.status)

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """Return True for an administrator of the chat, and for the group itself (anonymous administrators)."""
        return user_id == chat_id or await self.member_status(chat_id, user_id) in _ADMINISTRATORS

    async def find_file(self, file_id: str) -> str:
        """Return the path of a file for `TelegramFiles`, valid for at least an hour. Raises FileTooLarge, FileGone."""
        try:
            file = await translate_errors(self._bot.get_file(file_id))
        except TelegramRefused as refusal:
            raise (FileTooLarge if "too big" in str(refusal) else FileGone)() from None
        if not file.file_path:
            raise FileGone
        return file.file_path.removeprefix(f"{self._bot.base_file_url}/")

    async def set_commands(
        self,
        commands: Sequence[tuple[str, str]],
        *,
        scope: CommandScope = "default",
        chat_id: int | None = None,
        language: str = "",
    ) -> None:
        """Register (name, description) pairs for a command menu. Without a language it is for all other languages.

        `chat_id` belongs to the scope "chat". Raises TelegramRefused for a chat without contact to the bot.
        """
        audience = (
            telegram.BotCommandScope(scope) if chat_id is None else telegram.BotCommandScopeChat(chat_id)
        )
        await translate_errors(
            self._bot.set_my_commands(list(commands), scope=audience, language_code=language or None)
        )

    async def get_updates(self, *, offset: int | None) -> list[Mapping[str, Any]]:
        """Return the next updates after up to POLL_S. An `offset` confirms all updates before it.

        The updates are raw, as the webhook gets them. The library's classes would add fields, and one unreadable
        update would end the polling.
        """
        query_fields = {"timeout": POLL_S, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        query = urlencode(query_fields if offset is None else {**query_fields, "offset": offset})
        polled = self._polls.post(f"{self._bot.base_url}/getUpdates?{query}", read_timeout=POLL_S + 10)
        return cast("list[Mapping[str, Any]]", await translate_errors(polled))


class TelegramWebhook:
    """The registration of the webhook. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot) -> None:
        self._bot = bot

    async def set(self, url: str, *, secret: str, max_connections: int) -> None:
        """Register `url`. Pending updates stay pending."""
        await translate_errors(
            self._bot.set_webhook(
                url=url,
                secret_token=secret,
                max_connections=max_connections,
                allowed_updates=list(ALLOWED_UPDATES),
            )
        )

    async def delete(self) -> None:
        """Remove the webhook. Pending updates stay pending."""
        await translate_errors(self._bot.delete_webhook())

    async def info(self) -> WebhookInfo:
        """Return the webhook as Telegram knows it."""
        info = await translate_errors(self._bot.get_webhook_info())
        return WebhookInfo(
            url=info.url,
            pending_updates=info.pending_update_count,
            last_error=info.last_error_message or "",
            last_error_at=info.last_error_date.timestamp() if info.last_error_date else None,
        )


@asynccontextmanager
async def open_telegram(*, token: str, api_url: str, connections: int = 64) -> AsyncGenerator[TelegramApi]:
    """Open the Bot API at `api_url`. Nothing is sent yet, so Telegram may be down at the start."""
    # Without this, python-telegram-bot 22 warns at each RetryAfter that periods will be timedeltas.
    os.environ["PTB_TIMEDELTA"] = "true"
    checked = {"event_hooks": {"request": [track_request], "response": [_check_answer]}}
    calls = HTTPXRequest(
        connection_pool_size=connections,
        connect_timeout=5,
        read_timeout=20,
        write_timeout=20,
        pool_timeout=30,
        httpx_kwargs=checked,
    )
    polls = HTTPXRequest(connection_pool_size=2, connect_timeout=5, pool_timeout=5, httpx_kwargs=checked)
    bot = telegram.Bot(
        token,
        base_url=f"{api_url}/bot",
        base_file_url=f"{api_url}/file/bot",
        request=calls,
        get_updates_request=polls,
    )
    # Bot.initialize() would call getMe, and fail the start while Telegram is down.
    async with calls, polls:
        yield TelegramApi(bot, polls=polls)


class TelegramFiles:
    """The files of the Bot API."""

    def __init__(self, find_file: Callable[[str], Awaitable[str]], client: httpx.AsyncClient) -> None:
        self._find_file = find_file
        self._client = client

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """Return the whole file. A failure is retried once, because Telegram moves files and connections break.

        Raises FileTooLarge if the file exceeds `at_most` bytes or the Bot API's own limit, FileGone if it does not
        exist (any more), and TelegramUnavailable.
        """
        for _ in range(_FILE_ATTEMPTS - 1):
            try:
                return await self._fetch(file_id, at_most)
            except (FileGone, TelegramUnavailable):
                pass
        return await self._fetch(file_id, at_most)

    async def _fetch(self, file_id: str, at_most: int) -> bytes:
        # Quoted, because a path that is a whole URL would send us to another server, perhaps inside our network.
        path = quote(await self._find_file(file_id), errors="replace")
        try:
            return await shielded(self._get(path, at_most))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TelegramUnavailable(type(error).__name__) from None

    async def _get(self, path: str, at_most: int) -> bytes:
        async with self._client.stream("GET", path) as response:
            return await _content(response, at_most)


@asynccontextmanager
async def open_files(
    find_file: Callable[[str], Awaitable[str]], *, token: str, api_url: str, connections: int = 100
) -> AsyncGenerator[TelegramFiles]:
    """Open the files of the Bot API at `api_url`, with up to `connections` connections."""
    async with httpx.AsyncClient(
        base_url=f"{api_url}/file/bot{token}/",
        timeout=httpx.Timeout(_FILE_SILENCE_S, connect=5),
        limits=httpx.Limits(max_connections=connections),
        event_hooks={"request": [track_request]},
    ) as client:
        yield TelegramFiles(find_file, client)


class NotPassedOn(httpx.HTTPError):
    """A gateway in front of the Bot API has refused the call and not passed it on."""


async def translate_errors(call: Awaitable[T]) -> T:
    """Await a call and raise the TelegramFailure errors. It may be cancelled at any moment (see `shielded`)."""
    http_call = HttpCall()
    try:
        return await shielded(call, http_call)
    except tg.TelegramError as error:
        failure = _translated(error, may_be_sent=http_call.was_sent)
    raise failure  # without the cause, whose text may carry the URL and so the token


def _translated(error: tg.TelegramError, *, may_be_sent: bool) -> TelegramFailure:
    match error:
        case tg.RetryAfter():
            return TelegramUnavailable("429", retry_after=_seconds(error.retry_after))
        case tg.ChatMigrated():
            return ChatMigrated(error.new_chat_id)
        case tg.Forbidden():
            return ChatUnreachable(error.message)
        case tg.InvalidToken():
            return TokenRefused("the Bot API does not know this token (TELEGRAM_BOT_TOKEN)")
        case tg.BadRequest() | tg.Conflict():
            return _refusal(error.message)
        case _ if isinstance(error.__cause__, httpx.HTTPError):
            if isinstance(error.__cause__, NotPassedOn):
                return TelegramUnavailable(str(error.__cause__))
            name = type(error.__cause__).__name__
            return SendUnknown(name) if may_be_sent else TelegramUnavailable(name)
        case tg.TimedOut():
            return TelegramUnavailable("no free connection")
        case tg.NetworkError():
            return TelegramUnavailable("the Bot API failed")
        case _:  # an unreadable response with status 200
            return SendUnknown("the response cannot be read")


def _refusal(message: str) -> TelegramRefused:
    text = message.lower()
    if text.startswith(_GONE):
        return MessageGone(message)
    if text.startswith(_NO_THREAD):
        return ThreadGone(message)
    return TelegramRefused(message)


def _seconds(period: int | timedelta) -> float:
    return period.total_seconds() if isinstance(period, timedelta) else float(period)


async def _check_answer(response: httpx.Response) -> None:
    """Raise an error unless the Bot API itself has answered.

    After a 502 or 504 of a gateway the outcome of the call is unknown. With the statuses in _NOT_PASSED_ON the
    gateway has not passed the call on.
    """
    if response.is_success or response.is_server_error or response.status_code in _NOT_PASSED_ON:
        await response.aread()
        if _is_of_the_bot_api(response):
            return
        if response.status_code in _NOT_PASSED_ON:
            raise NotPassedOn(f"HTTP {response.status_code} from a gateway")
        raise httpx.RemoteProtocolError("not a response of the Bot API", request=response.request)


def _is_of_the_bot_api(response: httpx.Response) -> bool:
    try:
        answer: Any = response.json()
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    return "result" in answer if response.is_success else cast("dict[str, Any]", answer).get("ok") is False


async def _unless(harmless: str, call: Awaitable[object]) -> None:
    """Make the call and ignore a refusal whose text begins with `harmless`."""
    try:
        await translate_errors(call)
    except TelegramRefused as error:
        if not str(error).lower().startswith(harmless):
            raise


def _entities(rich: RichText) -> list[telegram.MessageEntity]:
    return [telegram.MessageEntity(**entity.to_dict()) for entity in rich.entities]


def _reply(message_id: int) -> telegram.ReplyParameters:
    return telegram.ReplyParameters(message_id=message_id, allow_sending_without_reply=True)


def _keyboard(buttons: Sequence[Button]) -> telegram.InlineKeyboardMarkup:
    row = [telegram.InlineKeyboardButton(button.text, callback_data=button.data) for button in buttons]
    return telegram.InlineKeyboardMarkup([row])


async def _content(response: httpx.Response, at_most: int) -> bytes:
    if response.status_code in (400, 404, 410):
        raise FileGone
    if not response.is_success:
        raise TelegramUnavailable(f"HTTP {response.status_code} for a file")
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > at_most:
        raise FileTooLarge
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > at_most:
            raise FileTooLarge
    return bytes(content)
