"""How the views of the inbox name its chats and updates."""

import time

from bot.app.stores import Stores
from bot.cli.known_chats import KnownChat, list_known
from bot.cli.output import UNKNOWN, one_line
from bot.inbox.inspection import InboxInspection
from bot.settings import Settings
from memory.keys import ContextRef

Known = dict[ContextRef, KnownChat]


def open_inspection(stores: Stores) -> InboxInspection:
    """The inbox of these stores."""
    return InboxInspection(stores.redis, partitions=stores.partitions, clock=time.time)


async def known_by_ref(settings: Settings, stores: Stores) -> Known:
    """The known chats by where their memory lives."""
    return {chat.ref: chat for chat in await list_known(settings, stores)}


def chat_document(ref: ContextRef, known: Known) -> dict[str, object]:
    """The fields of a JSON document that name a chat."""
    chat = known.get(ref)
    return {
        "chat": str(chat.name) if chat else None,
        "title": chat.title if chat else None,
        "context": ref.context_id,
        "partition": ref.partition,
    }


def chat_cells(ref: ContextRef, known: Known) -> tuple[str, str]:
    """How a table names a chat, and its title.

    A chat is registered from its first answer to its reset; else there is only the beginning of its context's id.
    """
    chat = known.get(ref)
    if chat is None:
        return UNKNOWN, f"context {ref.context_id[:8]}"
    return str(chat.name), one_line(chat.title, longest=40)


def not_found(update_id: int) -> str:
    """The sentence for an update of which there is no record."""
    return (
        f"No record of update {update_id}: it never came in, or it was finished more than 48 hours ago. "
        "Telegram numbers the updates of each bot."
    )
