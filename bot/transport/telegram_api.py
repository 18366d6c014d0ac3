"""The one door to python-telegram-bot: the Bot API calls that we make, with our words for their failures."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlencode

import httpx
import telegram
from telegram.request import BaseRequest, HTTPXRequest

from bot.errors import FileGone, FileTooLarge, TelegramRefused
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import Entity, RichText
from bot.transport.telegram_failures import (
    NOT_MODIFIED,
    NOT_THERE_TO_DELETE,
    QUERY_IS_OLD,
    NotAsked,
    in_our_words,
)
from memory.http_calls import track_request

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""What we ask Telegram for; it must be named, or earlier choices stay in force."""
POLL_S = 25
"""How long one getUpdates waits at Telegram."""

_NOT_PASSED_ON = {401, 403, 404, 408, 425}
"""From what stands before the Bot API these say nothing of the call: an answer may be sent when they have passed."""
_ADMINISTRATORS = ("creator", "administrator")
_NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)

CommandScope = Literal["default", "all_private_chats", "all_group_chats", "all_chat_administrators", "chat"]
"""Whom a menu of commands is for; "chat" is one chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An inline button: a press comes back as a callback query with this data (at most 64 bytes)."""

    text: str
    data: str


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
        self.webhook = TelegramWebhook(bot)

    async def get_me(self) -> BotIdentity:
        """Who we are."""
        me = await in_our_words(self._bot.get_me())
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
        """Send one message of at most 4,096 UTF-16 units, without a link preview; its Telegram message id."""
        sent = await in_our_words(
            self._bot.send_message(
                chat_id=chat_id,
                text=rich.text,
                entities=_entities(rich),
                message_thread_id=thread_id,
                reply_parameters=_reply(reply_to),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons),
            )
        )
        return sent.message_id

    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None:
        """Make a message of ours say this, with these buttons only; repeating is harmless. Raises MessageGone."""
        await _unless(
            NOT_MODIFIED,
            self._bot.edit_message_text(
                chat_id=chat_id,
                message_id=message_id,
                text=rich.text,
                entities=_entities(rich),
                link_preview_options=_NO_PREVIEW,
                reply_markup=_keyboard(buttons),
            ),
        )

    async def remove_buttons(self, chat_id: int, message_id: int) -> None:
        """Leave a message of ours as it is, but without buttons. Raises MessageGone."""
        await _unless(
            NOT_MODIFIED, self._bot.edit_message_reply_markup(chat_id=chat_id, message_id=message_id)
        )

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """Delete a message of ours; one that is gone already is done. Raises MessageGone for one of over 48 hours."""
        await _unless(NOT_THERE_TO_DELETE, self._bot.delete_message(chat_id=chat_id, message_id=message_id))

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
        """Send a file with a caption of at most 1,024 UTF-16 units; its Telegram message id."""
        caption = caption or RichText(text="")
        sent = await in_our_words(
            self._bot.send_document(
                chat_id=chat_id,
                document=content,
                filename=name,
                caption=caption.text or None,
                caption_entities=_entities(caption),
                message_thread_id=thread_id,
                reply_parameters=_reply(reply_to),
                disable_content_type_detection=True,
            )
        )
        return sent.message_id

    async def send_draft(
        self, chat_id: int, draft_id: int, rich: RichText, *, thread_id: int | None = None
    ) -> None:
        """Show a draft in a private chat for 30 seconds, in the place of the one with this id (not 0).

        An empty text shows "Thinking…". It is gone when a message is sent.
        """
        await in_our_words(
            self._bot.send_message_draft(
                chat_id=chat_id,
                draft_id=draft_id,
                text=rich.text,
                entities=_entities(rich),
                message_thread_id=thread_id,
            )
        )

    async def answer_callback(self, callback_id: str, text: str = "", *, is_alert: bool = False) -> None:
        """Answer a press of a button, with at most 200 characters; one that is too old to be answered is done."""
        await _unless(
            QUERY_IS_OLD,
            self._bot.answer_callback_query(callback_id, text=text or None, show_alert=is_alert or None),
        )

    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None:
        """Show "typing" for about five seconds."""
        await in_our_words(
            self._bot.send_chat_action(chat_id=chat_id, action="typing", message_thread_id=thread_id)
        )

    async def member_status(self, chat_id: int, user_id: int) -> str:
        """A person's standing in a chat: creator, administrator, member, restricted, left or kicked."""
        member = await in_our_words(self._bot.get_chat_member(chat_id=chat_id, user_id=user_id))
        return str(member.status)

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """Whether this person (or, posting anonymously, the group itself) administers the chat."""
        return user_id == chat_id or await self.member_status(chat_id, user_id) in _ADMINISTRATORS

    async def find_file(self, file_id: str) -> str:
        """Where a file is fetched (`TelegramFiles`), for at least an hour. Raises FileTooLarge, FileGone."""
        try:
            file = await in_our_words(self._bot.get_file(file_id))
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
        """Register (name, description) pairs for the command menu of these clients; no language: of all the others.

        `chat_id` goes with the scope "chat". Raises TelegramRefused for a chat that the bot has never met.
        """
        of = telegram.BotCommandScope(scope) if chat_id is None else telegram.BotCommandScopeChat(chat_id)
        await in_our_words(
            self._bot.set_my_commands(list(commands), scope=of, language_code=language or None)
        )

    async def get_updates(self, *, offset: int | None) -> list[Mapping[str, Any]]:
        """The next updates, waiting up to POLL_S. An `offset` confirms every update before it.

        They are as Telegram sent them, as the webhook gets them too: the library's own classes add fields, and
        one update that they cannot read would end the polling.
        """
        asked = {"timeout": POLL_S, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        query = urlencode(asked if offset is None else {**asked, "offset": offset})
        polled = self._polls.post(f"{self._bot.base_url}/getUpdates?{query}", read_timeout=POLL_S + 10)
        return cast("list[Mapping[str, Any]]", await in_our_words(polled))


class TelegramWebhook:
    """Where Telegram pushes updates to. Every method raises the TelegramFailure errors."""

    def __init__(self, bot: telegram.Bot) -> None:
        self._bot = bot

    async def set(self, url: str, *, secret: str, max_connections: int) -> None:
        """Have updates pushed to `url`; what waits stays waiting."""
        await in_our_words(
            self._bot.set_webhook(
                url=url,
                secret_token=secret,
                max_connections=max_connections,
                allowed_updates=list(ALLOWED_UPDATES),
            )
        )

    async def delete(self) -> None:
        """Stop the pushing; what waits stays waiting."""
        await in_our_words(self._bot.delete_webhook())

    async def info(self) -> WebhookInfo:
        """The webhook as Telegram knows it."""
        info = await in_our_words(self._bot.get_webhook_info())
        return WebhookInfo(
            url=info.url,
            pending_updates=info.pending_update_count,
            last_error=info.last_error_message or "",
            last_error_at=info.last_error_date.timestamp() if info.last_error_date else None,
        )


@asynccontextmanager
async def open_telegram(*, token: str, api_url: str, connections: int = 64) -> AsyncGenerator[TelegramApi]:
    """The Bot API at `api_url`. Nothing is sent yet, so Telegram may be down when we start."""
    # python-telegram-bot 22 warns at each RetryAfter that it builds, unless periods are to be timedeltas.
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
    # Bot.initialize() would ask getMe and fail the start when Telegram is down: only the clients are opened.
    async with calls, polls:
        yield TelegramApi(bot, polls=polls)


async def _check_answer(response: httpx.Response) -> None:
    """Whether the Bot API itself has answered. A gateway (502, 504) does not know what became of the call.

    With some codes it says that it has not passed it on: the server behind it is not there, or we may not pass.
    """
    if response.is_success or response.is_server_error or response.status_code in _NOT_PASSED_ON:
        await response.aread()
        if _is_of_the_bot_api(response):
            return
        if response.status_code in _NOT_PASSED_ON:
            raise NotAsked(f"HTTP {response.status_code}, and not of the Bot API")
        raise httpx.RemoteProtocolError("not an answer of the Bot API", request=response.request)


def _is_of_the_bot_api(response: httpx.Response) -> bool:
    try:
        answer: Any = response.json()
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    return "result" in answer if response.is_success else cast("dict[str, Any]", answer).get("ok") is False


async def _unless(harmless: str, call: Awaitable[object]) -> None:
    """Make the call; an answer that begins like this means that what was asked for is so."""
    try:
        await in_our_words(call)
    except TelegramRefused as error:
        if not str(error).lower().startswith(harmless):
            raise


def _entities(rich: RichText) -> list[telegram.MessageEntity]:
    return [telegram.MessageEntity(**_fields(entity)) for entity in rich.entities]


def _fields(entity: Entity) -> dict[str, Any]:
    return dict(entity.to_dict())


def _reply(message_id: int | None) -> telegram.ReplyParameters | None:
    if message_id is None:
        return None
    return telegram.ReplyParameters(message_id=message_id, allow_sending_without_reply=True)


def _keyboard(buttons: Sequence[Button]) -> telegram.InlineKeyboardMarkup | None:
    row = [telegram.InlineKeyboardButton(button.text, callback_data=button.data) for button in buttons]
    return telegram.InlineKeyboardMarkup([row]) if row else None
