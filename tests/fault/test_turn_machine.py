"""The state machines of the inbox and of turns, in many examples: `make test` tries a few."""

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.property.test_inbox_machine import InboxMachine
from tests.property.turn_machine import TurnMachine

MANY = settings(max_examples=80, stateful_step_count=40)


@pytest.mark.parametrize("machine", [InboxMachine, TurnMachine], ids=["inbox", "turn"])
def test_the_store_matches_the_model_in_many_examples(
    machine: type[RuleBasedStateMachine], redis_url: str
) -> None:
    machine.redis_url = redis_url
    run_state_machine_as_test(machine, settings=MANY)
