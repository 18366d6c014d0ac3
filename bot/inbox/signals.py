"""Signals: tell the running turns of this process about stops, edits, new messages and pressed buttons."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager

import stamina

from bot.inbox.records import Signal
from bot.inbox.redis_inbox import RedisInbox
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

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
