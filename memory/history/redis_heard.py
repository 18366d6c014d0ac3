"""What was heard in a context, line by line: to find one, and to forget it."""

from contextlib import suppress

from memory.history.heard import HeardLine, parse_heard
from memory.keys import ContextRef, erasures_key, heard_key
from memory.redis.client import RedisClient, load_script


class RedisHeard:
    """The heard lines of all contexts. Methods raise StoreUnavailable or StoreFull.

    A line is known by its `score` (memory.heard.score_of). The door writes them, a turn loads them with the history.
    """

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def find(self, ref: ContextRef, score: int) -> HeardLine | None:
        """The line, None where there is none (any more)."""
        for line in await self._redis.call("ZRANGEBYSCORE", heard_key(ref), score, score):
            with suppress(ValueError, KeyError, TypeError):
                return parse_heard(line)
        return None

    async def forget(self, ref: ContextRef, score: int) -> int:
        """Erase the line, and those that copy its message; how many were erased. Repeating it counts none."""
        script = load_script("memory.redis.scripts", "forget_heard", ("memory.redis.scripts", "heard_lines"))
        return int(await self._redis.run(script, [heard_key(ref), erasures_key(ref.partition)], [score]))
