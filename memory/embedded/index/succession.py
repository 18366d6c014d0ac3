"""A shard that is filled to take the place of a collection's, and the writes that it has yet to repeat."""

import asyncio
from collections import deque

from memory.embedded.index.shard_process import ShardProcess
from memory.embedded.index.tunnel import Asked, Told

_PATIENCE_S = 30.0
_OK, _NOT_FOUND, _BROKEN, _NOT_KNOWN = 200, 404, 500, 501


class SuccessionFailed(Exception):
    """The new shard does not hold what the collection holds."""


class Succession:
    """Another shard for a collection, in a process of its own, and the writes noted since it was begun, in order.

    What is noted is repeated by `catch_up`, once: whoever writes to the collection never waits for it.
    """

    def __init__(self, name: str, shard: str, process: ShardProcess) -> None:
        self.name = name
        self.shard = shard
        self._process = process
        self._noted = deque[tuple[Asked, int]]()
        self._repeated = 0

    @property
    def process(self) -> ShardProcess:
        """The process that has the new shard."""
        return self._process

    @property
    def noted(self) -> int:
        """How many writes have been noted so far."""
        return self._repeated + len(self._noted)

    def note(self, asked: Asked, status: int) -> None:
        """A write that was answered so. Of several points some may be written though one was not found; what this server
        does not know has written nothing.
        """
        if status in {_OK, _NOT_FOUND} or (status >= _BROKEN and status != _NOT_KNOWN):
            self._noted.append((asked, status))

    async def catch_up(self, *, until: int | None = None) -> None:
        """Repeat what is noted, until so many were or there is nothing left. Raises SuccessionFailed, ShardProcessGone."""
        while self._noted and (until is None or self._repeated < until):
            asked, status = self._noted[0]
            told = await self.ask(asked)
            # What the shard does not hold yet it does not find; it comes with its slice.
            if told.status not in {status, _NOT_FOUND} or status >= _BROKEN:
                raise SuccessionFailed(
                    f"{asked.method} {asked.path} was answered {status}, then {told.status}"
                )
            self._noted.popleft()
            self._repeated += 1

    async def ask(self, asked: Asked) -> Told:
        """The new shard's own answer. Raises SuccessionFailed where it takes too long, ShardProcessGone."""
        try:
            return await asyncio.wait_for(self._process.ask(asked), _PATIENCE_S)
        except TimeoutError as error:
            raise SuccessionFailed(f"{asked.method} {asked.path} was not answered in time") from error
