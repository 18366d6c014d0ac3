"""Searches for a word in all data of the stores: every Redis value, every Qdrant point, every file."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from memory.embedded.supervisor import IndexEndpoint
from memory.redis.client import Command, RedisClient
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
_AT_ONCE = 500


async def redis_words(redis: RedisClient, pattern: re.Pattern[str]) -> dict[str, set[str]]:
    """Return every match of the pattern in the name or value of any key, with the keys.

    Made for many keys and words.
    """
    found: dict[str, set[str]] = {}
    names = await all_keys(redis)
    for at in range(0, len(names), _AT_ONCE):
        some = names[at : at + _AT_ONCE]
        kinds = await redis.calls([("TYPE", key) for key in some])
        there = [(key, kind) for key, kind in zip(some, kinds, strict=True) if kind in _READING]
        commands: list[Command] = [(_READING[kind][0], key, *_READING[kind][1]) for key, kind in there]
        values = await redis.calls(commands) if commands else []
        for (key, _), value in zip(there, values, strict=True):
            for word in pattern.findall(f"{key} {value!r}"):
                found.setdefault(word, set()).add(key)
    return found


def file_words(paths: Iterable[Path], pattern: re.Pattern[bytes]) -> dict[str, set[str]]:
    """Return every match of the pattern in these files and folders, with the names of the files."""
    found: dict[str, set[str]] = {}
    for file in files_of(paths):
        for word in set(pattern.findall(_content(file))):
            found.setdefault(word.decode(), set()).add(file.name)
    return found


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Return these files and those in these folders.

    Folders may vanish meanwhile, which `Path.rglob` of Python 3.11 does not tolerate.
    """
    for path in paths:
        if path.is_file():
            yield path
        for folder, _, names in os.walk(path):
            yield from (file for name in names if (file := Path(folder, name)).is_file())


def _content(file: Path) -> bytes:
    """Return the written parts of a sparse file; nothing if it was removed."""
    parts: list[bytes] = []
    with suppress(FileNotFoundError), file.open("rb") as opened:
        end = 0
        with suppress(OSError):  # behind the last that was written
            while True:
                begin = os.lseek(opened.fileno(), end, os.SEEK_DATA)
                end = os.lseek(opened.fileno(), begin, os.SEEK_HOLE)
                parts.append(os.pread(opened.fileno(), end - begin, begin))
    return b"\0".join(parts)


async def points(index: IndexEndpoint) -> list[dict[str, Any]]:
    """Return every point of every collection, with payload and vectors."""
    async with httpx.AsyncClient(
        base_url=index.url, headers={"api-key": index.api_key}, trust_env=False
    ) as http:
        listed = (await http.get("/collections")).json()["result"]["collections"]
        return [point for kept in listed for point in await _scroll(http, kept["name"])]


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
