"""A vacuum: a collection is copied into a new shard, slice by slice while it is used, and turned to at the end.

What was deleted or replaced is not copied, and the files that hold it are removed. The engine's own way, `optimize`,
holds the interpreter (7 s at 100,000 points), and leaves the vectors of deleted points in its log of writes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import from_json, to_json

from memory.embedded.index import folders
from memory.embedded.index.api_key import load_api_key
from memory.embedded.index.shard_process import ShardProcessGone
from memory.embedded.index.succession import Succession, SuccessionFailed
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.index.tunnel import FLUSH, Asked, Told

SLICE = 64
"""Points at a time: reading them holds up a search by 5 ms at most."""

Reached = Callable[[str], Awaitable[None]]

_BUSY_S = 1.0
_ROUNDS = 3
# At the end of a vacuum, where they wait for 20 to 50 ms, unless something is wrong.
_WRITERS_WAIT_S = 3.0
# While the index is used, three quarters of the time are left to those who use it.
_PAUSE_PER_WORK = 3.0
_OK = 200


async def go_on(_stage: str) -> None:
    """Wait for nothing at any stage."""


async def vacuum(switchboard: Switchboard, name: str, *, reached: Reached = go_on) -> None:
    """Put a collection into a new shard. `reached` is awaited at each stage: begun, copying (after each slice but the
    last), copied, turned. Raises SuccessionFailed with everything as it was, but for files that the next start removes.
    """
    succession = await switchboard.begin(name)
    copying = _Copying(switchboard, succession)
    try:
        await copying.prepare()
        await reached("begun")
        while await copying.copy_slice():
            await reached("copying")
            await copying.rest()
        await copying.flush()
        await reached("copied")
        async with switchboard.writing:
            async with asyncio.timeout(_WRITERS_WAIT_S):
                await succession.catch_up()
                await copying.compare()
            former = await switchboard.turn_to(succession)
    except (SuccessionFailed, ShardProcessGone, OSError) as error:
        await switchboard.abandon(succession)
        raise SuccessionFailed(f"{type(error).__name__}: {error}") from error
    await reached("turned")
    await switchboard.clear_away(succession, former)


class _Copying:
    """The steps of a copy, from the process that serves the collection into that of the new shard."""

    def __init__(self, switchboard: Switchboard, succession: Succession) -> None:
        self._switchboard = switchboard
        self._succession = succession
        self._serving = switchboard.serving(succession.name)
        self._path = f"/collections/{succession.name}"
        self._key = (("api-key", load_api_key(switchboard.directory / "api-key")),)
        self._next: int | str | None = None
        self._took = 0.0

    async def prepare(self) -> None:
        """The same settings and the same payload indexes, as long as there is nothing to index."""
        settings = self._switchboard.folder(self._succession.name) / folders.SETTINGS
        await self._put("", from_json(settings.read_bytes()))
        described = _result(await self._serving.ask(self._asked("GET", "")))
        for field, index in described["payload_schema"].items():
            schema = index.get("params", index["data_type"])
            await self._put("/index", {"field_name": field, "field_schema": schema})

    async def copy_slice(self) -> bool:
        """Repeat what was written since the last slice, then copy some points as they were after that; are there more?"""
        wanted = {"offset": self._next, "limit": SLICE, "with_payload": True, "with_vector": True}
        async with self._switchboard.writing:
            page = _result(await self._serving.ask(self._asked("POST", "/points/scroll", wanted)))
            noted = self._succession.noted
        await self._succession.catch_up(until=noted)
        started = time.monotonic()
        await self._add(page["points"])
        self._next = page["next_page_offset"]
        self._took = time.monotonic() - started
        return self._next is not None

    async def rest(self) -> None:
        """Leave the processors to those who use the index, if anyone does."""
        if time.monotonic() - self._switchboard.used_at < _BUSY_S:
            await asyncio.sleep(self._took * _PAUSE_PER_WORK)

    async def flush(self) -> None:
        """Put the new shard on the disk, while nobody waits for it yet; then repeat nearly all that was written."""
        await self._succession.ask(Asked(method=FLUSH, path=""))
        for _ in range(_ROUNDS):
            await self._succession.catch_up(until=self._succession.noted)

    async def compare(self) -> None:
        """Both shards have as many points and the same payload indexes. Raises SuccessionFailed."""
        asked = self._asked("GET", "")
        one, other = _result(await self._serving.ask(asked)), _result(await self._succession.ask(asked))
        if _outline(one) != _outline(other):
            raise SuccessionFailed("the new shard does not hold what the collection holds")

    async def _add(self, points: list[dict[str, Any]]) -> None:
        """Those that the new shard has not. Those that it has were written since the copy began, and are as here."""
        ids = [point["id"] for point in points]
        asked = self._asked("POST", "/points", {"ids": ids, "with_payload": False})
        there = {point["id"] for point in _result(await self._succession.ask(asked))}
        if missing := [point for point in points if point["id"] not in there]:
            await self._put("/points", {"points": missing})

    async def _put(self, path: str, body: Any) -> None:
        _result(await self._succession.ask(self._asked("PUT", path, body)))

    def _asked(self, method: str, path: str, body: Any = None) -> Asked:
        return Asked(
            method=method,
            path=self._path + path,
            query="wait=true",
            headers=self._key,
            body=b"" if body is None else to_json(body),
        )


def _result(told: Told) -> Any:
    if told.status != _OK:
        raise SuccessionFailed(f"a shard process answered {told.status}")
    return from_json(told.body)["result"]


def _outline(described: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    indexes = {
        field: (index["data_type"], index.get("params"))
        for field, index in described["payload_schema"].items()
    }
    return described["points_count"], indexes
