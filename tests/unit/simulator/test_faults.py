"""Faults ordered from the page."""

from bot.simulator.faults import Fault, FaultPlan


def test_a_fault_hits_as_many_matching_calls_as_ordered() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=2, method="sendMessage", chat_id=5))
    hits = [
        plan.take("sendmessage", 6),
        plan.take("getme", 5),
        plan.take("sendmessage", 5),
        plan.take("sendmessage", 5),
        plan.take("sendmessage", 5),
    ]
    assert [None if hit is None else hit.error for hit in hits] == [None, None, "500", "500", None]


def test_a_fault_without_a_method_leaves_polling_alone() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="429", times=1))
    assert plan.take("getupdates", None) is None
    assert plan.take("sendchataction", 1) is not None


def test_polling_fails_when_it_is_named() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=1, method="getUpdates"))
    assert plan.take("getupdates", None) is not None


def test_faults_are_used_in_the_order_of_their_ordering() -> None:
    plan = FaultPlan()
    plan.order(Fault(error="500", times=1))
    plan.order(Fault(error="429", times=1, retry_after=4))
    kinds = [fault.error for fault in (plan.take("getme", None), plan.take("getme", None)) if fault]
    assert kinds == ["500", "429"]
