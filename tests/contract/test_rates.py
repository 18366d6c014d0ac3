"""The rate budgets of calls to Telegram on a real Redis:

no window exceeds its limit, and a 429 holds only its chat.
"""

import asyncio
from bisect import bisect_left
from dataclasses import dataclass

import pytest

from bot.transport.rates import Importance, SendRates
from memory import keys
from memory.redis.client import RedisClient
from tests.store_proxy import redis_proxy
from tests.stores import real_redis

CHAT, OTHER, GROUP = 1001, 1002, -2001


@dataclass(slots=True)
class Clock:
    """A clock that the test moves."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def most_in_a_window(times: list[float], window_s: float) -> int:
    """Return the largest number of times in any half-open window of this length."""
    times = sorted(times)
    return max(
        (bisect_left(times, start + window_s - 1e-6) - first for first, start in enumerate(times)), default=0
    )


async def _places(
    rates: SendRates, clock: Clock, chat: int, importance: Importance, count: int
) -> list[float]:
    """Return the times at which this many simultaneous calls may go."""
    waits = [await rates.reserve(chat, importance) for _ in range(count)]
    return [clock.now + wait for wait in waits if wait is not None]


async def test_the_first_calls_of_a_private_chat_go_at_once_and_then_one_a_second(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    times = await _places(rates, clock, CHAT, "final", 40)

    assert times[3] - clock.now < 0.2
    assert most_in_a_window(times, 4) == 4
    assert 36 <= times[-1] - clock.now < 37


async def test_a_group_gets_twenty_a_minute(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    times = await _places(rates, clock, GROUP, "final", 50)

    assert times[19] - clock.now < 1
    assert most_in_a_window(times, 60) == 20


async def test_all_chats_together_get_thirty_a_second(redis: RedisClient) -> None:
    clock = Clock()
    machines = [SendRates(redis, clock=clock), SendRates(redis, clock=clock)]

    times: list[float] = []
    for turn in range(24):
        for chat in range(10):
            times += await _places(
                machines[(turn + chat) % 2], clock, 1 + (turn * chat + turn) % 90, "final", 1
            )
        clock.now += 0.083 * (turn % 5)

    assert len(times) == 240
    assert most_in_a_window(times, 1) <= 30


async def test_a_chat_at_its_own_limit_does_not_delay_the_others(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)
    await _places(rates, clock, CHAT, "final", 60)

    assert await _places(rates, clock, OTHER, "final", 1) == [pytest.approx(clock.now, abs=0.2)]


@pytest.mark.parametrize(("importance", "most"), [("typing", 8), ("edit", 13), ("button", 18), ("final", 20)])
async def test_less_important_calls_may_fill_less_of_a_groups_minute(
    redis: RedisClient, importance: Importance, most: int
) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    at_once = 0
    for _ in range(30):
        at_once += await rates.reserve(GROUP, importance) == 0
        clock.now += 0.25

    assert at_once == most


async def test_edits_always_leave_room_for_the_answer(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    for _ in range(100):
        await rates.reserve(CHAT, "edit")
        clock.now += 0.25

    assert await rates.reserve(CHAT, "final") == 0


async def test_a_429_holds_its_chat_for_every_kind_of_call_in_every_process(redis: RedisClient) -> None:
    clock = Clock()
    first, second = SendRates(redis, clock=clock), SendRates(redis, clock=clock)

    await first.hold(CHAT, 9)

    assert await second.reserve(CHAT, "typing") is None
    assert await second.reserve(CHAT, "edit") is None
    assert await second.reserve(CHAT, "final") == pytest.approx(9, abs=0.05)
    assert await second.held(CHAT) == 9
    assert await second.reserve(OTHER, "final") == pytest.approx(0, abs=0.05)
    clock.now += 9
    assert await second.held(CHAT) == 0


async def test_a_shorter_429_does_not_shorten_a_hold(redis: RedisClient) -> None:
    rates = SendRates(redis)

    await rates.hold(CHAT, 9)
    await SendRates(redis).hold(CHAT, 2)

    assert 8 < await SendRates(redis).held(CHAT) <= 9


async def test_without_the_store_a_send_goes_at_once_and_a_429_still_holds(redis_url: str) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        rates = SendRates(redis)
        await way.cut()

        assert await rates.reserve(CHAT, "final") == 0
        await rates.hold(CHAT, 5)
        assert 4 < (await rates.reserve(CHAT, "final") or 0) <= 5
        assert await rates.reserve(CHAT, "edit") is None
        await way.mend()


async def test_concurrent_calls_of_two_processes_stay_within_the_budget(redis: RedisClient) -> None:
    """The waits that two processes get at the same time keep to the windows."""
    machines = [SendRates(redis), SendRates(redis)]
    loop = asyncio.get_running_loop()

    async def ask(number: int) -> float:
        wait = await machines[number % 2].reserve(1 + number % 30, "final")
        assert wait is not None
        return loop.time() + wait

    await asyncio.gather(*(ask(number) for number in range(90)))

    slots = [int(each) for each in await redis.call("ZRANGE", keys.global_key("{rates}:all"), 0, -1)]
    assert len(set(slots)) == 90
    assert most_in_a_window([slot / 29 for slot in slots], 1) <= 29


async def test_every_key_of_the_budgets_expires(redis: RedisClient) -> None:
    rates = SendRates(redis)
    for chat in (CHAT, GROUP):
        await rates.reserve(chat, "final")
        await rates.hold(chat, 3)

    found = await redis.call("KEYS", "*rates*")

    assert len(found) == 5
    assert all([await redis.call("PTTL", key) > 0 for key in found])
