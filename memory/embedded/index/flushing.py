"""When a process puts its segments on the disk: what is in the log is safe, but has to be read again at a start."""

import asyncio
import sys
import time
from dataclasses import dataclass

from memory.embedded.index.collections import Collection, Collections
from memory.embedded.index.failures import RequestRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushTimes:
    """Seconds: between looks; from a write to its flush; and of silence before it, as requests wait for it: 5 to 50 ms,
    and some hundreds on a busy disk. Without silence, once so many points would have to be read from the log: 4 s.
    """

    tick: float = 0.5
    after: float = 60.0
    quiet: float = 2.0
    points: int = 20_000


async def keep_flushed(collections: Collections, times: FlushTimes) -> None:
    """Flush what was written a while ago."""
    while True:
        await asyncio.sleep(times.tick)
        for collection in collections:
            now = time.monotonic()
            if not should_flush(collection, now=now, used_at=collections.used_at, times=times):
                continue
            try:
                await flush(collection)
            except RequestRefused as refusal:
                sys.stderr.write(f"flush of {collection.name}: {refusal}\n")


def should_flush(collection: Collection, *, now: float, used_at: float, times: FlushTimes) -> bool:
    """Is there something to flush, and either nobody who would wait, or a log that has become long?"""
    if collection.unflushed_since is None:
        return False
    is_quiet = now - collection.unflushed_since >= times.after and now - used_at >= times.quiet
    return is_quiet or collection.unflushed_points >= times.points


async def flush(collection: Collection) -> None:
    """Put its segments on the disk, as much of it as can be done in a thread first."""
    if collection.unflushed_since is not None:
        await asyncio.to_thread(collection.sync_all)
        collection.flush()
