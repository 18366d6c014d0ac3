"""Our calls of the Bot API, by python-telegram-bot."""

import os
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, cast
from urllib.parse import quote

import aiohttp
import telegram
from telegram.warnings import PTBUserWarning
from yarl import URL

from bot.errors import FileGone, FileTooLarge, TelegramRefused, TelegramUnavailable
from bot.transport.forms import ChatPlace
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import RichText
from bot.transport.telegram_request import AiohttpRequest, translated_errors
from bot.transport.updates import CHOSEN_RESULT, INLINE_QUERY
from memory.causes import find_cause
from memory.http_calls import open_session

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""Kinds of updates that we request. Without this list Telegram keeps an earlier choice."""
INLINE_UPDATES = (INLINE_QUERY, CHOSEN_RESULT)
"""Kinds that inline mode needs too."""
POLL_S = 25
"""Duration of one getUpdates at Telegram."""

_CONNECT_S, _WAIT_S, _SILENCE_S = 5, 30, 20
"""Time limits of a connection attempt, of the wait for a free connection, and of silence."""
_CALLS = aiohttp.ClientTimeout(
    connect=_WAIT_S + _CONNECT_S,
    sock_connect=_CONNECT_S,
    sock_read=_SILENCE_S,
    total=_WAIT_S + _CONNECT_S + 2 * _SILENCE_S,
)
_POLLS = aiohttp.ClientTimeout(
    connect=2 * _CONNECT_S, sock_connect=_CONNECT_S, sock_read=POLL_S + 10, total=POLL_S + 30
)
_DOWNLOADS = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_SILENCE_S)

MEMBERS = ("creator", "administrator", "member", "restricted")
_NOT_MODIFIED = "message is not modified"
"""Answer to an edit that changes nothing."""
_NOT_THERE_TO_DELETE = "message to delete not found"
_QUERY_IS_OLD = "query is too old"
"""Answer to a callback query that was answered already, or that is too old.

Reports of the limit differ from some seconds to 15 minutes (eternnoir/pyTelegramBotAPI#1615).
"""
_NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)

CommandScope = Literal["default", "all_private_chats", "all_group_chats", "all_chat_administrators", "chat"]
"""Audience of a command menu; "chat" is one chat."""
FileKind = Literal["document", "photo", "voice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An inline button. It has exactly one of `data`, `url` and `web_app`."""

    text: str
    data: str = ""
    """A press arrives as a callback query with this data, at most 64 bytes."""
    url: str = ""
    """The link that a press opens."""
    web_app: str = ""
    """The https address of the Mini App that a press opens; in private chats only."""
    row: int = 0
    """Number of its row. Consecutive buttons with the same number stand in one row, at most eight of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookInfo:
    """The webhook as Telegram knows it; an empty url means that there is none."""

    url: str
    pending_updates: int
    last_error: str
    last_error_at: float | None


class SentPhoto(int):
    """The id of a message that is a photo."""

    file_id: str = ""
    """Name of the photo for getFile; "" if Telegram does not say."""

    @classmethod
    def of(cls, sent: telegram.Message) -> "SentPhoto":
        """Return the id of this message."""
        photo = cls(sent.message_id)
        photo.file_id = sent.photo[-1].file_id if sent.photo else ""
        return photo


class TelegramApi:
    """The Bot API. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot, *, allowed_updates: Sequence[str] = ALLOWED_UPDATES) -> None:
        self._bot = bot
        self._allowed_updates = allowed_updates
        self.webhook = TelegramWebhook(bot, allowed_updates)
        self.inline = TelegramInline(bot)

    async def get_me(self) -> BotIdentity:
        """Return the bot's identity."""
        with translated_errors():
            me = await self._bot.get_me()
        return BotIdentity(
            id=me.id,
            username=me.username or "",
            name=me.first_name,
            can_read_all_group_messages=me.can_read_all_group_messages is True,
            supports_inline_queries=me.supports_inline_queries is True,
            has_main_web_app=me.has_main_web_app is True,
        )

    async def send_message(
        self, to: ChatPlace, rich: RichText, *, reply_to: int | None = None, buttons: Sequence[Button] = ()
    ) -> int:
        """Send one message of at most 4,096 UTF-16 units, without a link preview. Return its message id."""
        with translated_errors():
            sent = await self._bot.send_message(
                to.chat_id,
                rich.text,
                **to.topic,
                reply_to_message_id=reply_to,
                allow_sending_without_reply=True,
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons),
                api_kwargs=_entities(rich),
            )
            return sent.message_id

    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None:
        """Replace the text and the buttons of a message of ours. Repeating is harmless. Raises MessageGone."""
        with translated_errors(harmless=_NOT_MODIFIED):
            await self._bot.edit_message_text(
                rich.text,
                chat_id,
                message_id,
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons),
                api_kwargs=_entities(rich),
            )

    async def remove_buttons(self, chat_id: int, message_id: int) -> None:
        """Remove the buttons of a message of ours. Raises MessageGone."""
        with translated_errors(harmless=_NOT_MODIFIED):
            await self._bot.edit_message_reply_markup(chat_id, message_id)

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """Delete a message of ours, if it still exists. Raises MessageGone if it is older than 48 hours."""
        with translated_errors(harmless=_NOT_THERE_TO_DELETE):
            await self._bot.delete_message(chat_id, message_id)

    async def send_file(
        self,
        to: ChatPlace,
        content: bytes,
        *,
        kind: FileKind = "document",
        name: str,
        caption: RichText | None = None,
        reply_to: int | None = None,
    ) -> int:
        """Send a file with a caption of at most 1,024 UTF-16 units. Return its message id, a SentPhoto for a photo."""
        caption = caption or RichText(text="")
        options: dict[str, Any] = {
            "filename": name,
            "caption": caption.text or None,
            **to.topic,
            "reply_to_message_id": reply_to,
            "allow_sending_without_reply": True,
            "api_kwargs": _entities(caption, field="caption_entities"),
        }
        with translated_errors():
            if kind == "photo":
                return SentPhoto.of(await self._bot.send_photo(to.chat_id, content, **options))
            if kind == "voice":
                return (await self._bot.send_voice(to.chat_id, content, **options)).message_id
            sent = await self._bot.send_document(
                to.chat_id, content, disable_content_type_detection=True, **options
            )
            return sent.message_id

    async def send_draft(self, to: ChatPlace, draft_id: int, rich: RichText) -> None:
        """Show a draft in a private chat for 30 seconds, in place of the one with this id (not 0).

        An empty text shows "Thinking…". The next sent message removes it.
        """
        with translated_errors():
            await self._bot.send_message_draft(
                to.chat_id, draft_id, rich.text, message_thread_id=to.thread_id, api_kwargs=_entities(rich)
            )

    async def answer_callback(self, callback_id: str, text: str = "", *, is_alert: bool = False) -> bool:
        """Answer the press of a button with at most 200 characters. Return False if the press has expired."""
        with translated_errors(harmless=_QUERY_IS_OLD):
            return await self._bot.answer_callback_query(callback_id, text or None, is_alert or None)
        return False

    async def send_typing(self, to: ChatPlace) -> None:
        """Show "typing" for about five seconds."""
        with translated_errors():
            await self._bot.send_chat_action(to.chat_id, "typing", to.thread_id)

    async def member_status(self, chat_id: int, user_id: int) -> str:
        """Return a person's status in a chat: one of MEMBERS if they are in it, left or kicked if they are not."""
        with translated_errors():
            member = await self._bot.get_chat_member(chat_id, user_id)
        is_outside = isinstance(member, telegram.ChatMemberRestricted) and not member.is_member
        return "left" if is_outside else str(member.status)

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """Return True for an administrator of the group, and for the group itself (anonymous administrators).

        Every bot in the group gets this list. It gets the status of others for sure only as an administrator itself.
        """
        if user_id == chat_id:
            return True
        with translated_errors():
            administrators = await self._bot.get_chat_administrators(chat_id)
        return any(each.user.id == user_id for each in administrators)

    async def find_file(self, file_id: str) -> str:
        """Return the path of a file for `TelegramFiles`, valid for at least an hour. Raises FileTooLarge, FileGone."""
        try:
            with translated_errors():
                file = await self._bot.get_file(file_id)
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
        with translated_errors():
            await self._bot.set_my_commands(list(commands), audience, language or None)

    async def get_updates(self, *, offset: int | None, wait_s: int = POLL_S) -> list[Mapping[str, Any]]:
        """Return the next updates after up to `wait_s`. An `offset` confirms all updates before it.

        The updates are raw, as the webhook gets them. The library's classes would add fields, and one unreadable
        update would end the polling.
        """
        query = {"timeout": wait_s, "allowed_updates": self._allowed_updates, "offset": offset}
        with translated_errors():
            updates = await self._bot.do_api_request("getUpdates", query)
        return cast("list[Mapping[str, Any]]", updates)


class TelegramWebhook:
    """The registration of the webhook. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot, allowed_updates: Sequence[str]) -> None:
        self._bot = bot
        self._allowed_updates = allowed_updates

    async def set(self, url: str, *, secret: str, max_connections: int) -> None:
        """Register `url`. Pending updates stay pending."""
        with translated_errors():
            await self._bot.set_webhook(
                url,
                secret_token=secret,
                max_connections=max_connections,
                allowed_updates=self._allowed_updates,
            )

    async def delete(self) -> None:
        """Remove the webhook. Pending updates stay pending."""
        with translated_errors():
            await self._bot.delete_webhook()

    async def info(self) -> WebhookInfo:
        """Return the webhook as Telegram knows it."""
        with translated_errors():
            info = await self._bot.get_webhook_info()
        return WebhookInfo(
            url=info.url,
            pending_updates=info.pending_update_count,
            last_error=info.last_error_message or "",
            last_error_at=info.last_error_date.timestamp() if info.last_error_date else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineResult:
    """The one result that an inline query gets. Chosen, it sends `rich` with the button under it."""

    id: str
    title: str
    description: str
    rich: RichText
    button: Button


class TelegramInline:
    """Inline queries and the messages that their results become. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot) -> None:
        self._bot = bot

    async def answer(self, query_id: str, result: InlineResult | None) -> None:
        """Show the result, or none, to this person only. An expired query is ignored."""
        shown: list[telegram.InlineQueryResult] = []
        if result is not None:
            content = telegram.InputTextMessageContent(
                result.rich.text, link_preview_options=_NO_PREVIEW, api_kwargs=_entities(result.rich)
            )
            article = telegram.InlineQueryResultArticle(
                result.id,
                result.title,
                content,
                reply_markup=_keyboard([result.button]),
                description=result.description,
            )
            shown.append(article)
        with translated_errors(harmless=_QUERY_IS_OLD):
            await self._bot.answer_inline_query(query_id, shown, cache_time=0, is_personal=True)

    async def edit(self, inline_id: str, rich: RichText) -> None:
        """Replace the text of a message that a result became, and remove its button. Repeating is harmless."""
        with translated_errors(harmless=_NOT_MODIFIED):
            await self._bot.edit_message_text(
                rich.text,
                inline_message_id=inline_id,
                link_preview_options=_NO_PREVIEW,
                api_kwargs=_entities(rich),
            )


@asynccontextmanager
async def open_telegram(
    *, token: str, api_url: str, connections: int = 64, has_inline: bool = False
) -> AsyncGenerator[TelegramApi]:
    """Open the Bot API at `api_url`. Nothing is sent yet, so Telegram may be down at the start."""
    # python-telegram-bot warns at each RetryAfter that periods will be timedeltas, and at each poll for raw updates.
    os.environ["PTB_TIMEDELTA"] = "true"
    warnings.filterwarnings("ignore", "Please use 'Bot.getUpdates'", PTBUserWarning)
    async with (
        open_session(api_url, connections=connections, timeout=_CALLS, is_traced=True) as calls,
        open_session(api_url, connections=2, timeout=_POLLS, is_traced=True) as polls,
    ):
        # Bot.initialize() would call getMe, and fail the start while Telegram is down.
        yield TelegramApi(
            telegram.Bot(
                token,
                base_url=f"{api_url}/bot",
                base_file_url=f"{api_url}/file/bot",
                request=AiohttpRequest(calls),
                get_updates_request=AiohttpRequest(polls),
            ),
            allowed_updates=(*ALLOWED_UPDATES, *INLINE_UPDATES) if has_inline else ALLOWED_UPDATES,
        )


def _entities(rich: RichText, *, field: str = "entities") -> dict[str, Any]:
    """Return the parameter as plain JSON. The library's class takes ten times the CPU of an entity."""
    return {field: [entity.to_dict() for entity in rich.entities]} if rich.entities else {}


def _keyboard(buttons: Sequence[Button]) -> telegram.InlineKeyboardMarkup | None:
    if not buttons:
        return None
    rows = groupby(buttons, key=attrgetter("row"))
    return telegram.InlineKeyboardMarkup([list(map(_inline_button, row)) for _, row in rows])


def _inline_button(button: Button) -> telegram.InlineKeyboardButton:
    return telegram.InlineKeyboardButton(
        button.text,
        callback_data=button.data or None,
        url=button.url or None,
        web_app=telegram.WebAppInfo(button.web_app) if button.web_app else None,
    )


class TelegramFiles:
    """The files of the Bot API."""

    def __init__(
        self, find_file: Callable[[str], Awaitable[str]], session: aiohttp.ClientSession, url: str
    ) -> None:
        self._find_file = find_file
        self._session = session
        self._url = url

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """Return the whole file. A failure is retried once, because Telegram moves files and connections break.

        Raises FileTooLarge if the file exceeds `at_most` bytes or the Bot API's own limit, FileGone if it does not
        exist (any more), and TelegramUnavailable.
        """
        try:
            return await self._fetch(file_id, at_most)
        except (FileGone, TelegramUnavailable):
            return await self._fetch(file_id, at_most)

    async def _fetch(self, file_id: str, at_most: int) -> bytes:
        # Quoted, because a path that is a whole URL would send us to another server, perhaps inside our network.
        path = quote(await self._find_file(file_id), errors="replace")
        try:
            async with self._session.get(URL(f"{self._url}/{path}"), allow_redirects=False) as response:
                return await _content(response, at_most)
        except (aiohttp.ClientError, OSError) as error:
            cause = find_cause(error) or type(error).__name__
        raise TelegramUnavailable(cause)


@asynccontextmanager
async def open_files(
    find_file: Callable[[str], Awaitable[str]], *, token: str, api_url: str, connections: int = 100
) -> AsyncGenerator[TelegramFiles]:
    """Open the files of the Bot API at `api_url`, with up to `connections` connections."""
    async with open_session(api_url, connections=connections, timeout=_DOWNLOADS) as session:
        yield TelegramFiles(find_file, session, f"{api_url}/file/bot{token}")


async def _content(response: aiohttp.ClientResponse, at_most: int) -> bytes:
    if response.status in (400, 404, 410):
        raise FileGone
    if not 200 <= response.status < 300:
        raise TelegramUnavailable(f"HTTP {response.status} for a file")
    if (response.content_length or 0) > at_most:
        raise FileTooLarge
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if len(content) > at_most:
            raise FileTooLarge
    return bytes(content)
