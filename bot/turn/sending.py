"""Does what the outbox's parts ask for by the Bot API, one call for each."""

from collections.abc import Sequence
from typing import Protocol

from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.outbox import Part


class TextApi(Protocol):
    """The Bot API's calls that send, edit and delete texts."""

    async def send_message(
        self,
        chat_id: int,
        rich: RichText,
        *,
        thread_id: int | None = None,
        reply_to: int | None = None,
        buttons: Sequence[Button] = (),
    ) -> int: ...
    async def edit_message(
        self, chat_id: int, message_id: int, rich: RichText, *, buttons: Sequence[Button] = ()
    ) -> None: ...
    async def delete_message(self, chat_id: int, message_id: int) -> None: ...


class MessageApi(TextApi, Protocol):
    """What a delivery asks of the Bot API: also documents."""

    async def send_document(
        self,
        chat_id: int,
        content: bytes,
        *,
        name: str,
        thread_id: int | None = None,
        reply_to: int | None = None,
    ) -> int: ...


class PartSender:
    """A delivery's Sender."""

    def __init__(self, api: MessageApi) -> None:
        self._api = api

    async def send(self, part: Part) -> int | None:
        """The Telegram message id that shows the part now, None for one that took a message away.

        Raises the TelegramFailure errors.
        """
        if part.kind == "delete" and part.edits is not None:
            await self._api.delete_message(part.chat_id, part.edits)
            return None
        if part.kind == "document":
            return await self._api.send_document(
                part.chat_id,
                part.rich.text.encode(),
                name=part.file_name,
                thread_id=part.thread_id,
                reply_to=part.reply_to,
            )
        if part.edits is not None:
            await self._api.edit_message(part.chat_id, part.edits, part.rich)
            return part.edits
        return await self._api.send_message(
            part.chat_id, part.rich, thread_id=part.thread_id, reply_to=part.reply_to
        )
