"""What python-telegram-bot raises, in our words: texts that carry neither token nor URL."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

import httpx
from telegram import error as tg

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
from memory.http_calls import HttpCall, shielded

T = TypeVar("T")

NOT_MODIFIED = "message is not modified"
"""The answer to an edit that changes nothing: what was asked for is so."""
NOT_THERE_TO_DELETE = "message to delete not found"
QUERY_IS_OLD = "query is too old"
"""The answer to a press that was answered already, or that waited for too long (about 15 minutes)."""

# Lower-cased beginnings of the Bot API's descriptions (tdlib/telegram-bot-api, Client.cpp), after "Bad Request: ".
_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message to delete not found",
    "message can't be deleted",
    "message_id_invalid",
    "there is no text in the message to edit",
)
_NO_THREAD = ("message thread not found", "topic_deleted", "topic_id_invalid")


class NotAsked(httpx.HTTPError):
    """What stands before the Bot API has refused the call, whatever it asks for, and not passed it on."""


async def in_our_words(call: Awaitable[T]) -> T:
    """What the call gives; raises the TelegramFailure errors. It may be cancelled at any moment: see `shielded`."""
    made = HttpCall()
    try:
        return await shielded(call, made)
    except tg.TelegramError as error:
        failure = _translated(error, may_be_sent=made.was_sent)
    raise failure  # without the original, whose text may carry the URL, and in it the token


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
            if isinstance(error.__cause__, NotAsked):
                return TelegramUnavailable(str(error.__cause__))
            name = type(error.__cause__).__name__
            return SendUnknown(name) if may_be_sent else TelegramUnavailable(name)
        case tg.TimedOut():
            return TelegramUnavailable("no free connection")
        case tg.NetworkError():
            return TelegramUnavailable("the Bot API failed")
        case _:  # an answer of success that cannot be read
            return SendUnknown("the answer cannot be read")


def _refusal(message: str) -> TelegramRefused:
    said = message.lower()
    if said.startswith(_GONE):
        return MessageGone(message)
    if said.startswith(_NO_THREAD):
        return ThreadGone(message)
    return TelegramRefused(message)


def _seconds(period: int | timedelta) -> float:
    return period.total_seconds() if isinstance(period, timedelta) else float(period)
