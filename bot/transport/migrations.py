"""Groups that became supergroups: the chat id changes, but the memory stays under the group's first id."""

from collections.abc import Callable
from typing import cast

from memory import keys
from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

DOUBT_S = 60.0
"""Lifetime of the cached fact that a group has no former id."""
REMEMBERED = 10_000
"""Maximum number of groups in the cache."""


@lua_script("bot.transport.scripts")
def learn_migration(migrations: Key, *, supergroup: int, group: int) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def forget_telegram_ids(ref: ContextRef, *, expected_epoch: int, supergroup: int) -> ScriptCall: ...


class Migrations:
    """The former ids of supergroups. Every method raises the store's errors.

    The first id of a group is its anchor, and part of its context ids. Other chats are their own anchor.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._anchors: dict[int, int] = {}
        self._own_until: dict[int, float] = {}

    async def resolve(self, chat_id: int, *, is_first_seen: bool = False) -> int:
        """Return the anchor of a chat. A migration that another process has learnt counts after DOUBT_S at the latest.

        `is_first_seen`: this may be the chat's first update, before the one that announces its migration. Then the
        answer is not cached.
        """
        if chat_id >= 0:
            return chat_id
        anchor = self._anchors.get(chat_id)
        if anchor is not None:
            return anchor
        if self._clock() < self._own_until.get(chat_id, 0.0):
            return chat_id
        stored = await self._redis.call("HGET", keys.global_key("migrations"), chat_id)
        if stored is not None:
            return self._remember(chat_id, int(stored))
        if not is_first_seen:
            if len(self._own_until) >= REMEMBERED:
                self._own_until.clear()
            self._own_until[chat_id] = self._clock() + DOUBT_S
        return chat_id

    async def learn(self, old_chat_id: int, new_chat_id: int) -> None:
        """Record that a group is a supergroup now. It is on disk after the return; repeating it is harmless."""
        if new_chat_id in self._anchors or old_chat_id == new_chat_id or max(old_chat_id, new_chat_id) >= 0:
            return
        anchor = await self.resolve(old_chat_id, is_first_seen=True)
        stored = await self._redis.run_durably(
            learn_migration(keys.global_key("migrations"), supergroup=new_chat_id, group=anchor)
        )
        self._remember(new_chat_id, int(stored))

    async def forget_telegram_ids(self, ref: ContextRef, *, epoch: int, new_chat_id: int) -> bool:
        """Forget the Telegram ids of the group's messages, because its supergroup numbers messages from 1 again.

        It must run in the order of the chat's updates, after the group's last message. Return True the first time.
        Raises Forgotten after a reset.
        """
        call = forget_telegram_ids(ref, expected_epoch=epoch, supergroup=new_chat_id)
        return bool(await self._redis.run(call))

    async def present_ids(self) -> dict[int, int]:
        """Return the current chat id of each migrated group by its anchor."""
        migrated = cast("dict[str, str]", await self._redis.call("HGETALL", keys.global_key("migrations")))
        return {int(anchor): int(chat_id) for chat_id, anchor in migrated.items()}

    def _remember(self, chat_id: int, anchor: int) -> int:
        if len(self._anchors) >= REMEMBERED:
            self._anchors.clear()
        self._anchors[chat_id] = anchor
        self._own_until.pop(chat_id, None)
        return anchor
