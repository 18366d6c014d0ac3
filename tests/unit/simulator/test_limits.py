"""Telegram's rate limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.faults import CHAT_BURST, GROUP_PER_MINUTE, OVERALL_PER_SECOND, FloodLimits

pytestmark = pytest.mark.slow


def test_a_burst_passes_and_then_one_message_a_second() -> None:
    limits = FloodLimits()
    assert [limits.refuse(1, is_group=False, now=0) for _ in range(CHAT_BURST)] == [None] * CHAT_BURST
    assert [limits.refuse(1, is_group=False, now=at) for at in (0, 0.5, 1, 1.5)] == [1, 1, None, 1]


def test_a_group_gets_twenty_in_a_minute() -> None:
    limits = FloodLimits()
    sent = [limits.refuse(-1, is_group=True, now=2 * second) for second in range(GROUP_PER_MINUTE)]
    assert sent == [None] * GROUP_PER_MINUTE
    assert [limits.refuse(-1, is_group=True, now=at) for at in (40, 59, 60)] == [20, 1, None]


def test_another_chat_is_not_delayed() -> None:
    limits = FloodLimits()
    answers = [limits.refuse(1, is_group=False, now=0) for _ in range(CHAT_BURST + 1)]
    assert (answers[-1], limits.refuse(2, is_group=False, now=0)) == (1, None)


@given(st.lists(st.tuples(st.floats(0, 0.2), st.integers(1, 40)), max_size=200))
def test_the_overall_rate_is_never_exceeded(calls: list[tuple[float, int]]) -> None:
    limits, now, sent = FloodLimits(), 0.0, list[float]()
    for pause, chat in calls:
        now += pause
        if limits.refuse(chat, is_group=False, now=now) is None:
            sent.append(now)
    assert all(sum(1 for other in sent if at - 1 < other <= at) <= OVERALL_PER_SECOND for at in sent)
