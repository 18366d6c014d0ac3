"""Counters become points: percentiles of answer times within 10 %, tokens and money by model."""

import math
import random

import pytest

from bot.observe.series import GROWTH, SHORTEST_S, ModelUse, percentile, point_of


def level_of(seconds: float) -> int:
    """Return the level of a duration as counters.lua computes it; test_counters.py compares them."""
    return math.floor(math.log(max(seconds, SHORTEST_S) / SHORTEST_S) / math.log(GROWTH))


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize("middle_s", [0.005, 0.4, 3.0, 60.0])
def test_a_percentile_is_within_ten_percent_of_the_exact_one(middle_s: float, share: float) -> None:
    chance = random.Random(7)
    durations = sorted(chance.lognormvariate(math.log(middle_s), 0.7) for _ in range(1_001))
    levels: dict[int, int] = {}
    for each in durations:
        levels[level_of(each)] = levels.get(level_of(each), 0) + 1

    found = percentile(levels, share)

    assert found == pytest.approx(durations[math.ceil(share * len(durations)) - 1], rel=0.1)


def test_without_durations_there_is_no_percentile() -> None:
    assert percentile({}, 0.5) is None


def test_one_duration_is_every_percentile() -> None:
    assert percentile({30: 1}, 0.5) == percentile({30: 1}, 0.95)


def test_a_step_without_counters_is_a_point_of_zeros() -> None:
    point = point_of(900, {})

    assert (point.at, point.messages, point.turns, point.recalled) == (900, 0, 0, 0)
    assert {(each.p50, each.p95) for each in point.stages.values()} == {(None, None)}
    assert point.models == {}


def test_tokens_and_money_are_of_each_model() -> None:
    counters = {"prompt:a:b": 10, "completion:a:b": 3, "micros:a:b": 1_500_000, "prompt:free": 7, "turns": 2}

    point = point_of(0, counters)

    assert point.models == {
        "a:b": ModelUse(prompt_tokens=10, completion_tokens=3, cost=1.5),
        "free": ModelUse(prompt_tokens=7, completion_tokens=0, cost=None),
    }
