"""The inbox and the turn's commit against their model, in a few examples. tests/fault tries many."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.turn_machine import TurnMachine


def test_commits_deliveries_and_resets_match_their_model(redis_url: str) -> None:
    TurnMachine.redis_url = redis_url
    run_state_machine_as_test(TurnMachine, settings=settings(max_examples=12, stateful_step_count=30))
