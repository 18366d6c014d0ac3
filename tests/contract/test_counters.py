"""Counters of all processes: what the scripts count, how long it is kept, and how it is read over partitions."""

from collections.abc import Mapping

import pytest

from bot.inbox.records import Arrival
from bot.inbox.redis_inbox import RedisInbox
from bot.observe.series import FINE_HOURS, HOURS_AT_MOST, STEP_S, CounterReader, ModelUse, Point
from bot.transport.rates import SendRates
from bot.turn.store import Commit, TurnNote, TurnStore
from memory import keys
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import end_blocking_reads_on_time, some_parts

BEGIN = 1_800_000_000.0
"""The begin of an hour."""
COUNTED = {"turns": 1, "recalled": 1, "prompt:gpt": 100, "completion:gpt": 7, "micros:gpt": 2_000_000}


class Counting:
    """An inbox of two partitions whose clock the test moves."""

    def __init__(self, redis: RedisClient) -> None:
        self.now = BEGIN
        self.redis = redis
        self.inbox = RedisInbox(redis, partitions=2, box_limit=5, clock=lambda: self.now, version="1.2.3")
        self.turns = TurnStore(redis, clock=lambda: self.now)
        self.reader = CounterReader(redis, partitions=2, clock=lambda: self.now)
        self._updates = 0

    async def accept(self, partition: int = 0) -> int:
        self._updates += 1
        ref = ContextRef(context_id=f"{partition:032x}", partition=partition)
        await self.inbox.accept(Arrival(update_id=self._updates, ref=ref, mode="turn", payload="hello"))
        return self._updates

    async def answer(
        self,
        partition: int = 0,
        *,
        seconds: tuple[float, float, float] = (0, 0, 0),
        counted: Mapping[str, int] = COUNTED,
        trace: str = "{}",
        undeliverable: str = "",
    ) -> None:
        """Accept an update and answer it. `seconds` are those of waiting, answering and delivering."""
        update = await self.accept(partition)
        self.now += seconds[0]
        (claim,) = await self.inbox.claim(partition, consumer="anna", count=1, wait_ms=50)
        await self.turns.take(claim, window=0)
        self.now += seconds[1]
        parts = some_parts("an answer", update_id=update)
        await self.turns.commit(
            claim,
            Commit(update_ids=[update], epoch=0, parts=parts, note=TurnNote(trace=trace, counted=counted)),
        )
        self.now += seconds[2]
        await self.turns.sent(claim, parts[0], telegram_id=update, undeliverable=undeliverable)
        if not claim.settled.is_set():
            await self.inbox.settle(claim)

    async def last(self, hours: int = FINE_HOURS) -> Point:
        return (await self.reader.series(hours)).points[-1]


@pytest.fixture
async def counting(redis: RedisClient) -> Counting:
    await end_blocking_reads_on_time(redis)
    counting = Counting(redis)
    await counting.inbox.open()
    return counting


async def test_a_turn_is_counted_with_its_messages_tokens_and_money(counting: Counting) -> None:
    await counting.answer()
    await counting.answer(counted={"turns": 1, "prompt:gpt": 50, "prompt:other": 3})

    point = await counting.last()

    assert (point.at, point.messages, point.turns, point.recalled) == (BEGIN, 2, 2, 1)
    assert point.models == {
        "gpt": ModelUse(prompt_tokens=150, completion_tokens=7, cost=2.0),
        "other": ModelUse(prompt_tokens=3, completion_tokens=0, cost=None),
    }


async def test_counters_of_all_partitions_are_added(counting: Counting) -> None:
    await counting.answer(0)
    await counting.answer(1)

    assert (await counting.last()).turns == 2


async def test_the_times_of_a_turn_are_counted_by_stage(counting: Counting) -> None:
    await counting.answer(seconds=(0.05, 4, 0.7))

    stages = (await counting.last()).stages

    found = {stage: (each.p50, each.p95) for stage, each in stages.items()}
    assert found == {
        stage: (pytest.approx(seconds, rel=0.1), pytest.approx(seconds, rel=0.1))
        for stage, seconds in {"waiting": 0.05, "answering": 4, "delivering": 0.7, "whole": 4.75}.items()
    }


async def test_a_turn_of_hours_and_one_of_no_time_have_a_level(counting: Counting) -> None:
    await counting.answer(seconds=(0, 0, 0))
    await counting.answer(seconds=(5 * 3600, 0, 0))

    whole = (await counting.last()).stages["whole"]

    assert whole.p50 == pytest.approx(3_900, rel=0.1), "the last level has no end"


async def test_commands_and_answers_that_nobody_got_have_no_times(counting: Counting) -> None:
    await counting.answer(trace="", counted={})
    await counting.answer(undeliverable="blocked")

    point = await counting.last()

    assert (point.messages, point.turns) == (2, 1)
    assert point.stages["whole"].p50 is None


async def test_what_is_repeated_after_a_lost_reply_counts_once(counting: Counting) -> None:
    update = await counting.accept()
    await counting.inbox.accept(
        Arrival(
            update_id=update,
            ref=ContextRef(context_id=f"{0:032x}", partition=0),
            mode="turn",
            payload="hello",
        )
    )
    (claim,) = await counting.inbox.claim(0, consumer="anna", count=1, wait_ms=50)
    await counting.turns.take(claim, window=0)
    parts = some_parts("an answer", update_id=update)
    commit = Commit(update_ids=[update], epoch=0, parts=parts, note=TurnNote(trace="{}", counted=COUNTED))
    for _ in range(2):
        await counting.turns.commit(claim, commit)

    point = await counting.last()

    assert (point.messages, point.turns, point.models["gpt"].prompt_tokens) == (1, 1, 100)


async def test_an_ignored_update_is_no_message(counting: Counting) -> None:
    ref = ContextRef(context_id=f"{0:032x}", partition=0)
    await counting.inbox.accept(Arrival(update_id=1, ref=ref, mode="ignored", reason="not_addressed"))

    assert (await counting.last()).messages == 0


async def test_series_have_a_point_for_every_step(counting: Counting) -> None:
    await counting.answer()
    counting.now += 3 * 3600 + 60
    await counting.answer()

    fine, coarse = await counting.reader.series(24), await counting.reader.series(720)

    assert (fine.step_s, len(fine.points)) == (STEP_S, 24 * 3600 // STEP_S)
    assert (coarse.step_s, len(coarse.points)) == (3600, 720)
    for series in (fine, coarse):
        steps = {
            after.at - before.at for before, after in zip(series.points, series.points[1:], strict=False)
        }
        assert steps == {series.step_s}
        assert [point.at for point in series.points if point.turns] == [BEGIN, BEGIN + 3 * 3600]


async def test_an_hour_is_the_sum_of_its_buckets(counting: Counting) -> None:
    for _ in range(3):
        await counting.answer(seconds=(0, 1, 0))
        counting.now += STEP_S

    hour = (await counting.reader.series(720)).points[-1]

    assert (hour.at, hour.turns) == (BEGIN, 3)
    assert hour.stages["answering"].p50 == pytest.approx(1, rel=0.1)


async def test_a_past_bucket_is_read_once_and_the_running_one_again(counting: Counting) -> None:
    await counting.answer()
    counting.now += 3 * STEP_S
    await counting.reader.series(24)
    await counting.redis.call("DEL", keys.partition_key(0, "counts", int(BEGIN)))
    await counting.answer()

    points = (await counting.reader.series(24)).points

    assert [point.turns for point in points if point.turns] == [1, 1]


async def test_counters_expire_after_a_month_and_are_never_many(counting: Counting) -> None:
    for number in range(500):
        await counting.answer(counted={"turns": 1, f"prompt:model-{number}": 1})

    names = [keys.partition_key(0, "counts", int(BEGIN))]

    assert await counting.redis.call("KEYS", "*:counts:*") == names
    assert int(await counting.redis.call("HLEN", names[0])) <= 400
    assert 0 < int(await counting.redis.call("TTL", names[0])) <= keys.COUNTER_TTL_S
    assert keys.COUNTER_TTL_S >= HOURS_AT_MOST * 3600 + 3600
    assert (await counting.last()).turns == 500


async def test_the_rate_of_messages_is_that_of_the_last_minutes(counting: Counting) -> None:
    for _ in range(15):
        await counting.answer()
    counting.now = BEGIN + STEP_S + STEP_S / 3
    for _ in range(5):
        await counting.answer()

    assert await counting.reader.messages_per_minute() == pytest.approx((5 + 10) / (STEP_S / 60))


async def test_refusals_of_telegram_are_counted_for_an_hour_and_a_day(counting: Counting) -> None:
    rates = SendRates(counting.redis, clock=lambda: counting.now)
    await rates.hold(1, 3)
    counting.now += 5 * 3600
    await rates.hold(1, 3)
    await rates.hold(1, 1)
    await rates.held(1)

    assert await counting.reader.refusals() == (2, 3)
    assert int(await counting.redis.call("TTL", keys.global_key("{rates}:counts", int(BEGIN)))) > 0


async def test_workers_are_alive_until_they_leave_or_are_silent_for_a_lease(counting: Counting) -> None:
    for name in ("anna", "bert"):
        for partition in range(2):
            await counting.inbox.sweep(partition, consumer=name, count=1, idle_ms=30_000)
    counting.now += 20
    await counting.inbox.sweep(0, consumer="anna", count=1, idle_ms=30_000)

    both = await counting.reader.workers()
    await counting.inbox.leave(0, consumer="anna")
    left = await counting.reader.workers()
    counting.now += 11
    await counting.inbox.sweep(0, consumer="carl", count=1, idle_ms=30_000)
    last = await counting.reader.workers()

    assert [(each.name, each.version, each.seen_s) for each in both] == [
        ("anna", "1.2.3", 0),
        ("bert", "1.2.3", 20),
    ]
    assert [each.name for each in left] == ["bert"]
    assert [each.name for each in last] == ["carl"]
    assert await counting.redis.call("KEYS", "*workers*") == [keys.partition_key(0, "workers")]


async def test_in_a_full_store_the_work_of_a_dead_worker_is_taken_over(counting: Counting) -> None:
    await counting.accept()
    (held,) = await counting.inbox.claim(0, consumer="anna", count=1, wait_ms=50)
    await counting.redis.call("CONFIG", "SET", "maxmemory", "1")
    try:
        (taken,) = await counting.inbox.sweep(0, consumer="bert", count=1, idle_ms=0)
    finally:
        await counting.redis.call("CONFIG", "SET", "maxmemory", "0")

    assert (taken.ref, taken.fence.entry) == (held.ref, held.fence.entry)
