"""Which chats do not take our messages (403: blocked, kicked), until something comes from there again."""

from collections import OrderedDict
from collections.abc import Callable

import structlog

from memory import keys
from memory.errors import MemoryFailure
from memory.redis.client import RedisClient

log = structlog.get_logger()

KNOWN_AT_MOST = 10_000


class Reachability:
    """The marks, kept in Redis; an accepted update takes its chat's mark away (accept.lua).

    A chat without a mark costs no round trip: Redis is asked only about a chat that this process knows as marked, so
    each process finds out by one refusal of its own.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._known: OrderedDict[int, None] = OrderedDict()

    async def mark(self, partition: int, chat_id: int) -> None:
        """Nothing is sent there from now on. A store that is away loses the mark, which costs one more refusal."""
        self._known[chat_id] = None
        while len(self._known) > KNOWN_AT_MOST:
            self._known.popitem(last=False)
        await self._ask("HSET", keys.unreachable_key(partition), chat_id, self._clock())

    async def clear(self, partition: int, chat_id: int) -> None:
        """It takes our messages again."""
        self._known.pop(chat_id, None)
        await self._ask("HDEL", keys.unreachable_key(partition), chat_id)

    def seems_marked(self, chat_id: int) -> bool:
        """What this process knows by itself, for calls that nobody misses; `is_marked` puts it right."""
        return chat_id in self._known

    async def is_marked(self, partition: int, chat_id: int) -> bool:
        """Whether a call for this chat would only be refused; False where the store does not say."""
        if chat_id not in self._known:
            return False
        if await self._ask("HEXISTS", keys.unreachable_key(partition), chat_id):
            return True
        self._known.pop(chat_id, None)
        return False

    async def _ask(self, *command: str | int | float) -> object:
        try:
            return await self._redis.call(*command)
        except MemoryFailure as error:
            log.warning("reachability_unknown", error=type(error).__name__)
            return None
