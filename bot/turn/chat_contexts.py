"""Finds the contexts of a chat: its own and its topics', those too of which only an unanswered message is kept."""

from bot.inbox.inspection import InboxInspection
from bot.transport.ingest import parse_waiting, telegram_ref
from bot.transport.migrations import Migrations
from memory.history import contexts
from memory.keys import ContextRef, partition_of
from memory.redis.client import RedisClient


async def find_chat(
    redis: RedisClient,
    inspection: InboxInspection,
    migrations: Migrations,
    *,
    bot_id: int,
    chat_id: int,
    partitions: int,
) -> list[ContextRef]:
    """The chat's own context first, known or not, then its topics'; of a group that moved by each of its ids.

    A context is registered by its first answer or heard line. Before that its messages wait in its box, or are dead
    letters.
    """
    chat_id = await migrations.resolve(chat_id)
    own = telegram_ref(bot_id, chat_id, None, partitions=partitions)
    partition = partition_of(chat_id, partitions)  # all topics of a chat share it
    registered = [
        context.ref
        for context in await contexts.list_contexts(redis, [partition])
        if context.keys.get("bot_id") == bot_id and context.keys.get("chat_id") == chat_id
    ]
    unanswered = [
        ref for ref, payload in await inspection.unanswered(partition) if _chat_of(payload) == chat_id
    ]
    return list(dict.fromkeys([own, *registered, *unanswered]))


def _chat_of(payload: str) -> int | None:
    try:
        return parse_waiting(payload).anchor_id
    except (ValueError, KeyError, TypeError):
        return None  # an update without a message, or of another version
