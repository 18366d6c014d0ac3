"""The chats that the store knows, by the names that operators use."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.app.stores import Stores
from bot.cli.failures import CommandFailed
from bot.cli.options import ChatName
from bot.settings import Settings
from bot.transport.ingest import telegram_ref
from memory.history.contexts import Context, list_contexts
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChat:
    """A context of this bot: a chat, or one topic of it, by the id that the chat has now.

    The title is empty where none was registered.
    """

    name: ChatName
    title: str
    ref: ContextRef


async def list_known(settings: Settings, stores: Stores) -> list[KnownChat]:
    """Every chat and topic of this bot of which something is kept, the oldest first."""
    contexts = await list_contexts(stores.redis, range(stores.partitions))
    present = await stores.migrations.present_ids()
    return [_known(context, present) for context in contexts if _is_ours(context, settings.bot_id)]


async def present_name(stores: Stores, chat: ChatName) -> ChatName:
    """The chat by the id that it has now: a group that became a supergroup is known by each of its ids."""
    anchor = await stores.migrations.resolve(chat.chat_id)
    present = await stores.migrations.present_ids()
    return replace(chat, chat_id=present.get(anchor, chat.chat_id))


async def find_known(settings: Settings, stores: Stores, chat: ChatName) -> tuple[KnownChat, HistorySnapshot]:
    """The chat with its counts. Raises CommandFailed where nothing is kept of it."""
    chats = await list_known(settings, stores)
    chat = await present_name(stores, chat)
    ref = await chat_ref(settings, stores, chat)
    snapshot = await stores.history.load(ref, limit=0)
    known = next((one for one in chats if one.ref == ref), None)
    if known is None and not snapshot.count:
        raise CommandFailed(_nothing_kept(chat, topics_of(chats, chat)))
    return known or KnownChat(name=chat, title="", ref=ref), snapshot


def topics_of(chats: list[KnownChat], chat: ChatName) -> list[KnownChat]:
    """The topics of this chat (`present_name`) among these."""
    return [one for one in chats if one.name.chat_id == chat.chat_id and one.name.thread_id is not None]


async def chat_ref(settings: Settings, stores: Stores, chat: ChatName) -> ContextRef:
    """Where the memory of the chat lives, known or not."""
    anchor_id = await stores.migrations.resolve(chat.chat_id)
    return telegram_ref(settings.bot_id, anchor_id, chat.thread_id, partitions=stores.partitions)


def _nothing_kept(chat: ChatName, topics: list[KnownChat]) -> str:
    if topics and chat.thread_id is None:
        return f"Of chat {chat} only topics are kept: {', '.join(str(topic.name) for topic in topics)}."
    return f"Nothing is kept of chat {chat}. `mnemogram chats` lists the chats of which something is."


def _is_ours(context: Context, bot_id: int) -> bool:
    return context.keys.get("bot_id") == bot_id and "chat_id" in context.keys


def _known(context: Context, present: Mapping[int, int]) -> KnownChat:
    thread = context.keys.get("message_thread_id")
    anchor_id = int(context.keys["chat_id"])
    name = ChatName(
        chat_id=present.get(anchor_id, anchor_id), thread_id=None if thread is None else int(thread)
    )
    return KnownChat(name=name, title=context.title, ref=context.ref)
