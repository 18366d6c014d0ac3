"""All contents of a Redis, for tests that look for forbidden or changed data."""

from typing import Any

from memory.redis.client import Command, RedisClient
from tests.stores import all_keys


async def all_values(redis: RedisClient) -> dict[str, Any]:
    """Return every key with its whole value. Raises KeyError for an unknown type."""
    found = await all_keys(redis)
    types = await redis.calls([("TYPE", key) for key in found]) if found else []
    there = {key: str(kind) for key, kind in zip(found, types, strict=True) if kind != "none"}
    commands = [_read_command(key, kind) for key, kind in there.items()]
    values = await redis.calls(commands) if commands else []
    return dict(zip(there, values, strict=True))


async def keys_with(redis: RedisClient, word: str) -> list[str]:
    """Return the keys that contain the word in name or value."""
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
