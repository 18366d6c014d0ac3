"""The warning of the month's budget on the real store: one update for each operator and month, whatever happens."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from bot.inbox.reminders import FiringRules
from bot.transport.ingest import parse_waiting, telegram_ref
from bot.turn.costs import MICROS, BudgetWatch, CostReader, month_key, month_of
from memory import keys
from memory.redis.client import RedisClient
from tests.contract.tripping_redis import TrippingRedis

DECEMBER = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
BOT, OLGA, PAVEL = 42, 1001, 1002


@dataclass(slots=True)
class Bench:
    """Watches of one store, with a budget of 10, and a clock that a test moves."""

    redis: RedisClient
    now: float = DECEMBER - 3600

    def watch(self, redis: Any = None, *, box: int = 5) -> BudgetWatch:
        store = cast("RedisClient", redis or self.redis)
        return BudgetWatch(
            costs=CostReader(redis=store, bot_id=BOT, partitions=2, clock=lambda: self.now),
            budget=10,
            operators=frozenset({OLGA, PAVEL}),
            rules_of=lambda partition: FiringRules(
                partition=partition,
                partitions=2,
                box=box,
                update_prefix=keys.partition_key(partition, "update", ""),
            ),
        )

    async def spend(self, money: float) -> None:
        key = month_key(month_of(self.now))
        await self.redis.calls([("HINCRBY", key, "micros", round(money * MICROS)), ("EXPIRE", key, 60)])

    async def texts(self, operator: int) -> list[str]:
        """Return the texts that wait for an operator, in order."""
        ref = telegram_ref(BOT, operator, None, partitions=2)
        ids = await self.redis.call("ZRANGE", keys.context_key(ref, "box"), 0, -1)
        texts: list[str] = []
        for each in ids:
            payload = await self.redis.call(
                "HGET", keys.partition_key(ref.partition, "update", each), "payload"
            )
            update = parse_waiting(payload)
            assert (update.update_id, update.message.chat_id) == (int(each), operator)
            texts.append(update.message.text)
        return texts


@pytest.fixture
def bench(redis: RedisClient) -> Bench:
    return Bench(redis)


async def test_operators_are_warned_at_80_percent_and_not_before(bench: Bench) -> None:
    watch = bench.watch()
    await bench.spend(7.99)
    await watch.step()
    assert await bench.texts(OLGA) == []

    await bench.spend(0.01)
    for _ in range(2):
        await watch.step()

    warning = (
        "80% of this month's budget is used: 8 of 10. When all of it is used, I answer only operators until"
        " 1 December 2026 (00:00 UTC). Send /stats month to see the costs."
    )
    assert await bench.texts(OLGA) == await bench.texts(PAVEL) == [warning]


async def test_a_budget_that_one_answer_has_passed_is_called_used_up(bench: Bench) -> None:
    await bench.spend(12.5)

    await bench.watch().step()

    assert await bench.texts(OLGA) == [
        "This month's budget is used up: 12.5 of 10. Until 1 December 2026 (00:00 UTC) I answer only operators."
        " Send /stats month to see the costs."
    ]


async def test_many_workers_warn_once_and_again_in_the_next_month(bench: Bench) -> None:
    watches = [bench.watch() for _ in range(5)]
    await bench.spend(9)
    await asyncio.gather(*(watch.step() for watch in watches))
    bench.now = DECEMBER
    await asyncio.gather(*(watch.step() for watch in watches))
    assert len(await bench.texts(OLGA)) == len(await bench.texts(PAVEL)) == 1

    await bench.spend(9)
    await asyncio.gather(*(watch.step() for watch in watches))

    assert ["1 January 2027" in text for text in await bench.texts(OLGA)] == [False, True]
    assert len(await bench.texts(PAVEL)) == 2


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_a_crash_between_any_two_steps_warns_each_once(bench: Bench, at: int, when: Any) -> None:
    await bench.spend(9)

    crashed = asyncio.create_task(bench.watch(TrippingRedis(bench.redis, at, when)).step())
    await asyncio.wait([crashed])
    await bench.watch().step()

    assert crashed.cancelled()
    assert (len(await bench.texts(OLGA)), len(await bench.texts(PAVEL))) == (1, 1)


async def test_a_full_box_is_tried_again(bench: Bench) -> None:
    ref = telegram_ref(BOT, OLGA, None, partitions=2)
    box = keys.context_key(ref, "box")
    await bench.spend(9)
    await bench.redis.call("ZADD", box, 1, 1)
    watch = bench.watch(box=1)
    await watch.step()
    assert await bench.texts(PAVEL) != []
    await bench.redis.call("DEL", box)

    await watch.step()

    assert (len(await bench.texts(OLGA)), len(await bench.texts(PAVEL))) == (1, 1)
