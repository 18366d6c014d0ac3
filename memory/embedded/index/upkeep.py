"""When the collections of the index are vacuumed, and what becomes of it when it fails."""

import asyncio
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from memory.embedded.data_dir import MIN_FREE_BYTES
from memory.embedded.index import folders
from memory.embedded.index.shard_process import ShardProcessGone
from memory.embedded.index.succession import SuccessionFailed
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.index.vacuum import Reached, go_on, vacuum
from memory.embedded.pacing import rest_after

# The copy itself, its log of writes, and the room that a shard lays out before it is filled.
_ROOM_PER_SIZE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTimes:
    """Seconds: between looks; of silence before a vacuum; after which garbage is vacuumed though it is not quiet; and
    after a vacuum that failed. After one that did not, what `rest` makes of how long it took.
    """

    tick: float = 1.0
    quiet: float = 3.0
    patience: float = 20.0
    retry: float = 300.0
    rest: Callable[[float], float] = rest_after


async def keep_up(switchboard: Switchboard, times: UpkeepTimes, *, reached: Reached = go_on) -> None:
    """Vacuum what is due, one collection at a time.

    Garbage that is found at the start may be as old as any: it waits for `quiet` seconds more, and no longer. Else a
    server that is killed again and again would never come to it.
    """
    before_start = max(0.0, times.patience - times.quiet)
    since: dict[str, float] = {}
    not_before: dict[str, float] = {}
    while True:
        await asyncio.sleep(times.tick)
        garbage = {name for name, has_garbage in switchboard.collections().items() if has_garbage}
        now = time.monotonic()
        since = {name: since.get(name, now - before_start) for name in garbage}
        before_start = 0.0
        for name in sorted(garbage):
            now = time.monotonic()
            is_due = should_vacuum(
                garbage_for=now - since[name], quiet_for=now - switchboard.used_at, times=times
            )
            if is_due and now >= not_before.get(name, 0.0):
                succeeded = await try_vacuum(switchboard, name, reached=reached)
                took = time.monotonic() - now
                not_before[name] = time.monotonic() + (times.rest(took) if succeeded else times.retry)
                since.pop(name)


def should_vacuum(*, garbage_for: float, quiet_for: float, times: UpkeepTimes) -> bool:
    """Is nobody asking, or has garbage lain about for too long?"""
    return quiet_for >= times.quiet or garbage_for >= times.patience


async def try_vacuum(switchboard: Switchboard, name: str, *, reached: Reached = go_on) -> bool:
    """Vacuum a collection where the disk has room for it; False, with a line on standard error, where it did not
    come to be and everything is as it was.
    """
    folder = switchboard.folder(name)
    try:
        size = await asyncio.to_thread(folders.size_of, folder)
        needed = MIN_FREE_BYTES + _ROOM_PER_SIZE * size
        if shutil.disk_usage(folder).free < needed:
            sys.stderr.write(f"vacuum of {name}: put off, the disk is short of {needed / 2**20:.0f} MB\n")
            return False
        await vacuum(switchboard, name, reached=reached)
    except (SuccessionFailed, ShardProcessGone, OSError) as error:
        sys.stderr.write(f"vacuum of {name}: put off: {type(error).__name__}: {error}\n")
        return False
    return True
