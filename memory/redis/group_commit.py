"""Group commit: calls that arrive together travel together, in as few durable round trips as possible."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from memory.redis.lua import ScriptCall

TRIPS_AT_ONCE = 2
"""More would make smaller groups. With one, a call may wait two seconds for a server that confirms once a second."""
CALLS_PER_TRIP = 64

RunAll = Callable[[Sequence[ScriptCall]], Awaitable[list[Any]]]
"""Runs scripts durably. A script's failure takes the place of its reply."""


class GroupCommit:
    """Sends a call at once if fewer than TRIPS_AT_ONCE trips are under way.

    Later calls go together in the next trip.
    """

    def __init__(self, run_all: RunAll) -> None:
        self._run_all = run_all
        self._waiting: list[tuple[ScriptCall, asyncio.Future[Any]]] = []
        self._under_way = 0
        self._trips: set[asyncio.Task[None]] = set()  # the loop itself keeps tasks by weak references only

    async def run(self, call: ScriptCall) -> Any:
        """Return the script's reply when its writes are on disk. Raises its failure, or that of the whole trip.

        If the caller is cancelled the script may still run.
        """
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, reply))
        if self._under_way < TRIPS_AT_ONCE:
            self._under_way += 1
            trip = asyncio.create_task(self._travel(), name="group-commit")
            self._trips.add(trip)
            trip.add_done_callback(self._trips.discard)
        return await reply

    async def _travel(self) -> None:
        try:
            while self._waiting:
                calls, replies = zip(*self._waiting[:CALLS_PER_TRIP], strict=True)
                del self._waiting[:CALLS_PER_TRIP]
                await self._take_along(calls, replies)
        finally:
            self._under_way -= 1

    async def _take_along(self, calls: Sequence[ScriptCall], replies: Sequence[asyncio.Future[Any]]) -> None:
        outcomes: list[Any]
        try:
            outcomes = await self._run_all(calls)
        except asyncio.CancelledError:
            for reply in replies:
                reply.cancel()
            raise
        except Exception as error:  # noqa: BLE001 — raised in each caller
            outcomes = [error] * len(calls)
        for reply, outcome in zip(replies, outcomes, strict=True):
            if reply.done():  # its caller was cancelled
                continue
            if isinstance(outcome, Exception):
                reply.set_exception(outcome)
            else:
                reply.set_result(outcome)
