"""Sends parts of the outbox by the Bot API."""

from typing import Protocol

from bot.transport.rich_text import RichText
from bot.turn.outbox import Part


class MessageApi(Protocol):
    """The Bot API call that sends a text."""

    async def send_message(
        self, chat_id: int, rich: RichText, *, thread_id: int | None = None, reply_to: int | None = None
    ) -> int: ...


class PartSender:
    """A delivery's Sender."""

    def __init__(self, api: MessageApi) -> None:
        self._api = api

    async def send(self, part: Part) -> int:
        """The Telegram message id of what was sent. Raises the TelegramFailure errors."""
        return await self._api.send_message(
            part.chat_id, part.rich, thread_id=part.thread_id, reply_to=part.reply_to
        )
