"""Heartbeats of workers. If those of one stop, the others take over its contexts.

They come from a thread of their own, so that an event loop that is busy or blocked loses no context: the lease is for
a loop that never returns. They find a dead process, a dead machine and a cut network, long before a lease ends.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from time import monotonic

import structlog

from memory import keys
from memory.errors import MemoryFailure
from memory.keys import Key
from memory.redis.client import RedisClient, open_redis
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

BEAT_S = 0.25
"""Between two heartbeats of a worker that holds contexts, and between two looks at those of others."""
SILENT_S = 3.5
"""A worker without a heartbeat for this long counts as dead. It may stand still for 3 s."""
LOOK_COUNTS_S = 2 * BEAT_S
LATE_S = 3.0
"""A worker without a heartbeat for this long shows nothing more: its contexts may soon be another's."""
IDLE_BEAT_S = keys.BEAT_TTL_S / 4
"""Between two heartbeats of an idle worker, which only keep its key."""
CONNECT_S, BEAT_WITHIN_S = 1.0, 1.0
"""A new connection, and a heartbeat on one, take milliseconds. One that hangs is given up soon."""
_CONNECTING_S = 6.0
"""Longest try after a failure: some addresses of a store may not answer."""
_END_S = 1.0


@lua_script("bot.inbox.scripts")
def beat(beat: Key, *, number: int, ttl: int) -> ScriptCall: ...


@dataclass(slots=True)
class Silence:
    """The silence of other workers, as one observer has seen it. It compares no clocks of two machines.

    An interval between two looks counts LOOK_COUNTS_S at most: then the observer stood still, or nobody reached the
    store, which says nothing about the others.
    """

    _silent_s: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    _looked_at: float = 0.0

    def look(self, beats: Mapping[str, str], *, now: float) -> dict[str, str]:
        """Take the present heartbeats by worker. Return those that have not changed for SILENT_S."""
        passed = min(now - self._looked_at, LOOK_COUNTS_S)
        self._looked_at = now
        known = self._silent_s
        self._silent_s = {each: known[each] + passed if each in known else 0.0 for each in beats.items()}
        return {name: number for (name, number), silent in self._silent_s.items() if silent >= SILENT_S}


@dataclass(slots=True)
class Heartbeat:
    """The heartbeat of one worker."""

    redis: RedisClient
    _: KW_ONLY
    consumer: str
    partitions: int
    _beaten_at: float = field(default_factory=monotonic)
    _ending: threading.Event = field(default_factory=threading.Event)

    def is_late(self) -> bool:
        """Return True if other workers may have taken over contexts of this one, or soon will."""
        return monotonic() - self._beaten_at > LATE_S

    @asynccontextmanager
    async def beating(
        self, is_busy: Callable[[], bool], *, doubt: Callable[[], None]
    ) -> AsyncGenerator[None]:
        """Beat during the block, in a thread.

        `is_busy` is called in the thread: an idle worker beats rarely. `doubt` is called in this event loop after a
        gap, in which other workers may have taken over contexts.
        """
        doubt_here = partial(asyncio.get_running_loop().call_soon_threadsafe, doubt)

        def in_thread() -> None:
            asyncio.run(self._beat_forever(is_busy, doubt_here))

        thread = threading.Thread(target=in_thread, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            await asyncio.to_thread(thread.join, _END_S)

    async def _beat_forever(self, is_busy: Callable[[], bool], doubt: Callable[[], object]) -> None:
        stored_at, number, patience_s = -IDLE_BEAT_S, 0, _CONNECTING_S
        async with open_redis(self.redis.url, max_connections=2, connect_s=CONNECT_S) as redis:
            while not self._ending.is_set():
                now = monotonic()
                if not is_busy() and now - stored_at < IDLE_BEAT_S:
                    self._beaten_at = now  # none was due
                    await asyncio.sleep(BEAT_S)
                    continue
                number += 1
                try:
                    async with asyncio.timeout(patience_s):
                        await redis.run_all(self._calls(number))
                except (TimeoutError, MemoryFailure) as error:
                    if patience_s == BEAT_WITHIN_S:
                        log.warning("heartbeat_missed", error=type(error).__name__)
                    patience_s = _CONNECTING_S
                else:
                    was_late, patience_s = self.is_late(), BEAT_WITHIN_S
                    stored_at = self._beaten_at = now
                    if was_late:
                        with suppress(RuntimeError):  # the worker's loop has ended
                            doubt()
                await asyncio.sleep(BEAT_S)

    def _calls(self, number: int) -> list[ScriptCall]:
        names = [keys.partition_key(each, "beat", self.consumer) for each in range(self.partitions)]
        return [beat(name, number=number, ttl=keys.BEAT_TTL_S) for name in names]
