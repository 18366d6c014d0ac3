"""The rate budgets of calls to Telegram on a real Redis:

no window exceeds its limit, and a 429 holds only its chat.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from bot.transport.rates import Importance, SendRates
from memory import keys
from memory.redis.client import RedisClient
from simulator.api.faults import FloodLimits
from tests.store_proxy import redis_proxy
from tests.stores import real_redis

CHAT, OTHER, GROUP = 1001, 1002, -2001


@dataclass(slots=True)
class Clock:
    """A clock that the test moves."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def most_in_a_window(times: Sequence[float], window_s: float) -> int:
    """Return the largest number of times in any half-open window of this length."""
    times = sorted(times)
    return max(
        (bisect_left(times, start + window_s - 1e-6) - first for first, start in enumerate(times)), default=0
    )


def largest_burst(times: Sequence[float], interval_s: float) -> float:
    """Return how many calls any window of any length has more than its intervals."""
    times = sorted(times)
    return max(
        last - first + 1 - (times[last] - times[first]) / interval_s
        for last in range(len(times))
        for first in range(last + 1)
    )


async def _places(
    rates: SendRates, clock: Clock, chat: int, importance: Importance, count: int
) -> list[float]:
    """Return the times at which this many simultaneous calls may go."""
    waits = [await rates.reserve(chat, importance) for _ in range(count)]
    return [clock.now + wait for wait in waits if wait is not None]


async def test_a_private_chat_gets_five_calls_at_once_and_then_one_a_second(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    times = await _places(rates, clock, CHAT, "final", 40)

    assert times[4] - clock.now < 0.25
    assert 1 <= times[5] - clock.now < 1.25
    assert largest_burst(times, 1) <= 5
    assert 35 <= times[-1] - clock.now < 35.25


async def test_a_quick_exchange_of_lines_does_not_wait(redis: RedisClient) -> None:
    """Each answer comes a second after the one before; the first ones come at once."""
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    waits = list[float | None]()
    for pause in (0.1, 0.1, 0.1, 0.1, *[1.0] * 20):
        waits.append(await rates.reserve(CHAT, "final"))
        clock.now += pause

    assert waits == [0.0] * 24


async def test_a_group_gets_five_calls_at_once_and_twenty_a_minute(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    times = await _places(rates, clock, GROUP, "final", 50)

    assert times[4] - clock.now < 0.25
    assert largest_burst(times, 4) <= 5
    assert most_in_a_window(times, 60) <= 20
    assert 45 * 4 <= times[-1] - clock.now < 45 * 4 + 0.25


@pytest.mark.parametrize("chat", [CHAT, GROUP])
async def test_a_limiter_like_telegrams_refuses_no_call(redis: RedisClient, chat: int) -> None:
    """The first requests travel longer than the others, so that all of them are closer together."""
    clock = Clock()
    places = await _places(SendRates(redis, clock=clock), clock, chat, "final", 60)
    limits = FloodLimits()

    arrivals = [at + (0.09 if number < 5 else 0.0) for number, at in enumerate(places)]
    refusals = [limits.refuse(chat, is_group=chat < 0, now=at) for at in sorted(arrivals)]

    assert refusals == [None] * 60


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


async def test_calls_of_the_same_moment_share_a_slot(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    waits = [await rates.reserve(chat, "final") for chat in range(1, 4)]

    assert waits == [0.0] * 3


async def test_a_chat_at_its_own_limit_does_not_delay_the_others(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)
    await _places(rates, clock, CHAT, "final", 60)

    assert await _places(rates, clock, OTHER, "final", 1) == [pytest.approx(clock.now, abs=0.25)]


@pytest.mark.parametrize(
    ("importance", "most"), [("typing", 2), ("draft", 3), ("edit", 3), ("button", 4), ("final", 5)]
)
async def test_less_important_calls_may_use_less_of_a_burst(
    redis: RedisClient, importance: Importance, most: int
) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    at_once = 0
    for _ in range(8):
        at_once += await rates.reserve(GROUP, importance) == 0
        clock.now += 0.12

    assert at_once == most


async def test_edits_always_leave_room_for_two_answers(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    for _ in range(100):
        await rates.reserve(CHAT, "edit")
        clock.now += 0.25

    assert [await rates.reserve(CHAT, "final") for _ in range(2)] == [0, 0]


async def test_drafts_and_typing_take_no_place_of_an_answer(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)

    for number in range(100):
        await rates.reserve(CHAT, "typing" if number % 4 else "draft")
        clock.now += 0.25

    times = await _places(rates, clock, CHAT, "final", 5)
    assert times[4] - clock.now < 0.25
    assert await rates.reserve(CHAT, "draft") is None


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


async def test_a_429_allows_smaller_bursts_for_five_minutes(redis: RedisClient) -> None:
    clock = Clock()
    rates = SendRates(redis, clock=clock)
    await SendRates(redis, clock=clock).hold(CHAT, 2)

    right_after = await _places(rates, clock, CHAT, "final", 4)
    clock.now += 200
    careful = await _places(rates, clock, CHAT, "final", 4)
    await redis.call("DEL", keys.global_key("{rates}:hold", CHAT))  # as its TTL does
    clock.now += 200
    usual = await _places(rates, clock, CHAT, "final", 5)

    assert careful[0] - right_after[0] == pytest.approx(198, abs=0.25)
    assert largest_burst(right_after, 1) <= 1
    assert 1 < largest_burst(careful, 1) <= 2
    assert 4 < largest_burst(usual, 1) <= 5


async def test_a_hold_is_remembered_for_five_minutes(redis: RedisClient) -> None:
    await SendRates(redis).hold(CHAT, 9)

    left = await redis.call("PTTL", keys.global_key("{rates}:hold", CHAT))

    assert 308_000 < left <= 309_000


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
    clock = Clock()  # on a loaded machine the calls take longer than seats are kept
    machines = [SendRates(redis, clock=clock), SendRates(redis, clock=clock)]

    await asyncio.gather(*(machines[number % 2].reserve(1 + number % 30, "final") for number in range(90)))

    seats = [int(each) for each in await redis.call("ZRANGE", keys.global_key("{rates}:seats"), 0, -1)]
    assert len(set(seats)) == 90
    assert most_in_a_window([seat // 3 / 9 for seat in seats], 1) <= 27


async def test_every_key_of_the_budgets_expires(redis: RedisClient) -> None:
    rates = SendRates(redis)
    for chat in (CHAT, GROUP):
        await rates.reserve(chat, "final")
        await rates.hold(chat, 3)

    found = await redis.call("KEYS", "*rates*")

    assert len(found) == 6
    assert all([await redis.call("PTTL", key) > 0 for key in found])
