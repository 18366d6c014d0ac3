"""The requests of python-telegram-bot on aiohttp, and its errors as ours.

No text of an error carries the token or a URL, because the URL contains the token.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from typing import cast

import aiohttp
from telegram import error as tg
from telegram.request import BaseRequest, RequestData

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    ThreadGone,
    TokenRefused,
)
from memory.causes import find_cause
from memory.codec import parse_object
from memory.http_calls import tracked

_REFUSED = {400, 409}
"""Statuses of a gateway in front of the Bot API after which the call is not repeated, unlike after other 4xx."""
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)
"""Errors of the library's classes for a result unlike Telegram's."""

# Beginnings of the Bot API's descriptions in lower case (tdlib/telegram-bot-api, Client.cpp), after "Bad Request: ".
_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message to delete not found",
    "message can't be deleted",
    "message_id_invalid",
    "there is no text in the message to edit",
)
_NO_FILE = re.compile(r"chat_send_(?!plain)\w+_forbidden", re.IGNORECASE)
"""CHAT_SEND_VOICES_FORBIDDEN is a 403 of a chat that takes texts; so are those of photos and documents."""
_NO_THREAD = ("message thread not found", "topic_deleted", "topic_id_invalid")


class AiohttpRequest(BaseRequest):
    """Sends the requests of a `telegram.Bot` on a traced session, which has the time limits.

    httpx, the library's own choice, takes six times the CPU.
    """

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @property
    def read_timeout(self) -> None:
        """The session has time limits of its own."""

    async def initialize(self) -> None:
        """Do nothing: the session is open."""

    async def shutdown(self) -> None:
        """Do nothing: the owner of the session closes it."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: object, **__: object
    ) -> tuple[int, bytes]:
        """Return the status and body of a response of the Bot API itself.

        Raises TelegramFailure errors otherwise, which the library takes as causes of its own errors.
        """
        body = request_data and _body(request_data)
        with tracked() as http_call:
            try:
                async with self._session.request(method, url, data=body, allow_redirects=False) as response:
                    content = await response.read()
            except (aiohttp.ClientError, OSError) as error:
                cause = find_cause(error) or type(error).__name__
                failure = SendUnknown(cause) if http_call.was_sent else TelegramUnavailable(cause)
            else:
                _check_origin(response.status, content)
                return response.status, content
        raise failure  # without the cause, whose text may carry the URL and so the token


@contextmanager
def translated_errors(*, harmless: str = "") -> Generator[None]:
    """Raise the TelegramFailure errors for those of python-telegram-bot.

    `harmless`: beginning of a refusal in lower case that ends the block without an error.
    """
    try:
        yield
    except tg.TelegramError as error:
        failure = _translated(error)
    except _UNREADABLE:
        failure = SendUnknown("the response cannot be read")
    else:
        return
    if harmless and isinstance(failure, TelegramRefused) and str(failure).lower().startswith(harmless):
        return
    raise failure from None


def _body(data: RequestData) -> aiohttp.FormData | aiohttp.JsonPayload:
    if not data.contains_files:
        return aiohttp.JsonPayload(data.parameters)
    form = aiohttp.FormData(quote_fields=False)
    for name, value in data.json_parameters.items():
        form.add_field(name, value)
    for name, (file_name, content, media_type) in data.multipart_data.items():
        # Bytes would be written at once, which holds up the event loop.
        streamed = BytesIO(content) if isinstance(content, bytes) else content
        form.add_field(name, streamed, filename=file_name, content_type=media_type)
    return form


def _check_origin(status: int, content: bytes) -> None:
    """Raise an error unless the response is the Bot API's own.

    After a 502 or 504 of a gateway the outcome of the call is unknown. After a 4xx the gateway has not passed the
    call on.
    """
    is_success = 200 <= status < 300
    answer = parse_object(content) or {}
    if "result" in answer if is_success else answer.get("ok") is False:
        return
    if is_success or status >= 500:
        raise SendUnknown("not a response of the Bot API")
    message = f"HTTP {status} from a gateway"
    raise TelegramRefused(message) if status in _REFUSED else TelegramUnavailable(message)


def _translated(error: tg.TelegramError) -> TelegramFailure:
    match error:
        case tg.RetryAfter():
            wait = cast("timedelta", error.retry_after)
            return TelegramUnavailable("429", retry_after=wait.total_seconds())
        case tg.ChatMigrated():
            return ChatMigrated(error.new_chat_id)
        case tg.Forbidden() if _NO_FILE.search(error.message):
            return TelegramRefused(error.message)
        case tg.Forbidden():
            return ChatUnreachable(error.message)
        case tg.InvalidToken():
            return TokenRefused("the Bot API does not know this token (TELEGRAM_BOT_TOKEN)")
        case tg.BadRequest() | tg.Conflict():
            return _refusal(error.message)
        case _ if isinstance(error.__cause__, TelegramFailure):
            return error.__cause__
        case _ if error.__cause__:
            return SendUnknown(type(error.__cause__).__name__)
        case _:
            return TelegramUnavailable("the Bot API failed")


def _refusal(message: str) -> TelegramRefused:
    text = message.lower()
    if text.startswith(_GONE):
        return MessageGone(message)
    if text.startswith(_NO_THREAD):
        return ThreadGone(message)
    return TelegramRefused(message)
