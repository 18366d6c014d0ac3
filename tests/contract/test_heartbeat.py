"""Heartbeats on the real store: who loses contexts, who keeps them, and what a turn costs."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.inbox import worker as worker_module
from bot.inbox.isolation import Isolation, Slots
from bot.inbox.records import Claim
from bot.inbox.worker import Heartbeat, Worker
from memory import keys
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, eventually, open_inbox

LEASE_S = 60.0


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocking reads short, and the silence of a dead worker too."""
    monkeypatch.setattr(worker_module, "CLAIM_WAIT_MS", 20)
    monkeypatch.setattr(worker_module, "BEAT_S", 0.02)
    monkeypatch.setattr(worker_module, "LOOK_COUNTS_S", 0.04)
    monkeypatch.setattr(worker_module, "SILENT_S", 0.5)
    monkeypatch.setattr(worker_module, "LATE_S", 0.4)


class Work:
    """Work that holds its contexts until `go`."""

    def __init__(self, box: Inbox) -> None:
        self.box = box
        self.go = asyncio.Event()
        self.running: list[Claim] = []
        self.ended: list[str] = []

    async def __call__(self, claim: Claim) -> None:
        self.running.append(claim)
        try:
            todo = await self.box.take(claim)
            await self.go.wait()
            for update_id in todo.updates:
                await self.box.commit(claim, update_id)
            await self.box.inbox.settle(claim)
            self.ended.append("done")
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise


@asynccontextmanager
async def working(
    box: Inbox, work: Work, name: str, *, heartbeat: Heartbeat | None = None
) -> AsyncGenerator[Worker]:
    """Run a worker, with a heartbeat if one is given."""
    isolation = Isolation(box.inbox, Slots(4))
    worker = Worker(box.inbox, work, consumer=name, partitions=1, isolation=isolation, lease_s=LEASE_S)
    stopping = asyncio.Event()
    async with AsyncExitStack() as stack:
        if heartbeat is not None:
            await stack.enter_async_context(heartbeat.beating(worker.is_busy, doubt=worker.doubted.set))
        running = asyncio.create_task(worker.run(stopping, grace_s=0.05), name=f"worker-{name}")
        try:
            yield worker
        finally:
            stopping.set()
            await running


def beat_of(redis: RedisClient, name: str) -> Heartbeat:
    return Heartbeat(redis, consumer=name, partitions=1)


async def stored_beat(redis: RedisClient, name: str) -> str | None:
    return await redis.call("GET", keys.partition_key(0, "beat", name))


async def test_the_contexts_of_a_worker_whose_heartbeat_has_stopped_are_taken_over(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    dead = await box.claim_one("dead")
    await redis.call("SET", keys.partition_key(0, "beat", "dead"), "7", "EX", 60)
    work = Work(box)
    began = time.monotonic()

    async with working(box, work, "bert", heartbeat=beat_of(redis, "bert")):
        await eventually(lambda: len(work.running) == 1)

    assert work.running[0].ref == dead.ref
    assert work.running[0].is_taken_over
    assert 0.4 < time.monotonic() - began < LEASE_S / 2


async def test_a_worker_that_beat_at_the_last_moment_keeps_its_contexts(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.claim_one("anna")
    await redis.call("SET", keys.partition_key(0, "beat", "anna"), "8", "EX", 60)

    late = await box.inbox.sweep(0, consumer="bert", count=8, idle_ms=60_000, silent={"anna": "7"})
    now = await box.inbox.sweep(0, consumer="bert", count=8, idle_ms=60_000, silent={"anna": "8"})

    assert late == []
    assert [claim.fence.delivery for claim in now] == ["2"]


async def test_a_blocked_event_loop_loses_no_context(redis: RedisClient) -> None:
    """A tool that blocks is not a death: the thread beats, and the lease is long."""
    box = await open_inbox(redis)
    await box.accept(1)
    work, other = Work(box), Work(box)
    async with working(box, work, "anna", heartbeat=beat_of(redis, "anna")):
        await eventually(lambda: len(work.running) == 1)
        await redis_beats(redis, "anna")
        before = int(await stored_beat(redis, "anna") or 0)

        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            pass  # this blocks the event loop

        assert int(await stored_beat(redis, "anna") or 0) > before + 1
        async with working(box, other, "bert", heartbeat=beat_of(redis, "bert")):
            work.go.set()
            await eventually(lambda: work.ended == ["done"])
    assert other.running == []


async def redis_beats(redis: RedisClient, name: str) -> None:
    """Wait for the first heartbeat."""
    async with asyncio.timeout(5):
        while await stored_beat(redis, name) is None:  # noqa: ASYNC110 - the thread's beat has no event
            await asyncio.sleep(0.01)


async def test_a_worker_that_was_late_looks_at_once_which_contexts_it_still_holds(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    work, heartbeat = Work(box), beat_of(redis, "anna")
    async with working(box, work, "anna", heartbeat=heartbeat):
        await eventually(lambda: len(work.running) == 1)
        await redis.call("CLIENT", "PAUSE", 900, "WRITE")  # heartbeats are writes; looks are not
        await eventually(heartbeat.is_late)
        await box.sweep("bert")

        await eventually(lambda: work.ended == ["cancelled"])
        await eventually(lambda: not heartbeat.is_late())
        async with asyncio.timeout(5):
            while (await box.record_of(1))["attempts"] != "0":  # noqa: ASYNC110 - nobody died
                await asyncio.sleep(0.01)


async def test_an_idle_worker_stores_one_heartbeat(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    work, heartbeat = Work(box), beat_of(redis, "anna")
    async with working(box, work, "anna", heartbeat=heartbeat):
        await redis_beats(redis, "anna")
        looks = redis.round_trips
        await eventually(lambda: redis.round_trips > looks + 20)  # time for many more

        assert await stored_beat(redis, "anna") == "1"
        assert not heartbeat.is_late()
        assert 0 < await box.ttl_of(keys.partition_key(0, "beat", "anna")) <= keys.BEAT_TTL_S
