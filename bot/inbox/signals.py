"""Signals: tell the running turns of this process about stops, edits, new messages and presses, and end their work."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import stamina

from bot.inbox.records import Signal
from bot.inbox.redis_inbox import RedisInbox
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

T = TypeVar("T")

READ_WAIT_MS = 2_000
PAUSE_S = 0.5
"""Pause between two tries while the store does not answer."""


Incoming = asyncio.Queue[Signal]
"""Signals of one context since its watch began. Each is delivered once, in order."""


class Signals:
    """The contexts that this process works on, each with the watches for its signals."""

    def __init__(self, inbox: RedisInbox) -> None:
        self._inbox = inbox
        self._watched: dict[str, list[Incoming]] = defaultdict(list)

    @contextmanager
    def watch(self, context_id: str) -> Generator[Incoming]:
        """Collect the context's signals during the block.

        A watch that begins before the turn takes the waiting updates misses nothing.
        """
        incoming: Incoming = asyncio.Queue()
        self._watched[context_id].append(incoming)
        try:
            yield incoming
        finally:
            self._watched[context_id].remove(incoming)
            if not self._watched[context_id]:
                del self._watched[context_id]

    async def listen(self, partition: int) -> None:
        """Read the partition's signals until cancelled. None is lost while the store is away."""
        retrying = stamina.AsyncRetryingCaller(
            attempts=None, timeout=None, wait_initial=PAUSE_S, wait_max=PAUSE_S, wait_jitter=0.0
        ).on((StoreUnavailable, StoreFull, CommandRefused))
        after = await retrying(self._inbox.last_signal, partition)
        while True:
            after, signals = await retrying(self._inbox.signals, partition, after=after, wait_ms=READ_WAIT_MS)
            for context_id, signal in signals:
                for incoming in self._watched.get(context_id, ()):
                    incoming.put_nowait(signal)


async def run_until(
    work: Coroutine[Any, Any, T], ending: Coroutine[Any, Any, Exception], *, within_s: float
) -> T:
    """Return the result of the work. Raise the exception that `ending` returns, as soon as it does.

    Raises TimeoutError after `within_s` seconds, and what the work raises.
    """
    waiting = asyncio.create_task(ending, name="turn-signals")
    try:
        async with asyncio.timeout(within_s) as run:
            waiting.add_done_callback(partial(_end_now, run))
            return await work
    except Exception:
        if waiting.done():
            raise waiting.result() from None
        raise
    finally:
        waiting.cancel()
        await asyncio.wait([waiting])


def _end_now(run: asyncio.Timeout, ending: asyncio.Task[Exception]) -> None:
    """Cancel the block of this time-out, unless it has ended."""
    if not ending.cancelled():
        with suppress(RuntimeError):
            run.reschedule(0)
