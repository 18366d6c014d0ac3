"""Everything that a Redis holds, for tests that look for what must not be there or must not have changed."""

from typing import Any

from memory.redis.client import Command, RedisClient
from tests.stores import all_keys


async def all_values(redis: RedisClient) -> dict[str, Any]:
    """Every key with its whole value, whatever its type. Raises KeyError for a type that we do not know."""
    found = await all_keys(redis)
    types = await redis.calls([("TYPE", key) for key in found]) if found else []
    there = {key: str(kind) for key, kind in zip(found, types, strict=True) if kind != "none"}
    commands = [_read_command(key, kind) for key, kind in there.items()]
    values = await redis.calls(commands) if commands else []
    return dict(zip(there, values, strict=True))


async def keys_with(redis: RedisClient, word: str) -> list[str]:
    """The keys that have the word in their name or anywhere in their value."""
    values = await all_values(redis)
    return [key for key, value in values.items() if word in key or word in repr(value)]


def _read_command(key: str, kind: str) -> Command:
    return {
        "string": ("GET", key),
        "hash": ("HGETALL", key),
        "list": ("LRANGE", key, 0, -1),
        "set": ("SMEMBERS", key),
        "zset": ("ZRANGE", key, 0, -1, "WITHSCORES"),
        "stream": ("XRANGE", key, "-", "+"),
    }[kind]
