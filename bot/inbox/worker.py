"""The worker: claim contexts, keep them, run their work, settle them, take over those of dead workers."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from time import monotonic

import stamina
import structlog

from bot.errors import Fenced
from bot.inbox.isolation import Isolation
from bot.inbox.records import Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.observe import metrics
from memory import keys
from memory.errors import CommandRefused, MemoryFailure, StoreFull, StoreUnavailable
from memory.keys import Key
from memory.redis.client import RedisClient, open_redis
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

CLAIM_WAIT_MS = 1_000
"""Longest blocking read. It is less than the client's socket time-out of 5 s, and delays a stop."""
SWEPT_AT_ONCE = 8
"""Contexts that one sweep takes over. The living workers share those of a dead one."""
PACE_S = 0.05
"""Pause after each update over which a worker has died, so that the next death takes fewer of them along."""
SWEEP_PAUSE_S = 0.1
"""Pause after a sweep that found as many as it could take."""

GRACE_S = 14.0
"""Running work may go on for this long after a stop."""
LOOPS_END_WITHIN_S = 2.0
"""The last reads end by themselves after CLAIM_WAIT_MS. Reads of a store that hangs are cancelled."""
HAND_BACK_S, LEAVE_S = 1.5, 1.0
"""Cancelled work may take HAND_BACK_S to hand its context back; leaving the groups may take LEAVE_S. Together with the
end of HTTP that makes 20 s.
"""
_CANCELLED_TWICE_S = 0.2
"""Time for tasks that have been cancelled again."""

Work = Callable[[Claim], Awaitable[None]]
"""Does the work of a claimed context, and settles it. It is cancelled when the claim is lost."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
"""Backoff while the store does not answer."""
LONGEST_WORK_PAUSE_S = 5.0
"""Longest backoff of work that the store refuses though it answers."""

_AWAY = (StoreUnavailable, StoreFull)
_retrying = stamina.AsyncRetryingCaller(
    attempts=None,
    timeout=None,
    wait_initial=FIRST_PAUSE_S,
    wait_max=LONGEST_PAUSE_S,
    wait_jitter=FIRST_PAUSE_S,
)


@dataclass(slots=True)
class _Hold:
    """A claim that this worker holds."""

    claim: Claim
    kept_at: float
    """The time of the event loop at which the claim was taken or kept last."""


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


@dataclass(frozen=True, slots=True)
class Worker:
    """Works on as many contexts at a time as it has slots, until it is stopped. One instance per event loop."""

    inbox: RedisInbox
    work: Work
    _: KW_ONLY
    consumer: str
    partitions: int
    isolation: Isolation
    lease_s: float
    doubted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set if other workers may have taken over contexts of this one: then it looks which ones it still holds."""
    _held: dict[asyncio.Task[None], _Hold] = field(default_factory=dict[asyncio.Task[None], _Hold])
    _has_claimed: threading.Event = field(default_factory=threading.Event)
    """Set by each claim, until `is_busy` has told of it."""

    def is_busy(self) -> bool:
        """Return True if this worker holds contexts, or has held one since the last call. Any thread may ask."""
        has_claimed = self._has_claimed.is_set()
        self._has_claimed.clear()
        return has_claimed or bool(self._held)

    async def run(self, stopping: asyncio.Event, *, grace_s: float = GRACE_S) -> None:
        """Work until `stopping`. Then claim nothing more, and cancel the work that still runs after `grace_s`.

        Cancelled work hands its context back. Failures of the store are retried, not raised. No part of the stop waits
        longer than its constant, even if the store hangs.
        """
        beats = asyncio.create_task(self._beat_forever(), name="heartbeats")
        try:
            async with asyncio.TaskGroup() as group:
                loops = [
                    group.create_task(loop(partition, stopping), name=f"{loop.__name__}-{partition}")
                    for partition in range(self.partitions)
                    for loop in (self._claim_forever, self._sweep_forever)
                ]
                loops.append(group.create_task(self._watch_forever(stopping), name="watch"))
                await stopping.wait()
                deadline = asyncio.get_running_loop().time() + grace_s
                await _end(loops, after_s=LOOPS_END_WITHIN_S)
            await self._drain(deadline)
        finally:
            beats.cancel()
            await _end([beats], after_s=_CANCELLED_TWICE_S)
        await _leave(self.inbox, consumer=self.consumer, partitions=self.partitions)

    async def _claim_forever(self, partition: int, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            try:
                await self._claim(partition, stopping)
            except (*_AWAY, CommandRefused):
                await asyncio.sleep(FIRST_PAUSE_S)
                await _retrying((*_AWAY, CommandRefused), self._claim, partition, stopping)

    async def _claim(self, partition: int, stopping: asyncio.Event) -> None:
        async with self.isolation.slot():
            pass  # there is room for one more context
        if stopping.is_set():
            return
        claims = await self.inbox.claim(partition, consumer=self.consumer, count=1, wait_ms=CLAIM_WAIT_MS)
        for claim in claims:
            self._start(claim)
        await asyncio.sleep(0)  # the new task asks for its slot before the next claim does

    async def _sweep_forever(self, partition: int, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            taken = await _retrying((*_AWAY, CommandRefused), self._sweep, partition)
            await _sleep_until(stopping, self.lease_s / 4 if taken < SWEPT_AT_ONCE else SWEEP_PAUSE_S)

    async def _watch_forever(self, stopping: asyncio.Event) -> None:
        """Take over the contexts of workers whose heartbeats have stopped."""
        time = asyncio.get_running_loop().time
        silences = [Silence() for _ in range(self.partitions)]
        while not stopping.is_set():
            pause_s = BEAT_S
            with suppress(CommandRefused, *_AWAY):
                beats = await self.inbox.watch(consumer=self.consumer)
                for partition, silence in enumerate(silences):
                    silent = silence.look(beats[partition], now=time())
                    if silent and await self._sweep(partition, silent) == SWEPT_AT_ONCE:
                        pause_s = SWEEP_PAUSE_S
            await _sleep_until(stopping, pause_s)

    async def _sweep(self, partition: int, silent: Mapping[str, str] | None = None) -> int:
        """Take over contexts of silent workers, and those that were not kept for a lease. Return their number."""
        claims = await self.inbox.sweep(
            partition,
            consumer=self.consumer,
            count=SWEPT_AT_ONCE,
            idle_ms=int(self.lease_s * 1000),
            silent=silent,
        )
        for claim in claims:
            log.warning("context_taken_over", context=claim.ref.context_id, delivery=claim.fence.delivery)
            self._start(claim)
            await asyncio.sleep(PACE_S if claim.deaths else 0)
        return len(claims)

    def _start(self, claim: Claim) -> None:
        task = asyncio.create_task(self._work_when_stored(claim), name=f"turn-{claim.ref.context_id}")
        self._held[task] = _Hold(claim, kept_at=asyncio.get_running_loop().time())
        self._has_claimed.set()
        task.add_done_callback(self._end_hold)

    def _end_hold(self, task: asyncio.Task[None]) -> None:
        """Report how the work ended. A failure in one context must not end the work on others."""
        context_id = self._held.pop(task).claim.ref.context_id
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or isinstance(error, Fenced):
            log.warning("claim_lost", context=context_id)
        elif error is not None:
            metrics.WORKER_FAILURES.labels("work").inc()
            log.error("work_failed", context=context_id, exc_info=error)

    async def _work_when_stored(self, claim: Claim) -> None:
        """Work. If the store fails meanwhile, begin again when it is back and the claim still holds."""
        try:
            await self._begin(claim)
            return
        except _AWAY:
            await asyncio.sleep(FIRST_PAUSE_S)
        async for attempt in stamina.retry_context(
            on=_AWAY,
            attempts=None,
            timeout=None,
            wait_initial=2 * FIRST_PAUSE_S,
            wait_max=LONGEST_WORK_PAUSE_S,
            wait_jitter=FIRST_PAUSE_S,
        ):
            with attempt:
                await self.inbox.keep(claim)
                await self._begin(claim)

    async def _begin(self, claim: Claim) -> None:
        try:
            async with self.isolation.begin(claim, lambda: self._let_others_in(claim)):
                await self.work(claim)
        except Fenced:
            await _uncount(self.inbox, claim)
            raise

    async def _let_others_in(self, claim: Claim) -> None:
        with suppress(Fenced, CommandRefused):  # a lost claim needs no note
            await _retrying(_AWAY, self.inbox.let_others_in, claim)

    async def _beat_forever(self) -> None:
        """Keep all claims. One loop for all of them: most work ends before its first heartbeat."""
        while True:
            await _sleep_until(self.doubted, self.lease_s / 3)
            self.doubted.clear()
            beats = [self._beat(task, hold) for task, hold in self._held.items()]
            for error in await asyncio.gather(*beats, return_exceptions=True):
                if isinstance(error, Exception):
                    metrics.WORKER_FAILURES.labels("heartbeat").inc()
                    log.error("heartbeat_failed", exc_info=error)

    async def _beat(self, work: asyncio.Task[None], hold: _Hold) -> None:
        """Keep the claim. Cancel the work if the claim is lost, or if the store has not answered for a lease.

        A hanging server of a cluster must not delay the next heartbeats of other partitions.
        """
        time = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self.lease_s / 3):
                await self.inbox.keep(hold.claim)
            hold.kept_at = time()
        except (TimeoutError, *_AWAY):
            if time() - hold.kept_at > self.lease_s:
                work.cancel()
        except (Fenced, CommandRefused):  # refused: somebody emptied the store, and the claim is gone
            if not hold.claim.settled.is_set():
                work.cancel()
                await _uncount(self.inbox, hold.claim)

    async def _drain(self, deadline: float) -> None:
        if not self._held:
            return
        left = max(0.0, deadline - asyncio.get_running_loop().time())
        log.info("worker_draining", running=len(self._held), at_most_s=round(left, 1))
        _, late = await asyncio.wait(self._held, timeout=left)
        for task in late:
            task.cancel()
        if late:
            await _end(list(late), after_s=HAND_BACK_S)


async def _uncount(inbox: RedisInbox, claim: Claim) -> None:
    """Report that a claim was lost without a death. If the store fails, the loss counts as one."""
    with suppress(*_AWAY, CommandRefused):
        await inbox.uncount(claim)


async def _leave(inbox: RedisInbox, *, consumer: str, partitions: int) -> None:
    with suppress(TimeoutError, CommandRefused, *_AWAY):
        async with asyncio.timeout(LEAVE_S):
            for partition in range(partitions):
                await inbox.leave(partition, consumer=consumer)


async def _sleep_until(event: asyncio.Event, longest_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(longest_s):
            await event.wait()


async def _end(tasks: Sequence[asyncio.Task[None]], *, after_s: float) -> None:
    """Wait for tasks that are ending, and cancel those that are not done after `after_s`."""
    _, late = await asyncio.wait(tasks, timeout=after_s)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=_CANCELLED_TWICE_S)
