"""A model and a Telegram that answer at once, and messages for them."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.model import JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec, Usage
from bot.agent.summarizer import summary_fields
from bot.errors import FileGone
from bot.transport.forms import ChatPlace
from bot.transport.rich_text import RichText
from memory.history.message import Message, Sender
from memory.history.summary import SummaryText

_TOPICS = (
    "garden river window copper lantern violin harbour meadow kettle thunder pepper saddle walnut canvas"
)
_WORDS_EACH = 60


class InstantModel:
    """A chat model that answers at once, always the same; so are the summaries that it writes."""

    name = "instant"

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """See ChatModel."""
        text = "You told me about the **garden** and the *lantern*."
        if on_text is not None:
            await on_text(text)
        return ModelReply(text=text, usage=Usage(prompt_tokens=1, completion_tokens=1), finish_reason="stop")

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """See JsonModel."""
        told = SummaryText(overview="They talk about a garden. " * 40, decisions=("the lantern stays",) * 20)
        return ModelReply(text=json.dumps(summary_fields(told)), finish_reason="stop")


@dataclass(slots=True)
class InstantTelegram:
    """A Telegram that takes everything at once."""

    last_id: int = 1_000_000

    async def send_message(
        self, to: ChatPlace, rich: RichText, *, reply_to: int | None = None, buttons: Sequence[object] = ()
    ) -> int:
        """See TelegramApi."""
        self.last_id += 1
        return self.last_id

    async def send_typing(self, to: ChatPlace) -> None:
        """See TelegramApi."""

    async def send_draft(self, to: ChatPlace, draft_id: int, rich: RichText) -> None:
        """See TelegramApi; on a busy machine an answer may take long enough to be shown before."""

    async def delete_message(self, chat_id: int, message_id: int) -> None:
        """See TelegramApi."""

    async def member_status(self, chat_id: int, user_id: int) -> str:
        """See TelegramApi."""
        return "member"

    async def is_administrator(self, chat_id: int, user_id: int) -> bool:
        """See TelegramApi."""
        return user_id == chat_id


class NoFiles:
    """Source of files for chats without files."""

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """See MediaReader's Files. Raises FileGone."""
        raise FileGone


_TOLD_AT, _TOLD = 4, "my grandmother's sextant hangs behind the old piano"
"""Number and beginning of a message that only recall brings into the prompt of a long history."""


def make_message(number: int) -> Message:
    """Return a message of about eighty tokens, alternately of a user and the assistant.

    Only one tells what `make_update` asks for.
    """
    topics = _TOPICS.split()
    words = [topics[(number * 7 + at * at) % len(topics)] for at in range(_WORDS_EACH)]
    if number == _TOLD_AT:
        words[:8] = _TOLD.split()
    is_user = number % 2 == 0
    return Message(
        id=f"message-{number}",
        role="user" if is_user else "assistant",
        text=f"{number}: {' '.join(words)}",
        sent_at=1_700_000_000.0 + number,
        tokens=_WORDS_EACH + 20,
        sender=Sender(id=7, name="Anna") if is_user else None,
    )


def make_update(update_id: int, chat_id: int) -> dict[str, Any]:
    """Return an update: a short message to the bot in a private chat."""
    person = {"id": chat_id, "is_bot": False, "first_name": "Anna"}
    message = {
        "message_id": update_id,
        "from": person,
        "chat": {"id": chat_id, "first_name": "Anna", "type": "private"},
        "date": int(time.time()),
        "text": "where does my grandmother's sextant hang?",
    }
    return {"update_id": update_id, "message": message}
