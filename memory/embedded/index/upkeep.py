"""Upkeep of the collections: flushes, and vacuums that remove deleted and replaced data from the files.

A vacuum copies a collection into a new shard, a slice at a time between requests. What was deleted is not copied, and
the files of the former shard are removed. The engine's own `optimize` holds the interpreter for 7 s at 100,000 points,
and leaves deleted vectors in its log of writes.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import qdrant_edge as edge

from memory.embedded.data_dir import MIN_FREE_BYTES, rest_after
from memory.embedded.index.collections import Collection, Collections, IndexFailure, Shard, engine_errors

SLICE = 32
"""Points that a vacuum copies at a time: other requests wait for 4 ms, seldom for 12 ms."""
FLUSH_POINTS = 2_048
"""Writes between two flushes: 30 ms each, where one for 100,000 points holds the interpreter for 350 ms.

Fewer writes stay in the log, on the disk. The next start reads them in 0.4 s.
"""

Reached = Callable[[str], Awaitable[None]]

_IN_USE_S = 1.0
# While the index is in use, a vacuum rests for half as long as it works.
_REST_PER_WORK = 0.5
# The copy, its log of writes, and the room that a shard reserves for itself.
_ROOM_PER_SIZE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTimes:
    """Seconds that decide about a vacuum."""

    tick: float = 1.0
    """Between two looks."""
    quiet: float = 3.0
    """Without a request before a vacuum."""
    patience: float = 20.0
    """Age of garbage after which a vacuum no longer waits for a quiet moment."""
    retry: float = 300.0
    """After a vacuum that failed."""


async def go_on(_stage: str) -> None:
    """Wait for nothing at any stage of a vacuum."""


async def keep_up(collections: Collections, times: UpkeepTimes, *, reached: Reached = go_on) -> None:
    """Flush and vacuum what is due, one collection at a time."""
    while True:
        await asyncio.sleep(times.tick)
        for collection in collections:
            now = time.monotonic()
            if collection.shard.unflushed_points >= FLUSH_POINTS:
                await _attempt(f"flush of {collection.name}", collection.shard.flush())
            if is_vacuum_due(collection, now=now, used_at=collections.used_at, times=times):
                work = vacuum(collections, collection, reached=reached)
                succeeded = await _attempt(f"vacuum of {collection.name}", work)
                ended = time.monotonic()
                collection.next_vacuum_at = ended + (rest_after(ended - now) if succeeded else times.retry)


def is_vacuum_due(collection: Collection, *, now: float, used_at: float, times: UpkeepTimes) -> bool:
    """Return True if there is garbage, and the index is quiet or the garbage is old."""
    garbage_since = collection.shard.garbage_since
    if garbage_since is None or now < collection.next_vacuum_at:
        return False
    return now - used_at >= times.quiet or now - garbage_since >= times.patience


async def vacuum(collections: Collections, collection: Collection, *, reached: Reached = go_on) -> None:
    """Move a collection into a new shard. Writes go to both shards until the new one replaces the former.

    `reached` is awaited at each stage: begun, copying (after each slice but the last), copied, replaced.
    Any exception means that nothing changed, except files that the next start removes.
    """
    # The files are sparse, so their lengths add up to more than their blocks.
    size = 512 * sum(path.lstat().st_blocks for path in collection.folder.rglob("*"))
    needed = MIN_FREE_BYTES + _ROOM_PER_SIZE * size
    if shutil.disk_usage(collection.folder).free < needed:
        raise IndexFailure(507, f"the disk needs {needed / 2**20:.0f} MB of free space")
    try:
        await _fill_copy(collections, collection, reached)
        copy = _current_copy(collection)
        if copy.points != collection.shard.points:
            raise IndexFailure(500, "the copy does not hold the same points")
        former = collection.adopt_copy(copy)
    finally:
        collection.discard_copy()
    await reached("replaced")
    former.close()
    await asyncio.to_thread(shutil.rmtree, former.folder, ignore_errors=True)


async def _attempt(name: str, work: Coroutine[Any, Any, None]) -> bool:
    """Return True if the work was done; log a line if it failed."""
    try:
        with engine_errors():
            await work
    except (IndexFailure, OSError) as error:
        sys.stderr.write(f"index: {name} postponed: {type(error).__name__}: {error}\n")
        return False
    return True


async def _fill_copy(collections: Collections, collection: Collection, reached: Reached) -> None:
    copy = collection.begin_copy()
    for field, index in collection.shard.engine.info().payload_schema.items():
        if index.params is not None:
            copy.update(edge.UpdateOperation.create_field_index(field, index.params))
        await asyncio.sleep(0)
        _current_copy(collection)
    await reached("begun")
    offset: edge.PointId | None = None
    while True:
        started = time.monotonic()
        offset = _copy_slice(collection, offset)
        if offset is None:
            break
        took = time.monotonic() - started
        await reached("copying")
        await asyncio.sleep(took * _REST_PER_WORK if started - collections.used_at < _IN_USE_S else 0)
        if copy.unflushed_points >= FLUSH_POINTS:
            await copy.flush()
    await copy.flush()
    await reached("copied")


def _copy_slice(collection: Collection, offset: "edge.PointId | None") -> "edge.PointId | None":
    """Copy some points and return the id of the next one.

    Points that the copy has were written since it began, and are newest there.
    """
    copy = _current_copy(collection)
    request = edge.ScrollRequest(offset, SLICE, with_payload=True, with_vector=True)
    page, following = collection.shard.engine.scroll(request)
    present = {record.id for record in copy.engine.retrieve([record.id for record in page], False, False)}
    missing = [
        edge.Point(record.id, record.vector or {}, record.payload)
        for record in page
        if record.id not in present
    ]
    if missing:
        copy.update(edge.UpdateOperation.upsert_points(missing), added=len(missing))
    return following


def _current_copy(collection: Collection) -> Shard:
    """Return the copy. A failed write, or the deletion of the collection, discards it at any await."""
    if collection.copy is None:
        raise IndexFailure(409, "the copy was discarded meanwhile")
    return collection.copy
