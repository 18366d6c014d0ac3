"""The rate budgets under any order of calls from two processes: no window exceeds its limit."""

import asyncio
from collections import defaultdict
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.transport.rates import OF_TELEGRAM, Importance, SendRates
from memory.redis.client import open_redis
from tests.contract.test_rates import Clock, most_in_a_window

CHATS = (1, 2, 3, -4, -5)

calls = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.0, 0.02, 0.4, 3.0]),  # seconds since the call before
        st.sampled_from(CHATS),
        st.sampled_from(get_args(Importance)),
        st.integers(0, 1),  # the process that asks
        st.sampled_from([0.0] * 15 + [2.0]),  # seconds of a 429 that came just before
    ),
    min_size=20,
    max_size=60,
)


def test_no_window_exceeds_its_budget_and_a_held_chat_gets_no_call(
    redis_url: str,
) -> None:
    @settings(max_examples=6, deadline=None)
    @given(calls)
    def play(asked: list[tuple[float, int, Importance, int, float]]) -> None:
        asyncio.run(_play(redis_url, asked))

    play()


async def _play(redis_url: str, asked: list[tuple[float, int, Importance, int, float]]) -> None:
    clock, places, held_until = Clock(), defaultdict[int, list[float]](list), defaultdict[int, float](float)
    async with open_redis(redis_url) as first, open_redis(redis_url) as second:
        await first.call("FLUSHALL")
        machines = [SendRates(first, clock=clock), SendRates(second, clock=clock)]
        for gap, chat, importance, machine, held in asked:
            clock.now += gap
            if held:
                await machines[1 - machine].hold(chat, held)
            held_until[chat] = max(held_until[chat], clock.now + held)
            wait = await machines[machine].reserve(chat, importance)
            if wait is not None:
                assert clock.now + wait >= held_until[chat] - 0.002
                places[chat].append(clock.now + wait)
            else:
                assert importance != "final"
        await first.call("FLUSHALL")
    for chat, times in places.items():
        budget = OF_TELEGRAM.group if chat < 0 else OF_TELEGRAM.private
        assert most_in_a_window(times, budget.window_s) <= budget.calls
    assert most_in_a_window([at for times in places.values() for at in times], 1) <= 30
