"""A session of the OpenAI Agents SDK that can be searched and forgotten: `Runner.run(…, session=ChatSession(chat))`."""

import json
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem

from memory import Chat, Message

ITEM = "item"
"""The name in a message's metadata under which the SDK's own form of it is kept."""


class ChatSession:
    """A chat of the memory as a Session. Items that are no messages, such as tool calls, are kept with a note."""

    def __init__(self, chat: Chat, *, session_settings: SessionSettings | None = None) -> None:
        self.chat = chat
        self.session_id = chat.key
        self.session_settings = session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, or all, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        messages = await self.chat.recent(await self.chat.count() if limit is None else max(0, limit))
        return [_as_item(message) for message in messages]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items in this order."""
        for item in items:
            fields = cast("dict[str, Any]", item)
            add = self.chat.add_user if fields.get("role") == "user" else self.chat.add_assistant
            note = "" if (text := _text_of(fields)).strip() else f"a {fields.get('type', 'message')}"
            await add(text, note=note, metadata={ITEM: json.dumps(fields)})

    async def pop_item(self) -> TResponseInputItem | None:
        """Forget the newest item, and return it."""
        for message in await self.chat.recent(1):
            await self.chat.forget(message.id)
            return _as_item(message)
        return None

    async def clear_session(self) -> None:
        """Erase the chat."""
        await self.chat.reset()


def _text_of(item: dict[str, Any]) -> str:
    content: Any = item.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text") or "" for part in content)


def _as_item(message: Message) -> TResponseInputItem:
    """Return the item as it came, or as its text if that was edited."""
    form = message.metadata.get(ITEM)
    plain = form is None or message.edited_at is not None
    item = {"role": message.role, "content": message.text} if plain else json.loads(str(form))
    return cast("TResponseInputItem", item)
