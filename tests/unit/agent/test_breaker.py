"""The breaker of model requests: opening, probes, and closing."""

import asyncio

import pytest

from bot.agent.openai_model import model_breaker
from bot.errors import (
    ModelBarred,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.observe.metrics import MODEL_BREAKER
from tests.unit.agent.kit import sample

OPENING = (ModelBarred, ModelMissing, ModelQuotaExhausted)
OTHERS = (ModelRefused, ModelRepliedNothing, ModelUnavailable, PromptTooLong)


class Bench:
    """A breaker, its clock, and the count of admitted requests."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.breaker = model_breaker(first_s=5, longest_s=12, clock=lambda: self.now)

    def ask(self, failure: type[BaseException] | None = None) -> type[BaseException] | None:
        """Make a request that ends with this failure. Return the raised failure."""
        try:
            with self.breaker.guard():
                self.asked += 1
                if failure is not None:
                    raise failure
        except (TellUser, asyncio.CancelledError) as ended:
            return type(ended)
        return None


@pytest.mark.parametrize("failure", OPENING)
def test_a_permanent_failure_opens_the_breaker_and_is_repeated_without_a_request(
    failure: type[TellUser],
) -> None:
    bench = Bench()

    assert [bench.ask(failure), bench.ask(), bench.ask()] == [failure] * 3
    assert (bench.asked, bench.breaker.is_open) == (1, True)


@pytest.mark.parametrize("failure", [*OTHERS, asyncio.CancelledError])
def test_a_passing_failure_leaves_the_breaker_closed(failure: type[BaseException]) -> None:
    bench = Bench()

    assert bench.ask(failure) is failure
    assert (bench.ask(), bench.breaker.is_open) == (None, False)


def test_a_probe_is_admitted_after_each_pause_and_the_pauses_grow_to_a_maximum() -> None:
    bench = Bench()
    asked_at: list[float] = []
    for second in range(60):
        bench.now = second
        before = bench.asked
        bench.ask(ModelQuotaExhausted)
        asked_at += [second] * (bench.asked - before)

    assert asked_at == [0, 5, 15, 27, 39, 51]


@pytest.mark.parametrize("answer", [None, ModelRefused, ModelRepliedNothing, PromptTooLong])
def test_a_successful_probe_closes_the_breaker_and_resets_the_pause(answer: type[TellUser] | None) -> None:
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
def test_an_inconclusive_probe_leaves_the_breaker_open_for_the_same_pause(
    ending: type[BaseException],
) -> None:
    bench = Bench()
    bench.ask(ModelBarred)
    bench.now = 7
    assert bench.ask(ending) is ending

    bench.now = 11.9
    assert bench.ask() is ModelBarred
    bench.now = 12
    assert bench.ask() is None


def test_only_one_probe_runs_at_a_time() -> None:
    bench = Bench()
    bench.ask(ModelQuotaExhausted)
    bench.now = 5

    with bench.breaker.guard():
        assert bench.ask() is ModelQuotaExhausted
    assert bench.ask() is None


def test_concurrent_requests_open_the_breaker_once_and_close_nothing() -> None:
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
