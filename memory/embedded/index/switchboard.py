"""Which process has which collection: requests are put through to it, writes one by one."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pydantic_core import from_json, to_json

from memory.embedded.index import folders
from memory.embedded.index.shard_process import ShardProcess
from memory.embedded.index.succession import Succession
from memory.embedded.index.tunnel import LEAVE, Asked, Told
from memory.embedded.locks import open_lock, try_lock

_READS = frozenset({"points", "points/count", "points/scroll", "points/query", "points/query/batch"})
_LISTING = "/collections"
_OK = 200
# As long as a server that is killed may take to be gone, with those that it started.
_LOCK_PATIENCE_S = 15.0
_POLL_S = 0.02


class Switchboard:
    """All collections of a folder. One process has them in common, until a vacuum has filled a new shard for one of
    them in another; `on_loss` is called when any of these processes ends by itself.
    """

    def __init__(self, directory: Path, lock: int, common: ShardProcess, on_loss: Callable[[], None]) -> None:
        self.directory = directory
        self.writing = asyncio.Lock()
        self.succession: Succession | None = None
        self.used_at = time.monotonic()
        self._lock = lock
        self._common = common
        self._apart: dict[str, ShardProcess] = {}
        self._former = set[ShardProcess]()
        self._on_loss = common.on_loss = on_loss

    @classmethod
    async def open(cls, directory: Path, on_loss: Callable[[], None]) -> "Switchboard":
        """Load every collection of the folder; waits for processes that have them still, after a kill.
        Raises ShardProcessGone where they cannot be loaded, TimeoutError where they stay locked.
        """
        lock = open_lock(directory / "shards.lock")
        deadline = time.monotonic() + _LOCK_PATIENCE_S
        while not try_lock(lock):
            if time.monotonic() > deadline:
                raise TimeoutError("the shards stay locked by processes that do not end")
            await asyncio.sleep(_POLL_S)
        return cls(directory, lock, await ShardProcess.start(directory, lock), on_loss)

    async def ask(self, asked: Asked) -> Told:
        """The answer of the process that has the collection, or of the common one. Raises ShardProcessGone."""
        name, rest = _split(asked.path)
        if name:
            self.used_at = time.monotonic()
        if asked.method != "GET" and (asked.method != "POST" or rest not in _READS):
            async with self.writing:
                return await self._write(name, rest, asked)
        told = await self.serving(name).ask(asked)
        return self._with_all_names(told) if asked.path == _LISTING else told

    def collections(self) -> dict[str, bool]:
        """Each collection, and whether there is something to vacuum in it."""
        apart = {name: process.collections.get(name, False) for name, process in self._apart.items()}
        return {**self._common.collections, **apart}

    def serving(self, name: str) -> ShardProcess:
        """The process that has this collection; for one that does not exist, the one that says so."""
        return self._apart.get(name, self._common)

    def folder(self, name: str) -> Path:
        """The folder of a collection."""
        return self.directory / "collections" / name

    async def begin(self, name: str) -> Succession:
        """A process for a new shard of a collection, nothing in it yet; from now on writes are noted for it."""
        shard = folders.new_shard()
        process = await ShardProcess.start(self.directory, self._lock, only=(name, shard))
        self.succession = Succession(name, shard, process)
        return self.succession

    async def turn_to(self, succession: Succession) -> ShardProcess:
        """Make the new shard the collection's, on the disk and for every request from now on; `clear_away` takes the
        process that had it. Nobody may write meanwhile, and both shards hold the same: a crash leaves the one or the
        other.
        """
        try:
            await asyncio.to_thread(folders.turn_to, self.folder(succession.name), succession.shard)
        except OSError:
            # Which of the two a crash would leave is not known: the next start reads it from the disk.
            self._on_loss()
            raise
        former = self._put_through(succession)
        succession.process.on_loss = self._on_loss
        self.succession = None
        return former

    async def clear_away(self, succession: Succession, former: ShardProcess) -> None:
        """Let go of the shard that had the collection before, and of its files, as far as they can be removed."""
        if former in self._former:
            await former.retire()
            self._former.discard(former)
        else:
            await former.ask(Asked(method=LEAVE, path=succession.name))
        with contextlib.suppress(OSError):
            await asyncio.to_thread(folders.remove_others, self.folder(succession.name), succession.shard)

    async def abandon(self, succession: Succession) -> None:
        """End a succession that came to nothing. Its files are left to the next start where they cannot be removed."""
        if self.succession is succession:
            self.succession = None
        await succession.process.kill()
        folder = self.folder(succession.name)
        if folders.current_shard(folder) != succession.shard:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(folders.remove_shard, folder, succession.shard)

    async def close(self) -> None:
        """Flush and close all; a succession is given up, its files left to the next start."""
        if self.succession is not None:
            self._former.add(self.succession.process)
        await asyncio.gather(*(process.kill() for process in self._former))
        await asyncio.gather(*(process.end() for process in (self._common, *self._apart.values())))
        os.close(self._lock)

    def _put_through(self, succession: Succession) -> ShardProcess:
        """From now on to the process of the new shard; which of the others did it till now."""
        former = self.serving(succession.name)
        if former is not self._common:
            self._former.add(former)
            self._apart[succession.name] = succession.process
        elif set(former.collections) == {succession.name}:
            self._former.add(former)
            self._common = succession.process
        else:
            self._apart[succession.name] = succession.process
        return former

    async def _write(self, name: str, rest: str, asked: Asked) -> Told:
        serving = self.serving(name)
        if asked.method == "DELETE" and not rest:
            await self._make_way(name, asked)
        told = await serving.ask(asked)
        if self.succession is not None and self.succession.name == name:
            self.succession.note(asked, told.status)
        if serving is not self._common and name not in serving.collections:
            await self._apart.pop(name).kill()
        return told

    async def _make_way(self, name: str, deletion: Asked) -> None:
        """Nobody may fill a folder that is being removed. Whoever may not see the collection stops nobody."""
        if self.succession is not None and self.succession.name == name:
            seen = await self.serving(name).ask(replace(deletion, method="GET"))
            if seen.status == _OK:
                await self.abandon(self.succession)

    def _with_all_names(self, told: Told) -> Told:
        if told.status != _OK or not self._apart:
            return told
        answer = from_json(told.body)
        answer["result"] = {"collections": [{"name": name} for name in self.collections()]}
        return replace(told, body=to_json(answer))


def _split(path: str) -> tuple[str, str]:
    """The collection that a path names and what it wants of it; empty where it does not."""
    root, name, rest = ([*path.removeprefix("/").split("/", 2), "", ""])[:3]
    return (name, rest) if root == "collections" else ("", "")
