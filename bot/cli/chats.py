"""`chats`: the chats and topics with a memory, and how to find one by its name."""

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed
from bot.cli.output import count, iso, print_json, print_line, print_table, utc
from bot.cli.session import AsJson, ChatName, finish, load_quietly, open_stores

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.page.chats import ListedChat
    from bot.settings import Settings
    from memory.history.store import HistorySnapshot
    from memory.keys import ContextRef

_Row = tuple["ListedChat", "HistorySnapshot", float | None]
"""A chat with its counts, and the time of its last message."""


def chats(as_json: AsJson = False) -> None:
    """List the chats and topics that have a memory, the most recent first."""
    settings = load_quietly()
    finish(settings, _print_chats(settings, as_json=as_json))


async def list_chats(settings: "Settings", stores: "Stores") -> "list[ListedChat]":
    """Return every chat and topic of this bot that has a memory, oldest first."""
    from bot.page.chats import ChatList

    chats = ChatList(
        stores.redis,
        stores.migrations,
        bot_id=settings.bot_id,
        partitions=stores.partitions,
        clock=time.time,
    )
    return await chats.all()


def unlisted_chat(name: ChatName, ref: "ContextRef") -> "ListedChat":
    """Return a chat that is not registered."""
    from bot.page.chats import ListedChat

    return ListedChat(chat_id=name.chat_id, thread_id=name.thread_id, ref=ref)


async def find_chat(
    settings: "Settings", stores: "Stores", name: ChatName
) -> "tuple[ListedChat, HistorySnapshot]":
    """Return the chat with its counts. Raises CommandFailed if it has no memory."""
    entries = await list_chats(settings, stores)
    name = await present_name(stores, name)
    ref = await chat_ref(settings, stores, name)
    snapshot = await stores.history.load(ref, limit=0)
    entry = next((entry for entry in entries if entry.ref == ref), None)
    if entry is None and not snapshot.count:
        raise CommandFailed(no_memory(name, topics_of(entries, name.chat_id)))
    return entry or unlisted_chat(name, ref), snapshot


def no_memory(name: ChatName, topics: "list[ListedChat]") -> str:
    """Return the sentence about a chat without a memory of its own. `topics` are those of it that have one."""
    if topics and name.thread_id is None:
        names = ", ".join(topic.name for topic in topics)
        return f"Chat {name} has a memory only in its topics: {names}."
    return f"Chat {name} has no memory. `mnemogram chats` lists the chats that have one."


async def present_name(stores: "Stores", name: ChatName) -> ChatName:
    """Return the name with the chat's present id. A group that became a supergroup has two ids."""
    anchor = await stores.migrations.resolve(name.chat_id)
    present = await stores.migrations.present_ids()
    return replace(name, chat_id=present.get(anchor, name.chat_id))


async def chat_ref(settings: "Settings", stores: "Stores", name: ChatName) -> "ContextRef":
    """Return the context of the chat, even if it has no memory."""
    from memory.history.contexts import find_context

    ref, direct = await chat_refs(settings, stores, name)
    return direct if direct != ref and await find_context(stores.redis, direct) else ref


async def chat_refs(
    settings: "Settings", stores: "Stores", name: ChatName
) -> "tuple[ContextRef, ContextRef]":
    """Return the context of the chat, and its context if it is the direct messages of a channel.

    The name of a topic does not tell which of them it is.
    """
    from bot.transport.ingest import telegram_ref

    anchor_id = await stores.migrations.resolve(name.chat_id)
    ref = partial(telegram_ref, settings.bot_id, anchor_id, name.thread_id, partitions=stores.partitions)
    return ref(), ref(is_direct=name.thread_id is not None)


def topics_of(entries: "list[ListedChat]", chat_id: int) -> "list[ListedChat]":
    """Return the topics of this chat, which has its present id."""
    return [entry for entry in entries if entry.chat_id == chat_id and entry.thread_id is not None]


def describe_topics(name: ChatName | str, topics: "list[ListedChat]") -> str:
    """Return the beginning of a sentence about topics to which a command did not apply."""
    names = ", ".join(topic.name for topic in topics)
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
                *(chat.name, chat.title, snapshot.count, snapshot.conversation_count),
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
        "chat": chat.name,
        "chat_id": chat.chat_id,
        "thread_id": chat.thread_id,
        "title": chat.title,
        "context": chat.ref.context_id,
        "messages": snapshot.count,
        "in_conversation": snapshot.conversation_count,
        "overheard": snapshot.talk.count,
        "kept_since": iso(snapshot.created_at),
        "last_message_at": iso(last_at),
    }
