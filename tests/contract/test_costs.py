"""The costs of a month on the real store: booked once, on the right side of its border, and capped."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from bot.agent.model import Usage
from bot.model_choices import parse_models
from bot.settings import UsageLimits
from bot.transport.words import words_for
from bot.turn.costs import MONTHS_KEPT, TOP, CostReader, MonthCosts, Used, month_key
from bot.turn.limits import LimitGuard
from memory.redis.client import RedisClient
from tests.stores import all_keys

DECEMBER = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
ANNA, BEN, GROUP, OPERATOR = 1, 2, -7, 99
DAY_S = 24 * 3600


@dataclass(slots=True)
class Bench:
    """A guard and a reader with a clock that a test moves. A token costs 1 micro, of the model `free` nothing."""

    redis: RedisClient
    budget: float = 0
    now: float = DECEMBER - 1
    updates: int = field(default=0, init=False)

    @property
    def guard(self) -> LimitGuard:
        prices = {choice.name: choice for choice in parse_models("m:1:1")}
        limits, operators = UsageLimits(money_per_month=self.budget), frozenset({OPERATOR})
        return LimitGuard(self.redis, limits, exempt=operators, clock=lambda: self.now, prices=prices)

    async def book(
        self, tokens: int, *, user: int = ANNA, chat: int = ANNA, update: int = 0, model: str = "m"
    ) -> None:
        self.updates += 1
        usage = Usage(prompt_tokens=tokens, model=model)
        booking = self.guard.booking([usage], update_id=update or self.updates, user_id=user, chat_id=chat)
        await self.redis.run_all(booking)

    async def read(self, month: str) -> MonthCosts:
        return await self.costs.read(month)

    @property
    def costs(self) -> CostReader:
        return CostReader(redis=self.redis, bot_id=1, partitions=1, clock=lambda: self.now)

    async def refusal(self, *, user: int = ANNA) -> tuple[str, str] | None:
        self.updates += 1
        return await self.guard.check([self.updates], words_for("en"), user_id=user, chat_id=user)


async def test_a_turn_is_booked_in_the_month_in_which_it_ended_even_if_it_is_repeated_after_it(
    redis: RedisClient,
) -> None:
    bench = Bench(redis)
    await bench.book(100, update=500)
    bench.now = DECEMBER
    await bench.book(100, update=500)
    await bench.book(7, update=501)

    november, december = await bench.read("2026-11"), await bench.read("2026-12")

    assert (november.total, december.total) == (Used(tokens=100, money=0.0001), Used(tokens=7, money=7e-6))
    assert november.people == november.chats == {ANNA: november.total}
    assert december.people == december.chats == {ANNA: december.total}
    assert await bench.costs.months() == ["2026-12", "2026-11"]


async def test_the_bookings_of_many_workers_add_up(redis: RedisClient) -> None:
    bench = Bench(redis)
    turns = [(update, update % 3 + 1, -(update % 2)) for update in range(1, 31)]
    await asyncio.gather(
        *(
            bench.book(update, user=user, chat=chat, update=update)
            for update, user, chat in turns
            for _ in range(2)
        )
    )

    costs = await bench.read("2026-11")

    assert costs.total.tokens == sum(update for update, _, _ in turns)
    for found, at in ((costs.people, 1), (costs.chats, 2)):
        expected = {turn[at]: sum(each[0] for each in turns if each[at] == turn[at]) for turn in turns}
        assert {owner: used.tokens for owner, used in found.items()} == expected
        assert list(found) == sorted(found, key=lambda owner: -expected[owner])


async def test_only_the_most_expensive_people_are_read(redis: RedisClient) -> None:
    bench = Bench(redis)
    for user in range(1, TOP + 6):
        await bench.book(1_000 + user, user=user, chat=GROUP)
    await bench.book(999_999, user=77, chat=GROUP, model="free")

    costs = await bench.read("2026-11")

    assert list(costs.people) == list(range(TOP + 5, 5, -1))
    assert costs.people[10] == Used(tokens=1_010, money=0.00101)
    assert list(costs.chats) == [GROUP]


async def test_without_prices_tokens_decide(redis: RedisClient) -> None:
    bench = Bench(redis)
    await bench.book(5, user=ANNA, model="free")
    await bench.book(9, user=BEN, model="free")
    assert (await bench.read("2026-11")).people == {BEN: Used(tokens=9), ANNA: Used(tokens=5)}


async def test_summaries_and_facts_count_in_the_sum_and_for_nobody(redis: RedisClient) -> None:
    bench = Bench(redis)
    await bench.book(5)
    await bench.guard.book_memory([Usage(prompt_tokens=20, completion_tokens=2, model="m")])
    costs = await bench.read("2026-11")
    assert (costs.total.tokens, costs.memory) == (27, Used(tokens=22, money=22e-6))
    assert costs.people == {ANNA: Used(tokens=5, money=5e-6)}


async def test_a_months_records_expire_13_months_after_it(redis: RedisClient) -> None:
    bench = Bench(redis, now=DECEMBER - 10 * DAY_S)
    await bench.book(5)
    await bench.guard.book_memory([Usage(prompt_tokens=1, model="m")])
    months = [key for key in await all_keys(redis) if "2026-11" in key and ":day:" not in key]
    assert len(months) == 5
    end = datetime(2028, 1, 1, tzinfo=UTC).timestamp()
    for key in months:
        left = int(await redis.call("TTL", key))
        assert left == pytest.approx(end - bench.now, abs=60), key
    assert MONTHS_KEPT == 13


async def test_a_month_without_a_record_is_empty(redis: RedisClient) -> None:
    bench = Bench(redis)
    costs = await bench.read("2026-11")
    assert (costs.total, costs.people, costs.chats) == (Used(), {}, {})
    assert await bench.costs.months() == ["2026-11"]


async def test_a_used_budget_refuses_everybody_but_operators_until_the_next_month(redis: RedisClient) -> None:
    bench = Bench(redis, budget=0.001)
    await bench.book(600)
    await bench.guard.book_memory([Usage(prompt_tokens=399, model="m")])
    assert await bench.refusal(user=BEN) is None
    await bench.book(1)

    refusal = await bench.refusal(user=BEN)

    assert refusal == (
        "limit_all_money",
        "The budget for this month is used up, so I can't answer right now. I'll be back on 1 December 2026"
        " (00:00 UTC).",
    )
    assert await bench.refusal(user=BEN) == ("limit_all_money", ""), "once a minute in a chat"
    assert await bench.refusal(user=OPERATOR) is None
    bench.now = DECEMBER
    assert await bench.refusal(user=BEN) is None
    assert await redis.call("EXISTS", month_key("2026-12")) == 0
