"""`chats`: the chats and topics with a memory, and how to find one by its name."""

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bot.cli.failures import CommandFailed
from bot.cli.output import count, print_json, print_line, print_table, to_minute
from bot.cli.session import AsJson, ChatName, finish, load_quietly, open_stores

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.page.chats import ChatList, ListedChat
    from bot.settings import Settings
    from memory.history.store import HistorySnapshot
    from memory.keys import ContextRef


def chats(as_json: AsJson = False) -> None:
    """List the chats and topics that have a memory, the most recent first."""
    settings = load_quietly()
    finish(settings, _print_chats(settings, as_json=as_json))


def open_chats(settings: "Settings", stores: "Stores") -> "ChatList":
    """Return the registry of this bot's chats."""
    from bot.page.chats import ChatList

    return ChatList(
        stores.redis, stores.migrations, bot_id=settings.bot_id, partitions=stores.partitions, clock=time.time
    )


async def list_chats(settings: "Settings", stores: "Stores") -> "list[ListedChat]":
    """Return every chat and topic of this bot that has a memory, oldest first."""
    return await open_chats(settings, stores).all()


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
    async with open_stores(settings) as stores:
        documents = await open_chats(settings, stores).by_time()
    if as_json:
        print_json(documents)
    elif not documents:
        print_line("No chat has a memory yet.")
    else:
        names = ("chat", "title", "messages", "in_conversation", "overheard")
        cells = [
            (*(document[name] for name in names), to_minute(document["last_message_at"]))
            for document in documents
        ]
        columns = [">chat", "title", ">messages", ">in talk", ">overheard", "last message (UTC)"]
        print_table(columns, cells, wide=("title",))
        chats_and_topics = count(len(cells), "chat or topic", "chats and topics")
        print_line(f"{chats_and_topics}. `mnemogram history CHAT` prints one.")
