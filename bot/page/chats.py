"""The chats and topics that have a memory: their list, their counts, and those that are used most."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any, cast

from bot.times import iso
from bot.transport.forms import ChatPlace, place_of
from bot.transport.migrations import Migrations
from memory import keys
from memory.history.contexts import Context, find_context, list_contexts
from memory.history.redis_history import RedisHistory, load_snapshot, parse_snapshot, recent_messages
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.redis.lua import named

CHATS_AT_MOST = 200
"""Chats in the list by use."""
_SNAPSHOTS_AT_ONCE = 200
_USAGES_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedChat(ChatPlace):
    """A context of this bot: a chat or one of its topics, by the chat's present id."""

    ref: ContextRef
    title: str = ""
    registered_at: float = 0.0
    """0 if it is not registered."""


@dataclass(frozen=True, slots=True)
class ChatList:
    """The registry of chats, as one bot sees it. Every method raises the store's errors."""

    redis: RedisClient
    migrations: Migrations
    _: KW_ONLY
    bot_id: int
    partitions: int
    clock: Callable[[], float]
    """Unix seconds."""

    async def all(self) -> list[ListedChat]:
        """Return every chat and topic that has a memory, oldest first."""
        present = await self.migrations.present_ids()
        found = await list_contexts(self.redis, range(self.partitions))
        return [listed for each in found if (listed := self._listed(each, present))]

    async def find(self, refs: Sequence[ContextRef]) -> Mapping[ContextRef, ListedChat]:
        """Return these chats, without those that are not registered."""
        wanted = set(refs)
        found: dict[ContextRef, ListedChat] = {}
        if wanted:
            present = await self.migrations.present_ids()
            for ref in wanted:
                context = await find_context(self.redis, ref)
                if context is not None and (listed := self._listed(context, present)):
                    found[ref] = listed
        return found

    async def by_use(self) -> list[dict[str, Any]]:
        """Return CHATS_AT_MOST chats: those with the most tokens today (UTC), then the newest."""
        listed = await self.all()
        tokens = await self._tokens_today({chat.chat_id for chat in listed})
        listed.sort(key=lambda chat: (-tokens[chat.chat_id], -chat.registered_at))
        chats = listed[:CHATS_AT_MOST]
        documents = await self._documents(chats)
        return [
            {**document, "tokens_today": tokens[chat.chat_id]}
            for chat, document in zip(chats, documents, strict=True)
        ]

    async def by_time(self) -> list[dict[str, Any]]:
        """Return all chats, the one with the newest message first."""
        documents = await self._documents(await self.all())
        return sorted(documents, key=lambda document: document["last_message_at"] or "", reverse=True)

    async def _documents(self, chats: Sequence[ListedChat]) -> list[dict[str, Any]]:
        counts = await load_counts(self.redis, [chat.ref for chat in chats])
        return [
            {
                **chat_document(chat.ref, chat),
                "chat_id": chat.chat_id,
                "thread_id": chat.thread_id,
                "kind": "group" if chat.chat_id < 0 else "private",
                "messages": snapshot.count,
                "in_conversation": snapshot.conversation_count,
                "overheard": snapshot.talk.count,
                "kept_since": iso(snapshot.created_at),
                "last_message_at": iso(last_at),
            }
            for chat in chats
            for snapshot, last_at in [counts[chat.ref]]
        ]

    async def _tokens_today(self, chat_ids: set[int]) -> Mapping[int, int]:
        """Return the tokens of each chat since 00:00 UTC. The topics of a chat are counted together."""
        day = f"{datetime.fromtimestamp(self.clock(), UTC):%Y-%m-%d}"
        ids = list(chat_ids)
        tokens: dict[int, int] = {}
        for first in range(0, len(ids), _USAGES_AT_ONCE):
            some = ids[first : first + _USAGES_AT_ONCE]
            names = [keys.global_key("{usage}:day", "chat", chat_id, day) for chat_id in some]
            rows = await self.redis.calls([("HMGET", name, "prompt", "completion") for name in names])
            for chat_id, row in zip(some, cast("list[list[str | None]]", rows), strict=True):
                tokens[chat_id] = sum(int(number or 0) for number in row)
        return tokens

    def _listed(self, context: Context, present: Mapping[int, int]) -> ListedChat | None:
        """Return the chat; None for another bot's or another program's context."""
        place = place_of(context.keys)
        if place is None or context.keys.get("bot_id") != self.bot_id:
            return None
        return ListedChat(
            chat_id=present.get(place.chat_id, place.chat_id),
            thread_id=place.thread_id,
            is_direct=place.is_direct,
            ref=context.ref,
            title=context.title,
            registered_at=context.created_at,
        )


async def load_counts(
    redis: RedisClient, refs: Sequence[ContextRef]
) -> dict[ContextRef, tuple[HistorySnapshot, float | None]]:
    """Return a snapshot of each context, and the time of its last message; many in a round trip."""
    by_partition: dict[int, list[ContextRef]] = defaultdict(list)
    for ref in refs:
        by_partition[ref.partition].append(ref)
    recent, history = recent_messages(), RedisHistory(redis)
    rows: dict[ContextRef, tuple[HistorySnapshot, float | None]] = {}
    for group in by_partition.values():
        for start in range(0, len(group), _SNAPSHOTS_AT_ONCE):
            batch = group[start : start + _SNAPSHOTS_AT_ONCE]
            replies = await redis.run_all([load_snapshot(ref, limit=1) for ref in batch])
            for ref, reply in zip(batch, replies, strict=True):
                snapshot = parse_snapshot(named(reply), recent)
                newest = snapshot.newest
                if not newest and snapshot.count:  # the present conversation is empty just after /new
                    newest = await history.page(ref, limit=1, whole=True)
                times = [newest[0].sent_at if newest else 0, *(line.sent_at for line in snapshot.talk.lines)]
                rows[ref] = snapshot, max(times) or None
    return rows


def chat_document(ref: ContextRef, chat: ListedChat | None) -> dict[str, Any]:
    """Return the fields of a document that name a chat. A chat is registered from its first answer to its reset."""
    return {
        "chat": chat.name if chat else None,
        "title": chat.title if chat else None,
        "context": ref.context_id,
        "partition": ref.partition,
    }
