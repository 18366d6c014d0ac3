"""Faults ordered from the page."""

import pytest

from simulator.api.faults import Fault, FaultPlan

pytestmark = pytest.mark.slow


def test_a_fault_hits_the_ordered_number_of_matching_calls() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=2, method="sendMessage", chat_id=5))
    hits = [
        plan.take("sendmessage", 6, now=0),
        plan.take("getme", 5, now=0),
        plan.take("sendmessage", 5, now=0),
        plan.take("sendmessage", 5, now=0),
        plan.take("sendmessage", 5, now=0),
    ]
    assert [None if hit is None else hit.fault.error for hit in hits] == [None, None, "500", "500", None]


def test_a_fault_without_a_method_does_not_hit_polling() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="429", times=1))
    assert plan.take("getupdates", None, now=0) is None
    assert plan.take("sendchataction", 1, now=0) is not None


def test_a_fault_can_name_polling() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=1, method="getUpdates"))
    assert plan.take("getupdates", None, now=0) is not None


def test_faults_are_used_in_the_order_of_their_creation() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=1))
    plan.order(Fault(error="429", times=1, retry_after=4))
    kinds = [
        hit.fault.error for hit in (plan.take("getme", None, now=0), plan.take("getme", None, now=0)) if hit
    ]
    assert kinds == ["500", "429"]


def _retries(plan: FaultPlan, count: int) -> list[int | None]:
    hits = [plan.take("sendmessage", chat, now=0) for chat in range(count)]
    return [None if hit is None else hit.retry_after for hit in hits]


def test_a_random_fault_hits_by_its_probability_and_repeats_with_its_seed() -> None:
    plans = [FaultPlan() for _ in range(3)]
    for plan, seed in zip(plans, (7, 7, 8), strict=True):
        plan.order(Fault(error="429", times=None, probability=0.1, retry_after=(1, 3), seed=seed))
    same, again, other = (_retries(plan, 2000) for plan in plans)
    assert same == again != other
    assert 140 < sum(1 for one in same if one) < 260
    assert set(same) == {None, 1, 2, 3}


def test_a_held_chat_gets_the_remaining_seconds() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="429", retry_after=3, hold=True))
    hits = [plan.take("sendmessage", 1, now=at) for at in (0, 0.5, 2.5, 3)]
    assert [None if hit is None else hit.retry_after for hit in hits] == [3, 3, 1, None]
    plan.order(Fault(error="429", retry_after=3, hold=True))
    assert plan.take("editmessagetext", 1, now=10) is not None
    assert plan.take("getchatmember", 1, now=11) is plan.take("sendmessage", 2, now=11) is None


def test_a_fault_ends_after_its_time_and_when_all_are_cleared() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=None, until=5))
    assert plan.take("getme", None, now=4) is not None
    assert plan.take("getme", None, now=5) is None
    plan.order(Fault(error="500", times=None))
    plan.clear()
    assert plan.take("getme", None, now=6) is None
