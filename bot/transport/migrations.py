"""Groups that became supergroups: another id, the same memory, which stays under the id that the group had first."""

from collections.abc import Callable
from typing import cast

from memory import keys
from memory.errors import Forgotten
from memory.keys import ContextRef
from memory.redis.client import RedisClient, load_script

DOUBT_S = 60.0
"""How long a process believes that a group was no other group before."""
REMEMBERED = 10_000
"""Groups of which a process remembers that, at most."""


class Migrations:
    """Which chat was which group. Every method raises the store's errors.

    The first id of a group is its anchor: contexts are made of it. A chat that never moved is its own.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._anchors: dict[int, int] = {}
        self._own_until: dict[int, float] = {}

    async def resolve(self, chat_id: int, *, is_first_seen: bool = False) -> int:
        """The anchor of a chat. What is learnt elsewhere is known here after DOUBT_S at the latest.

        `is_first_seen`: this may be the chat's very first update, before the one that tells of its migration: then
        nothing is believed for later.
        """
        if chat_id >= 0:
            return chat_id
        anchor = self._anchors.get(chat_id)
        if anchor is not None:
            return anchor
        if self._clock() < self._own_until.get(chat_id, 0.0):
            return chat_id
        found = await self._redis.call("HGET", keys.migrations_key(), chat_id)
        if found is not None:
            return self._remember(chat_id, int(found))
        if not is_first_seen:
            if len(self._own_until) >= REMEMBERED:
                self._own_until.clear()
            self._own_until[chat_id] = self._clock() + DOUBT_S
        return chat_id

    async def learn(self, old_chat_id: int, new_chat_id: int) -> None:
        """Note that a group is a supergroup now; on disk when this returns. Repeating it is harmless."""
        if new_chat_id in self._anchors or old_chat_id == new_chat_id or max(old_chat_id, new_chat_id) >= 0:
            return
        anchor = await self.resolve(old_chat_id, is_first_seen=True)
        kept = await self._redis.run_durably(
            load_script("bot.transport.scripts", "learn_migration"),
            [keys.migrations_key()],
            [new_chat_id, anchor],
        )
        self._remember(new_chat_id, int(kept))

    async def forget_telegram_ids(self, ref: ContextRef, *, epoch: int, new_chat_id: int) -> bool:
        """The supergroup numbers its messages anew: none may stand for one of the group. Whether this was the first time.

        Comes in its context's line, after all that the group said. Raises Forgotten after a reset.
        """
        first = await self._redis.run(
            load_script(
                "memory.redis.scripts", "forget_telegram_ids", ("memory.redis.scripts", "telegram_index")
            ),
            [keys.telegram_key(ref), keys.meta_key(ref), keys.epoch_key(ref)],
            [epoch, new_chat_id],
        )
        if first is None:
            raise Forgotten
        return bool(first)

    async def present_ids(self) -> dict[int, int]:
        """Of each group that moved, its anchor → the id that it has now."""
        moved = cast("dict[str, str]", await self._redis.call("HGETALL", keys.migrations_key()))
        return {int(anchor): int(chat_id) for chat_id, anchor in moved.items()}

    def _remember(self, chat_id: int, anchor: int) -> int:
        if len(self._anchors) >= REMEMBERED:
            self._anchors.clear()
        self._anchors[chat_id] = anchor
        self._own_until.pop(chat_id, None)
        return anchor
