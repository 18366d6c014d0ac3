"""The worker: claims contexts, keeps them while they are worked on, takes over those of the dead."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

import structlog

from bot.errors import Fenced
from bot.inbox.quarantine import Quarantine
from bot.inbox.records import Claim
from bot.observe import metrics
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

CLAIM_WAIT_MS = 1_000
"""How long one blocking read waits: below the client's 5 s socket time-out, and the longest delay of a stop."""

SWEPT_AT_ONCE = 8
"""Contexts that are taken over in one go: what a dead worker leaves is shared by those that live."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
"""Between two tries while the store does not answer."""
LONGEST_REST_S = 5.0
"""Between two tries of work while the store answers, and refuses it."""

GRACE_S = 14.0
"""What runs at a stop may go on for so long, counted from the stop."""
LOOPS_END_WITHIN_S = 2.0
"""The last reads come back by themselves, after CLAIM_WAIT_MS; those of a store that hangs are ended."""
HAND_BACK_S, LEAVE_S = 1.5, 1.0
"""For cancelled work to hand its context back, and for leaving the groups. With the end of HTTP: 20 s in all."""

_LAST_WORDS_S = 0.2
"""For what was cancelled twice."""

Work = Callable[[Claim], Awaitable[None]]
"""Does what there is to do for a claimed context, and settles it. Cancelled when the claim is lost."""


class WorkQueue(Protocol):
    """Where the worker gets its contexts from."""

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]: ...
    async def sweep(self, partition: int, *, consumer: str, count: int, idle_ms: int) -> list[Claim]: ...
    async def keep(self, claim: Claim) -> None: ...
    async def let_others_in(self, claim: Claim) -> None: ...
    async def leave(self, partition: int, *, consumer: str) -> None: ...


class Worker:
    """Works on as many contexts at a time as its quarantine has slots, until it is told to stop. Built for one event loop.

    A context that lends its slot keeps its claim and its heartbeat meanwhile.
    """

    def __init__(
        self,
        queue: WorkQueue,
        work: Work,
        *,
        consumer: str,
        partitions: int,
        quarantine: Quarantine,
        lease_s: float,
    ) -> None:
        self._queue = queue
        self._work = work
        self._consumer = consumer
        self._partitions = partitions
        self._slots = quarantine.slots
        self._lease_s = lease_s
        self._quarantine = quarantine
        self._busy: set[asyncio.Task[None]] = set()

    async def run(self, stopping: asyncio.Event, *, grace_s: float = GRACE_S) -> None:
        """Work until `stopping`; then claim nothing more, and cancel what still runs `grace_s` seconds after it.

        Cancelled work hands its context back by itself. Store failures are waited out, not raised; at the end
        nothing is waited for beyond its few seconds, whatever the store does.
        """
        async with asyncio.TaskGroup() as group:
            loops = [
                group.create_task(loop(partition, stopping), name=f"{loop.__name__}-{partition}")
                for partition in range(self._partitions)
                for loop in (self._claim_forever, self._sweep_forever)
            ]
            await stopping.wait()
            deadline = asyncio.get_running_loop().time() + grace_s
            await _end(loops, after_s=LOOPS_END_WITHIN_S)
        await self._drain(deadline)
        await self._leave()

    async def _claim_forever(self, partition: int, stopping: asyncio.Event) -> None:
        async def claim_once() -> None:
            await self._quarantine.until_open()
            if not await self._has_room(stopping) or not self._quarantine.is_open():
                return
            for claim in await self._queue.claim(
                partition, consumer=self._consumer, count=1, wait_ms=CLAIM_WAIT_MS
            ):
                self._start(claim)

        await _repeat(claim_once, stopping, "claim")

    async def _sweep_forever(self, partition: int, stopping: asyncio.Event) -> None:
        async def sweep_once() -> None:
            claims = await self._queue.sweep(
                partition, consumer=self._consumer, count=SWEPT_AT_ONCE, idle_ms=int(self._lease_s * 1000)
            )
            for claim in claims:
                log.warning("context_taken_over", context=claim.ref.context_id, delivery=claim.delivery)
                self._start(claim)
            is_all = len(claims) < SWEPT_AT_ONCE
            await _wait(stopping, self._lease_s / 4 if is_all else FIRST_PAUSE_S)

        await _repeat(sweep_once, stopping, "sweep")

    async def _has_room(self, stopping: asyncio.Event) -> bool:
        """Wait until another context can be worked on at once: others may be idle. False when told to stop first."""
        while len(self._busy) - self._slots.resting >= self._slots.count and not stopping.is_set():
            stop = asyncio.create_task(stopping.wait(), name="stop-or-room")
            lent = asyncio.create_task(self._slots.next_lent(), name="lent-slot")
            try:
                await asyncio.wait([*self._busy, stop, lent], return_when=asyncio.FIRST_COMPLETED)
            finally:
                stop.cancel()
                lent.cancel()
        return not stopping.is_set()

    def _start(self, claim: Claim) -> None:
        task = asyncio.create_task(self._hold(claim), name=f"work-{claim.ref.context_id}")
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    async def _hold(self, claim: Claim) -> None:
        """Work under a heartbeat. This is where the worker catches broadly: one context must not end the rest."""
        work = asyncio.create_task(self._work_in_slot(claim), name=f"turn-{claim.ref.context_id}")
        beat = asyncio.create_task(self._beat(claim, work), name=f"beat-{claim.ref.context_id}")
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()
            beat.cancel()
            await _end([work, beat], after_s=HAND_BACK_S)
        if not work.done() or work.cancelled():
            log.warning("claim_lost", context=claim.ref.context_id)
            return
        match work.exception():
            case None:
                return
            case Fenced():
                log.warning("claim_lost", context=claim.ref.context_id)
            case error:
                metrics.WORKER_FAILURES.labels("work").inc()
                log.error("work_failed", context=claim.ref.context_id, exc_info=error)

    async def _work_in_slot(self, claim: Claim) -> None:
        """Work; where the store goes away under it, begin again as soon as it is back and the claim still ours."""
        rest = FIRST_PAUSE_S
        async with self._slots.work(), self._quarantine.begin(claim, lambda: self._let_others_in(claim)):
            while True:
                try:
                    return await self._work(claim)
                except (StoreUnavailable, StoreFull) as error:
                    log.warning("work_interrupted", context=claim.ref.context_id, error=str(error))
                await asyncio.sleep(rest)
                rest = min(LONGEST_REST_S, rest * 2)
                await self._until_kept(claim)
                await self._quarantine.begin_again(claim)

    async def _let_others_in(self, claim: Claim) -> None:
        """Note it, however long the store is away; who has lost the claim has nothing to note."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                await self._queue.let_others_in(claim)
            except (Fenced, CommandRefused):
                return
            except (StoreUnavailable, StoreFull):
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE_S, pause * 2)
            else:
                return

    async def _until_kept(self, claim: Claim) -> None:
        pause = FIRST_PAUSE_S
        while True:
            try:
                return await self._queue.keep(claim)
            except (StoreUnavailable, StoreFull):
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE_S, pause * 2)

    async def _beat(self, claim: Claim, work: asyncio.Task[None]) -> None:
        """Keep the claim; end the work when it is lost, or when nothing was heard of the store for a lease."""
        loop = asyncio.get_running_loop()
        heard = loop.time()
        while True:
            await asyncio.sleep(self._lease_s / 3)
            try:
                await self._queue.keep(claim)
                heard = loop.time()
            except (Fenced, CommandRefused):  # refused: the store was emptied, and the claim with it
                work.cancel()
                return
            except (StoreUnavailable, StoreFull):
                if loop.time() - heard > self._lease_s:
                    work.cancel()
                    return

    async def _drain(self, deadline: float) -> None:
        if not self._busy:
            return
        left = max(0.0, deadline - asyncio.get_running_loop().time())
        log.info("worker_draining", running=len(self._busy), at_most_s=round(left, 1))
        _, late = await asyncio.wait(self._busy, timeout=left)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=HAND_BACK_S + 2 * _LAST_WORDS_S)

    async def _leave(self) -> None:
        with suppress(TimeoutError, StoreUnavailable, StoreFull, CommandRefused):
            async with asyncio.timeout(LEAVE_S):
                for partition in range(self._partitions):
                    await self._queue.leave(partition, consumer=self._consumer)


async def _end(tasks: Sequence[asyncio.Task[None]], *, after_s: float) -> None:
    """Wait for tasks that are ending; cancel what is left of them after so many seconds."""
    _, late = await asyncio.wait(tasks, timeout=after_s)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=_LAST_WORDS_S)


async def _repeat(step: Callable[[], Awaitable[None]], stopping: asyncio.Event, name: str) -> None:
    """Take `step` until `stopping`; after a failure of the store wait a little longer each time."""
    pause = FIRST_PAUSE_S
    while not stopping.is_set():
        try:
            await step()
            pause = FIRST_PAUSE_S
        except (StoreUnavailable, StoreFull, CommandRefused) as error:
            log.warning("store_failed", loop=name, error=str(error), retry_in_s=pause)
            await _wait(stopping, pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
