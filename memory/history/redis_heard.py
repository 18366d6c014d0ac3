"""Heard lines of a context in Redis: find one, and forget it."""

from contextlib import suppress

from memory.codec import parse_json
from memory.errors import RecordCorrupt
from memory.history.heard import HeardLine
from memory.keys import ContextRef, heard_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script


class RedisHeard:
    """The heard lines of all contexts. Methods raise StoreUnavailable or StoreFull.

    A line is found by its `score` (`score_of`). The inbox writes lines, a turn loads them with the history.
    """

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def find(self, ref: ContextRef, score: int) -> HeardLine | None:
        """Return the line, or None if there is none."""
        for line in await self._redis.call("ZRANGEBYSCORE", heard_key(ref), score, score):
            with suppress(RecordCorrupt):
                return parse_json(HeardLine, line)
        return None

    async def forget(self, ref: ContextRef, score: int) -> int:
        """Erase the line and those that copy its message; return how many. Repeating it erases none."""
        return int(await self._redis.run(forget_heard(ref, score=score)))


@lua_script("memory.redis.scripts")
def forget_heard(ref: ContextRef, *, score: int) -> ScriptCall: ...
