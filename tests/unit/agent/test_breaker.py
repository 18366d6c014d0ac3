"""The breaker: what opens it, who gets through while it is open, and what closes it."""

import asyncio

import pytest

from bot.agent.openai_model import Breaker
from bot.errors import (
    ModelBarred,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.observe.metrics import MODEL_BREAKER
from tests.unit.agent.kit import sample

OPENING = (ModelBarred, ModelQuotaExhausted)
OTHERS = (ModelRefused, ModelRepliedNothing, ModelUnavailable, PromptTooLong)


class Bench:
    """A breaker, its clock, and how many requests it let through."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.breaker = Breaker(first_s=5, longest_s=12, clock=lambda: self.now)

    def ask(self, failure: type[BaseException] | None = None) -> type[BaseException] | None:
        """Ask for something that ends with this failure; with what it ended."""
        try:
            with self.breaker.guard():
                self.asked += 1
                if failure is not None:
                    raise failure
        except (TellUser, asyncio.CancelledError) as ended:
            return type(ended)
        return None


@pytest.mark.parametrize("failure", OPENING)
def test_what_no_next_request_cures_opens_it_and_is_said_without_asking(failure: type[TellUser]) -> None:
    bench = Bench()

    assert [bench.ask(failure), bench.ask(), bench.ask()] == [failure] * 3
    assert (bench.asked, bench.breaker.is_open) == (1, True)


@pytest.mark.parametrize("failure", [*OTHERS, asyncio.CancelledError])
def test_what_the_next_request_may_not_meet_leaves_it_closed(failure: type[BaseException]) -> None:
    bench = Bench()

    assert bench.ask(failure) is failure
    assert (bench.ask(), bench.breaker.is_open) == (None, False)


def test_a_probe_goes_through_after_each_pause_and_the_pauses_grow_to_the_longest() -> None:
    bench = Bench()
    asked_at: list[float] = []
    for second in range(60):
        bench.now = second
        before = bench.asked
        bench.ask(ModelQuotaExhausted)
        asked_at += [second] * (bench.asked - before)

    assert asked_at == [0, 5, 15, 27, 39, 51]


@pytest.mark.parametrize("answer", [None, ModelRefused, ModelRepliedNothing, PromptTooLong])
def test_a_probe_that_is_answered_closes_it_and_the_next_pause_is_the_first_again(
    answer: type[TellUser] | None,
) -> None:
    bench = Bench()
    bench.ask(ModelQuotaExhausted)
    bench.now = 5
    bench.ask(ModelQuotaExhausted)

    bench.now = 15
    assert bench.ask(answer) is answer
    assert not bench.breaker.is_open
    bench.ask(ModelQuotaExhausted)
    bench.now = 20
    assert bench.ask() is None


@pytest.mark.parametrize("ending", [ModelUnavailable, asyncio.CancelledError])
def test_a_probe_that_tells_nothing_leaves_it_open_for_the_same_pause(ending: type[BaseException]) -> None:
    bench = Bench()
    bench.ask(ModelBarred)
    bench.now = 7
    assert bench.ask(ending) is ending

    bench.now = 11.9
    assert bench.ask() is ModelBarred
    bench.now = 12
    assert bench.ask() is None


def test_one_probe_at_a_time() -> None:
    bench = Bench()
    bench.ask(ModelQuotaExhausted)
    bench.now = 5

    with bench.breaker.guard():
        assert bench.ask() is ModelQuotaExhausted
    assert bench.ask() is None


def test_requests_that_were_under_way_together_open_it_once_and_close_nothing() -> None:
    bench, opened = Bench(), sample(MODEL_BREAKER, "mnemogram_model_breaker_total", outcome="opened")
    under_way = [bench.breaker.guard() for _ in range(3)]
    for request in under_way:
        request.__enter__()
    first, second, third = under_way
    for failed in (first, second):
        failed.__exit__(ModelQuotaExhausted, ModelQuotaExhausted(), None)
    third.__exit__(None, None, None)

    assert bench.breaker.is_open
    assert sample(MODEL_BREAKER, "mnemogram_model_breaker_total", outcome="opened") == opened + 1
