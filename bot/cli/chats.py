"""`chats`: the chats and topics with a memory, and how to find one by its name."""

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed
from bot.cli.output import count, iso, print_json, print_line, print_table, utc
from bot.cli.session import AsJson, ChatName, finish, load_quietly, open_stores
from memory.keys import ContextRef

if TYPE_CHECKING:
    from bot.app.stores import Stores
    from bot.settings import Settings
    from memory.history.store import HistorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEntry:
    """A context of this bot: a chat or one of its topics, by the chat's present id."""

    name: ChatName
    ref: ContextRef
    title: str = ""
    """Empty if none is registered."""
    registered_at: float | None = None


_Row = tuple[ChatEntry, "HistorySnapshot", float | None]
"""A chat with its counts, and the time of its last message."""


def chats(as_json: AsJson = False) -> None:
    """List the chats and topics that have a memory, the most recent first."""
    settings = load_quietly()
    finish(settings, _print_chats(settings, as_json=as_json))


async def list_chats(settings: "Settings", stores: "Stores") -> list[ChatEntry]:
    """Return every chat and topic of this bot that has a memory, oldest first."""
    from bot.page.chats import ChatList

    chats = ChatList(
        stores.redis,
        stores.migrations,
        bot_id=settings.bot_id,
        partitions=stores.partitions,
        clock=time.time,
    )
    return [
        ChatEntry(
            name=ChatName(chat_id=chat.chat_id, thread_id=chat.thread_id),
            ref=chat.ref,
            title=chat.title,
            registered_at=chat.registered_at,
        )
        for chat in await chats.all()
    ]


async def find_chat(
    settings: "Settings", stores: "Stores", name: ChatName
) -> tuple[ChatEntry, "HistorySnapshot"]:
    """Return the chat with its counts. Raises CommandFailed if it has no memory."""
    entries = await list_chats(settings, stores)
    name = await present_name(stores, name)
    ref = await chat_ref(settings, stores, name)
    snapshot = await stores.history.load(ref, limit=0)
    entry = next((entry for entry in entries if entry.ref == ref), None)
    if entry is None and not snapshot.count:
        topics = topics_of(entries, name)
        if topics and name.thread_id is None:
            names = ", ".join(str(topic.name) for topic in topics)
            raise CommandFailed(f"Chat {name} has a memory only in its topics: {names}.")
        raise CommandFailed(f"Chat {name} has no memory. `mnemogram chats` lists the chats that have one.")
    return entry or ChatEntry(name=name, ref=ref), snapshot


async def present_name(stores: "Stores", name: ChatName) -> ChatName:
    """Return the name with the chat's present id. A group that became a supergroup has two ids."""
    anchor = await stores.migrations.resolve(name.chat_id)
    present = await stores.migrations.present_ids()
    return replace(name, chat_id=present.get(anchor, name.chat_id))


async def chat_ref(settings: "Settings", stores: "Stores", name: ChatName) -> ContextRef:
    """Return the context of the chat, even if it has no memory."""
    from bot.transport.ingest import telegram_ref

    anchor_id = await stores.migrations.resolve(name.chat_id)
    return telegram_ref(settings.bot_id, anchor_id, name.thread_id, partitions=stores.partitions)


def topics_of(entries: list[ChatEntry], name: ChatName) -> list[ChatEntry]:
    """Return the topics of this chat, which has its present id."""
    return [
        entry for entry in entries if entry.name.chat_id == name.chat_id and entry.name.thread_id is not None
    ]


def describe_topics(name: ChatName, topics: list[ChatEntry]) -> str:
    """Return the beginning of a sentence about topics to which a command did not apply."""
    names = ", ".join(str(topic.name) for topic in topics)
    return f"Chat {name} also has {count(len(topics), 'topic')} with a separate memory ({names})"


async def _print_chats(settings: "Settings", *, as_json: bool) -> None:
    from bot.page.chats import load_counts

    async with open_stores(settings) as stores:
        entries = await list_chats(settings, stores)
        counts = await load_counts(stores.redis, [entry.ref for entry in entries])
        rows: list[_Row] = [(entry, *counts[entry.ref]) for entry in entries]
    rows.sort(key=lambda row: -(row[2] or 0))
    if as_json:
        print_json([_document(row) for row in rows])
    elif not rows:
        print_line("No chat has a memory yet.")
    else:
        cells = [
            (
                *(str(chat.name), chat.title, snapshot.count, snapshot.conversation_count),
                *(snapshot.talk.count, utc(last_at)),
            )
            for chat, snapshot, last_at in rows
        ]
        columns = [">chat", "title", ">messages", ">in talk", ">overheard", "last message (UTC)"]
        print_table(columns, cells, wide=("title",))
        chats_and_topics = count(len(rows), "chat or topic", "chats and topics")
        print_line(f"{chats_and_topics}. `mnemogram history CHAT` prints one.")


def _document(row: _Row) -> dict[str, object]:
    chat, snapshot, last_at = row
    return {
        "chat": str(chat.name),
        "chat_id": chat.name.chat_id,
        "thread_id": chat.name.thread_id,
        "title": chat.title,
        "context": chat.ref.context_id,
        "messages": snapshot.count,
        "in_conversation": snapshot.conversation_count,
        "overheard": snapshot.talk.count,
        "kept_since": iso(snapshot.created_at),
        "last_message_at": iso(last_at),
    }
