"""Chats that do not take our messages (403: blocked, kicked), until an update comes from them again."""

from collections import OrderedDict
from collections.abc import Callable

import structlog

from memory import keys
from memory.errors import MemoryFailure
from memory.redis.client import RedisClient

log = structlog.get_logger()

KNOWN_AT_MOST = 10_000


class Reachability:
    """Marks in Redis. An accepted update removes its chat's mark (accept.lua).

    A chat without a mark costs no round trip: Redis is asked only about chats that this process has marked.
    Each process learns of a chat by a refusal of its own.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._known: OrderedDict[int, None] = OrderedDict()

    async def mark(self, partition: int, chat_id: int) -> None:
        """Mark the chat: nothing is sent there from now on. If the store is away, one more refusal follows."""
        self._known[chat_id] = None
        while len(self._known) > KNOWN_AT_MOST:
            self._known.popitem(last=False)
        await self._ask("HSET", keys.partition_key(partition, "unreachable"), chat_id, self._clock())

    async def clear(self, partition: int, chat_id: int) -> None:
        """Remove the chat's mark."""
        self._known.pop(chat_id, None)
        await self._ask("HDEL", keys.partition_key(partition, "unreachable"), chat_id)

    def seems_marked(self, chat_id: int) -> bool:
        """Return True if this process marked the chat; enough for previews. `is_marked` asks the store."""
        return chat_id in self._known

    async def is_marked(self, partition: int, chat_id: int) -> bool:
        """Return True if a call for this chat would be refused; False if the store does not answer."""
        if chat_id not in self._known:
            return False
        if await self._ask("HEXISTS", keys.partition_key(partition, "unreachable"), chat_id):
            return True
        self._known.pop(chat_id, None)
        return False

    async def _ask(self, *command: str | int | float) -> object:
        try:
            return await self._redis.call(*command)
        except MemoryFailure as error:
            log.warning("reachability_unknown", error=type(error).__name__)
            return None
