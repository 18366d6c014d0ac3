"""The plan of webhook retries and connections."""

import pytest

from simulator.api.delivery import Attempts, Connections, plan_retry, retry_after_of

pytestmark = pytest.mark.slow


def delays(count: int, *, longest_s: float = 90) -> list[float]:
    attempts, planned = Attempts(), list[float]()
    for _ in range(count):
        delay, attempts = plan_retry(attempts, retry_after_s=0, longest_s=longest_s)
        planned.append(delay)
    return planned


def test_the_first_retry_is_at_once_and_the_delays_double_up_to_a_maximum() -> None:
    assert delays(9) == [0, 2, 4, 8, 16, 32, 64, 90, 90]


def test_retry_after_replaces_the_delay_and_does_not_increase_it() -> None:
    waited, attempts = plan_retry(Attempts(failed=3, delay_s=8), retry_after_s=1, longest_s=90)
    assert (waited, attempts) == (1, Attempts(failed=4, delay_s=8))


def test_retry_after_is_an_hour_at_most() -> None:
    assert plan_retry(Attempts(), retry_after_s=7200, longest_s=90)[0] == 3600


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 0), ("", 0), ("5", 5), (" 7 ", 7), ("-3", 0), ("1.5", 0), ("Wed, 21 Oct 2026 07:28:00 GMT", 0)],
)
def test_only_whole_seconds_of_retry_after_are_used(header: str | None, seconds: int) -> None:
    assert retry_after_of(header) == seconds


def test_a_failure_reduces_to_one_connection_and_success_adds_one_every_two_seconds() -> None:
    connections = Connections(allowed=40, since_s=0).after_failure(10)
    counts = [connections.allowed]
    for now in (11, 12, 13, 14):
        connections = connections.after_success(now, most=40, scale=1)
        counts.append(connections.allowed)
    assert counts == [1, 1, 2, 2, 3]


def test_connections_do_not_exceed_the_maximum() -> None:
    connections = Connections(allowed=2, since_s=0)
    assert connections.after_success(100, most=2, scale=1) is connections
