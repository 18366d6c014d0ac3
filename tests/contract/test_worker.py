"""The worker on the real inbox: its slots, its claims, and its end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

import pytest

from bot.errors import Fenced
from bot.inbox import isolation as isolation_module
from bot.inbox import worker as worker_module
from bot.inbox.isolation import Isolation, Slots
from bot.inbox.records import Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.worker import Worker
from memory import keys
from memory.errors import CommandRefused, MemoryFailure, StoreFull, StoreUnavailable
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, eventually, open_inbox
from tests.messages import make_ref


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocking reads short, so that a stopped worker ends soon."""
    monkeypatch.setattr(worker_module, "CLAIM_WAIT_MS", 20)
    for name in ("LOOPS_END_WITHIN_S", "HAND_BACK_S", "LEAVE_S"):
        monkeypatch.setattr(worker_module, name, 0.3)


@dataclass(slots=True)
class Work:
    """Work that waits for `go`, then commits its updates and settles the context."""

    box: Inbox
    go: asyncio.Event = field(default_factory=asyncio.Event)
    running: list[Claim] = field(default_factory=list[Claim])
    most: int = 0
    done: list[int] = field(default_factory=list[int])
    taken: int = 0
    cancelled: int = 0

    async def __call__(self, claim: Claim) -> None:
        self.running.append(claim)
        self.most = max(self.most, len(self.running))
        try:
            is_done = False
            while not is_done:  # an update may come between the last one and the settling
                todo = await self.box.take(claim)
                self.taken += 1
                await self.go.wait()
                for update_id in todo.updates:
                    await self.box.commit(claim, update_id)
                    self.done.append(update_id)
                is_done = not await self.box.inbox.settle(claim)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running.remove(claim)


@dataclass(slots=True)
class ShakyInbox:
    """An inbox whose calls of `step` raise `failure` while it is set."""

    inbox: RedisInbox
    step: str
    failure: MemoryFailure | None = None
    failures: int = 0

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]:
        self._fail("claim")
        return await self.inbox.claim(partition, consumer=consumer, count=count, wait_ms=wait_ms)

    async def watch(self, *, consumer: str) -> list[dict[str, str]]:
        return await self.inbox.watch(consumer=consumer)

    async def sweep(self, partition: int, **wanted: Any) -> list[Claim]:
        return await self.inbox.sweep(partition, **wanted)

    async def keep(self, claim: Claim) -> None:
        self._fail("keep")
        await self.inbox.keep(claim)

    async def uncount(self, claim: Claim) -> None:
        await self.inbox.uncount(claim)

    async def let_others_in(self, claim: Claim) -> None:
        await self.inbox.let_others_in(claim)

    async def leave(self, partition: int, *, consumer: str) -> None:
        self._fail("leave")
        await self.inbox.leave(partition, consumer=consumer)

    def _fail(self, step: str) -> None:
        if self.failure is not None and step == self.step:
            self.failures += 1
            raise self.failure


@dataclass(slots=True)
class HangingInbox:
    """An inbox whose store can hang: then no call returns, and a cancelled one hands back.

    No heartbeat of the context `keeps_not` returns either.
    """

    inbox: RedisInbox
    hangs: bool = False
    keeps_not: str = ""
    hanging: set[str] = field(default_factory=set[str])

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]:
        await self._answer("claim")
        return await self.inbox.claim(partition, consumer=consumer, count=count, wait_ms=wait_ms)

    async def watch(self, *, consumer: str) -> list[dict[str, str]]:
        return await self.inbox.watch(consumer=consumer)

    async def sweep(self, partition: int, **wanted: Any) -> list[Claim]:
        return await self.inbox.sweep(partition, **wanted)

    async def keep(self, claim: Claim) -> None:
        await self._answer("keep", hangs=claim.ref.context_id == self.keeps_not)
        await self.inbox.keep(claim)

    async def let_others_in(self, claim: Claim) -> None:
        await self.inbox.let_others_in(claim)

    async def leave(self, partition: int, *, consumer: str) -> None:
        await self._answer("leave")
        await self.inbox.leave(partition, consumer=consumer)

    async def settle(self, claim: Claim) -> None:
        await self._answer("settle")
        await self.inbox.settle(claim)

    async def _answer(self, step: str, *, hangs: bool = False) -> None:
        if hangs or self.hangs:
            self.hanging.add(step)
            await asyncio.Event().wait()


@asynccontextmanager
async def _running(
    queue: RedisInbox | ShakyInbox | HangingInbox,
    work: Callable[[Claim], Awaitable[None]],
    *,
    name: str = "anna",
    concurrency: int = 4,
    slots: Slots | None = None,
    isolation: Isolation | None = None,
    lease_s: float = 10,
    grace_s: float = 0.05,
) -> AsyncGenerator[Callable[[], Coroutine[Any, Any, None]]]:
    """Run a worker until the block ends or calls the yielded function."""
    inbox = queue if isinstance(queue, RedisInbox) else queue.inbox
    isolation = isolation or Isolation(inbox, slots or Slots(concurrency))
    taken_from = cast(RedisInbox, queue)
    worker = Worker(taken_from, work, consumer=name, partitions=1, isolation=isolation, lease_s=lease_s)
    stopping = asyncio.Event()
    running = asyncio.create_task(worker.run(stopping, grace_s=grace_s), name=f"worker-{name}")

    async def stop() -> None:
        stopping.set()
        async with asyncio.timeout(5):
            await running

    try:
        yield stop
    finally:
        await stop()


async def test_a_worker_processes_as_many_contexts_as_it_has_slots(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for chat in range(1, 6):
        await box.accept(chat, chat=chat)
    work = Work(box)

    async with _running(box.inbox, work, concurrency=3):
        await eventually(lambda: len(work.running) == 3)
        work.go.set()
        await eventually(lambda: len(work.done) == 5)

    assert work.most == 3


async def test_a_worker_claims_nothing_during_an_isolation(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker can process it."""
    monkeypatch.setattr(isolation_module, "SURVIVED_S", 0.0)
    box = await open_inbox(redis)
    await box.accept(1)
    work, isolation = Work(box), Isolation(box.inbox, Slots(2))
    async with _running(box.inbox, work, isolation=isolation):
        await eventually(lambda: len(work.running) == 1)
        fence = replace(work.running[0].fence, delivery="3")
        alone = replace(work.running[0], fence=fence, deaths=2)
        async with isolation.begin(alone, _no_note):
            await asyncio.sleep(0.1)  # the last read ends
            await box.accept(2, chat=2)
            work.go.set()
            await eventually(lambda: work.done == [1])
            await asyncio.sleep(0.1)
            claimed = await box.inbox.claim(0, consumer="bert", count=1, wait_ms=1)

    assert [claim.ref for claim in claimed] == [make_ref(2)]


async def _no_note() -> None: ...


async def test_contexts_with_one_death_start_a_little_apart(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "PACE_S", 0.05)
    box = await open_inbox(redis)
    for chat in range(1, 4):
        await box.accept(chat, chat=chat)
    for claim in await box.inbox.claim(0, consumer="died", count=3, wait_ms=1):
        await box.take(claim)
    begun = list[float]()

    async def work(_: Claim) -> None:
        begun.append(asyncio.get_running_loop().time())

    async with _running(box.inbox, work, lease_s=0.3):
        await eventually(lambda: len(begun) == 3)

    assert all(later - earlier > 0.04 for earlier, later in pairwise(begun))


async def test_contexts_with_two_deaths_start_one_at_a_time(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for chat in range(1, 4):
        await box.accept(chat, chat=chat)
    for claim in await box.inbox.claim(0, consumer="died", count=3, wait_ms=1):
        await box.take(claim)
    for claim in await box.inbox.sweep(0, consumer="died-too", count=3, idle_ms=0):
        await box.take(claim)
    work = Work(box)

    async with _running(box.inbox, work, lease_s=1.5):
        await eventually(lambda: work.taken == 1)
        work.go.set()
        await eventually(lambda: sorted(work.done) == [1, 2, 3])

    assert work.most == 1


async def test_a_waiting_context_does_not_block_another_one(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    slots, rested, others = Slots(1), asyncio.Event(), Work(box)

    async def work(claim: Claim) -> None:
        if claim.ref == make_ref(1):
            async with slots.rest():
                await rested.wait()
        await others(claim)

    async with _running(box.inbox, work, slots=slots):
        await box.accept(1, chat=1)
        await eventually(lambda: slots.resting == 1)
        await box.accept(2, chat=2)
        others.go.set()
        await eventually(lambda: others.done == [2])
        rested.set()
        await eventually(lambda: others.done == [2, 1])


async def test_a_full_worker_leaves_the_next_context_to_an_idle_one(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    full, idle = Work(box), Work(box)

    async with _running(box.inbox, full, concurrency=1):
        await box.accept(1, chat=1)
        await eventually(lambda: len(full.running) == 1)
        await box.accept(2, chat=2)
        async with _running(box.inbox, idle, name="bert", concurrency=1):
            await eventually(lambda: len(idle.running) == 1)
            idle.go.set()
            full.go.set()
            await eventually(lambda: full.done + idle.done == [1, 2])

    assert (full.done, idle.done) == ([1], [2])


async def test_a_stopped_worker_lets_running_work_finish(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work = Work(box)

    async with _running(box.inbox, work, grace_s=5) as stop:
        await eventually(lambda: len(work.running) == 1)
        stopping = asyncio.create_task(stop())
        loop = asyncio.get_running_loop()
        last_read_ends = loop.time() + 0.1
        await eventually(lambda: loop.time() > last_read_ends)
        await box.accept(2, chat=2)
        work.go.set()
        await stopping

    assert work.done == [1]
    assert await box.waiting(chat=2) == [2]


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_stopped_worker_cancels_unfinished_work_even_with_all_slots_in_use(
    redis: RedisClient, concurrency: int
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work = Work(box)

    async with _running(box.inbox, work, concurrency=concurrency) as stop:
        await eventually(lambda: len(work.running) == 1)
        await stop()

    assert (work.cancelled, work.done, work.running) == (1, [], [])


async def test_a_stopped_worker_leaves_its_group(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    async with _running(box.inbox, Work(box)):
        pass

    assert await redis.call("XINFO", "CONSUMERS", keys.partition_key(0, "ready"), "workers") == []


async def test_a_context_stays_claimed_while_it_is_processed(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, other = Work(box), Work(box)

    async with _running(box.inbox, work, lease_s=1.0), _running(box.inbox, other, name="bert", lease_s=1.0):
        await eventually(lambda: len(work.running) + len(other.running) == 1)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await eventually(lambda: loop.time() - began > 2.5)
        work.go.set()
        other.go.set()
        await eventually(lambda: work.done + other.done == [1])

    assert work.most + other.most == 1
    assert (await box.record_of(1))["attempts"] == "1"


async def test_a_context_of_a_dead_worker_is_taken_over(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.claim("dead")
    work = Work(box)
    work.go.set()

    async with _running(box.inbox, work, lease_s=0.1):
        await eventually(lambda: work.done == [1])


async def test_work_ends_when_another_worker_takes_its_context(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work = Work(box)

    async with _running(box.inbox, work, lease_s=0.3):
        await eventually(lambda: work.taken == 1)
        await redis.call(  # another worker, which believes that ours is dead
            "XCLAIM", keys.partition_key(0, "ready"), "workers", "bert", 0, work.running[0].fence.entry
        )
        await eventually(lambda: work.cancelled == 1)

    assert work.done == []


async def test_work_ends_after_a_lease_without_the_store(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, shaky = Work(box), ShakyInbox(box.inbox, "keep")

    async with _running(shaky, work, lease_s=0.2):
        await eventually(lambda: work.taken == 1)
        shaky.failure = StoreUnavailable()
        await eventually(lambda: work.cancelled == 1)
        shaky.failure = None

    assert shaky.failures >= 3


async def test_a_short_failure_of_the_store_ends_no_work(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, shaky = Work(box), ShakyInbox(box.inbox, "keep", failure=StoreUnavailable())

    async with _running(shaky, work, lease_s=0.5):
        await eventually(lambda: shaky.failures == 1)
        shaky.failure = None
        work.go.set()
        await eventually(lambda: work.done == [1])

    assert work.cancelled == 0


async def test_a_heartbeat_that_hangs_costs_no_other_context_its_claim(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1, chat=1)
    await box.accept(2, chat=2)
    work, hung = Work(box), HangingInbox(box.inbox, keeps_not=make_ref(1).context_id)

    async with _running(hung, work, lease_s=0.9):
        await eventually(lambda: work.taken >= 2)
        await eventually(lambda: work.cancelled >= 1)  # a lease later
        await eventually(lambda: work.taken >= 3)  # it was taken over
        work.go.set()
        await eventually(lambda: set(work.done) == {1, 2})

    assert (await box.record_of(1))["attempts"] == "2"
    assert (await box.record_of(2))["attempts"] == "1"


async def test_work_ends_when_the_store_was_emptied(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work = Work(box)

    async with _running(box.inbox, work, lease_s=0.2):
        await eventually(lambda: work.taken == 1)
        await redis.call("FLUSHALL")
        await eventually(lambda: work.cancelled == 1)
        work.go.set()
        await box.accept(2)
        await eventually(lambda: work.done == [2])


@pytest.mark.parametrize("failure", [StoreUnavailable(), StoreFull()])
async def test_the_worker_continues_when_the_store_is_back(
    redis: RedisClient, failure: MemoryFailure
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, shaky = Work(box), ShakyInbox(box.inbox, "claim", failure=failure)
    work.go.set()

    async with _running(shaky, work):
        await eventually(lambda: shaky.failures >= 2)
        assert work.done == []
        shaky.failure = None
        await eventually(lambda: work.done == [1])


async def test_work_ends_at_once_if_the_store_does_not_know_its_claim(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, shaky = Work(box), ShakyInbox(box.inbox, "keep", failure=CommandRefused("NOGROUP"))

    async with _running(shaky, work, lease_s=0.2):
        await eventually(lambda: work.cancelled == 1)

    assert shaky.failures >= 1  # on a busy machine another heartbeat comes before the work has ended


@pytest.mark.parametrize("failure", [StoreUnavailable(), CommandRefused("NOGROUP")])
async def test_the_worker_can_stop_while_the_store_is_unavailable(
    redis: RedisClient, failure: MemoryFailure
) -> None:
    box = await open_inbox(redis)
    shaky = ShakyInbox(box.inbox, "leave", failure=failure)

    async with _running(shaky, Work(box)):
        pass

    assert shaky.failures == 1


async def test_the_worker_stops_in_time_while_the_store_hangs(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    hung, running = HangingInbox(box.inbox), asyncio.Event()

    async def work(claim: Claim) -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            await hung.settle(claim)

    loop = asyncio.get_running_loop()
    async with _running(hung, work, grace_s=0.5) as stop:
        await running.wait()
        hung.hangs = True
        await eventually(lambda: "claim" in hung.hanging)
        began = loop.time()
        await stop()

    assert loop.time() - began < 2
    assert hung.hanging == {"claim", "settle", "leave"}


async def test_the_grace_period_begins_with_the_stop(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "LOOPS_END_WITHIN_S", 0.6)
    box = await open_inbox(redis)
    await box.accept(1)
    work, hung = Work(box), HangingInbox(box.inbox)

    loop = asyncio.get_running_loop()
    async with _running(hung, work, grace_s=0.6) as stop:
        await eventually(lambda: len(work.running) == 1)
        hung.hangs = True
        await eventually(lambda: "claim" in hung.hanging)
        began = loop.time()
        stopping = asyncio.create_task(stop())
        await eventually(lambda: work.cancelled == 1)
        took = loop.time() - began
        await stopping

    assert took < 1.0


async def test_work_that_the_store_refuses_is_retried_with_growing_pauses(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "FIRST_PAUSE_S", 0.02)
    monkeypatch.setattr(worker_module, "LONGEST_WORK_PAUSE_S", 0.1)
    box = await open_inbox(redis)
    await box.accept(1)
    loop, tries = asyncio.get_running_loop(), list[float]()

    async def work(_: Claim) -> None:
        tries.append(loop.time())
        raise StoreFull

    async with _running(box.inbox, work):
        await eventually(lambda: len(tries) == 6)

    gaps = [later - earlier for earlier, later in pairwise(tries)]
    assert [gap >= pause for gap, pause in zip(gaps, (0.02, 0.04, 0.08, 0.1, 0.1), strict=True)] == [True] * 5


@pytest.mark.parametrize("failure", [RuntimeError("a bug"), Fenced(), StoreUnavailable()])
async def test_failed_work_ends_neither_the_worker_nor_other_work(
    redis: RedisClient, failure: Exception
) -> None:
    box = await open_inbox(redis)
    await box.accept(1, chat=1)
    await box.accept(2, chat=2)
    work = Work(box)
    work.go.set()

    async def fail_for_one(claim: Claim) -> None:
        if claim.ref == make_ref(1):
            raise failure
        await work(claim)

    async with _running(box.inbox, fail_for_one):
        await eventually(lambda: work.done == [2])
        await box.accept(3, chat=2)
        await eventually(lambda: work.done == [2, 3])

    assert await box.waiting(chat=1) == [1]
