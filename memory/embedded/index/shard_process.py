"""A process that has shards, as the front sees it: started, asked, ended."""

import asyncio
import contextlib
import itertools
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memory.embedded.index.tunnel import LOADED, Asked, Told, Tunnel, read_told, tell_asked

# The guardian of the index gives it ten seconds to end, of which the last requests take up to three.
END_TIMEOUT_S = 6.0


class ShardProcessGone(Exception):
    """The process with the shard ended before it answered."""


class ShardProcess:
    """Started by `start`. Answers may overtake each other; `collections` is what it last said that it has, each with
    whether there is garbage. `on_loss` is called where it ends though nobody here ended it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._tunnel: Tunnel | None = None
        self._numbers = itertools.count(LOADED)
        self._waiting: dict[int, asyncio.Future[Told]] = {}
        self.collections: Mapping[str, bool] = {}
        self.on_loss: Callable[[], None] | None = None

    @classmethod
    async def start(
        cls, directory: Path, lock: int, *, only: tuple[str, str] | None = None
    ) -> "ShardProcess":
        """A process with every collection of the folder; or, `only`, one that is to make this collection in this
        folder of a shard. It holds the lock as well, and ends when this process does. Raises ShardProcessGone.
        """
        options = ("--directory", str(directory), *(("--only", *only) if only else ()))
        ours, theirs = socket.socketpair()
        with theirs:
            # Not asyncio's: what it kills it may reap behind the back of its own watcher, which then complains.
            process = subprocess.Popen(  # noqa: S603, ASYNC220 - the command is our own; 1 to 3 ms until it runs
                (sys.executable, "-m", "memory.embedded.index.shard_server", *options),
                stdin=theirs.fileno(),
                pass_fds=(lock,),
            )
        started = cls(process)
        loaded = started._expect(next(started._numbers))
        try:
            started._tunnel = await Tunnel.open(ours, started._hear, started._lose)
            await loaded
        except BaseException:
            await started.kill()
            raise
        return started

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def ask(self, asked: Asked) -> Told:
        """Its answer, however long that takes. Raises ShardProcessGone."""
        if self._tunnel is None or self._tunnel.ended.done():
            raise ShardProcessGone
        number = next(self._numbers)
        answer = self._expect(number)
        try:
            self._tunnel.send(tell_asked(number, asked), asked.body)
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def retire(self, *, patience: float = END_TIMEOUT_S) -> None:
        """Kill it once it has answered what it was asked; what it has is of no use any more."""
        self.on_loss = None
        if self._waiting:
            await asyncio.wait(self._waiting.values(), timeout=patience)
        await self.kill()

    async def kill(self) -> None:
        """End it at once; what it acknowledged is on the disk."""
        self.on_loss = None
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        if self._tunnel is not None:
            self._tunnel.close()
            await self._tunnel.ended

    async def end(self) -> None:
        """Have it flush and close; killed where that takes too long."""
        self.on_loss = None
        if self._tunnel is not None:
            self._tunnel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, END_TIMEOUT_S)
        await self.kill()

    def _expect(self, number: int) -> asyncio.Future[Told]:
        self._waiting[number] = asyncio.get_running_loop().create_future()
        return self._waiting[number]

    def _hear(self, header: dict[str, Any], body: bytes) -> None:
        told = read_told(header, body)
        self.collections = told.collections
        waiting = self._waiting.pop(told.number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(told)

    def _lose(self) -> None:
        while self._waiting:
            _, waiting = self._waiting.popitem()
            if not waiting.done():
                waiting.set_exception(ShardProcessGone())
        if self.on_loss is not None:
            self.on_loss()
