"""`chats`: the chats and topics with a memory, and how to find one by its name."""

from collections import defaultdict
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

_BATCH = 200


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
    from memory.history.contexts import list_contexts

    present = await stores.migrations.present_ids()
    entries: list[ChatEntry] = []
    for context in await list_contexts(stores.redis, range(stores.partitions)):
        if context.keys.get("bot_id") == settings.bot_id and "chat_id" in context.keys:
            thread = context.keys.get("message_thread_id")
            anchor_id = int(context.keys["chat_id"])
            chat_id = present.get(anchor_id, anchor_id)
            name = ChatName(chat_id=chat_id, thread_id=None if thread is None else int(thread))
            registered_at = context.created_at
            entries.append(
                ChatEntry(name=name, ref=context.ref, title=context.title, registered_at=registered_at)
            )
    return entries


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
    async with open_stores(settings) as stores:
        rows = await _load_rows(stores, await list_chats(settings, stores))
    rows.sort(key=lambda row: -(row[2] or 0))
    if as_json:
        print_json([_document(row) for row in rows])
    elif not rows:
        print_line("No chat has a memory yet.")
    else:
        cells = [
            (
                *(str(chat.name), chat.title, snapshot.count, snapshot.conversation_count),
                *(len(snapshot.talk), utc(last_at)),
            )
            for chat, snapshot, last_at in rows
        ]
        columns = [">chat", "title", ">messages", ">in talk", ">overheard", "last message (UTC)"]
        print_table(columns, cells, wide=("title",))
        chats_and_topics = count(len(rows), "chat or topic", "chats and topics")
        print_line(f"{chats_and_topics}. `mnemogram history CHAT` prints one.")


async def _load_rows(stores: "Stores", entries: list[ChatEntry]) -> list[_Row]:
    """Load the counts, `_BATCH` chats in a round trip."""
    from memory.history.redis_history import load_snapshot, parse_snapshot, recent_messages

    by_partition: dict[int, list[ChatEntry]] = defaultdict(list)
    for entry in entries:
        by_partition[entry.ref.partition].append(entry)
    rows: list[_Row] = []
    recent = recent_messages()
    for group in by_partition.values():
        for start in range(0, len(group), _BATCH):
            batch = group[start : start + _BATCH]
            replies = await stores.redis.run_all([load_snapshot(chat.ref, limit=1) for chat in batch])
            for chat, reply in zip(batch, replies, strict=True):
                rows.append(await _row(stores, chat, parse_snapshot(reply, recent)))
    return rows


async def _row(stores: "Stores", chat: ChatEntry, snapshot: "HistorySnapshot") -> _Row:
    newest = snapshot.newest
    if not newest and snapshot.count:  # the present conversation is empty just after /new
        newest = await stores.history.page(chat.ref, limit=1, whole=True)
    times = [newest[0].sent_at if newest else 0, *(line.sent_at for line in snapshot.talk)]
    return chat, snapshot, max(times) or None


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
        "overheard": len(snapshot.talk),
        "kept_since": iso(snapshot.created_at),
        "last_message_at": iso(last_at),
    }
