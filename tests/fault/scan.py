"""Looks for a word in everything that the stores hold: every Redis value of every type, every Qdrant point."""

from collections.abc import Mapping
from typing import Any

import httpx

from memory.embedded.index_server import IndexEndpoint
from memory.redis_client import Command, RedisClient
from tests.stores import all_keys

_READING: Mapping[str, tuple[str, tuple[str | int, ...]]] = {
    "string": ("GET", ()),
    "hash": ("HGETALL", ()),
    "list": ("LRANGE", (0, -1)),
    "set": ("SMEMBERS", ()),
    "zset": ("ZRANGE", (0, -1, "WITHSCORES")),
    "stream": ("XRANGE", ("-", "+")),
}
_PAGE = 256


async def redis_places(redis: RedisClient, word: str) -> list[str]:
    """The keys whose name or value has the word, in any case of letters."""
    found: list[str] = []
    for key in await all_keys(redis):
        verb, options = _READING[await redis.call("TYPE", key)]
        reading: Command = (verb, key, *options)
        if word.casefold() in f"{key} {await redis.call(*reading)!r}".casefold():
            found.append(key)
    return found


async def points(index: IndexEndpoint) -> list[dict[str, Any]]:
    """Every point of every collection, with its payload and vectors."""
    async with httpx.AsyncClient(
        base_url=index.url, headers={"api-key": index.api_key}, trust_env=False
    ) as http:
        listed = (await http.get("/collections")).json()["result"]["collections"]
        return [point for kept in listed for point in await _scroll(http, kept["name"])]


async def index_places(index: IndexEndpoint, word: str) -> list[str]:
    """The ids of the points that have the word anywhere."""
    return [point["id"] for point in await points(index) if word.casefold() in repr(point).casefold()]


async def _scroll(http: httpx.AsyncClient, collection: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    offset: Any = None
    while True:
        wanted = {"limit": _PAGE, "offset": offset, "with_payload": True, "with_vector": True}
        page = (await http.post(f"/collections/{collection}/points/scroll", json=wanted)).json()["result"]
        found += page["points"]
        offset = page["next_page_offset"]
        if offset is None:
            return found
