"""The queue that polling and the webhook share."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator.api.updates import DEFAULT_KINDS, Delivery, UpdateQueue
from simulator.api.wakeup import Wakeup

pytestmark = pytest.mark.slow


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    clock: Clock = field(default_factory=Clock)

    def queue(self) -> UpdateQueue:
        return UpdateQueue(self.clock, Wakeup(), first_id=50)


def add(queue: UpdateQueue, text: str, *, lane: str = "a", life_s: float = 60) -> int:
    added = queue.add("message", {"text": text}, lane=lane, life_s=life_s)
    assert added is not None
    return added


def texts(queue: UpdateQueue) -> list[Any]:
    return [update.payload["text"] for update in queue.first(100)]


def test_update_ids_increase_by_one() -> None:
    queue = Bench().queue()
    assert [add(queue, "x"), add(queue, "y", lane="b"), add(queue, "z")] == [50, 51, 52]


def test_the_heads_are_the_oldest_updates_of_each_lane() -> None:
    queue = Bench().queue()
    first, second = add(queue, "a1"), add(queue, "b1", lane="b")
    add(queue, "a2")
    assert [update.id for update in queue.heads()] == [first, second]


def test_dropping_a_head_reveals_the_next_update_of_its_lane() -> None:
    queue = Bench().queue()
    first, second = add(queue, "a1"), add(queue, "a2")
    queue.drop(first)
    assert [update.id for update in queue.heads()] == [second]


def test_confirming_drops_updates_below_the_offset() -> None:
    queue = Bench().queue()
    for text in "abc":
        add(queue, text)
    queue.confirm(52)
    assert texts(queue) == ["c"]


def test_a_negative_offset_keeps_that_many_of_the_newest() -> None:
    queue = Bench().queue()
    for text in "abcd":
        add(queue, text)
    queue.confirm(-2)
    assert texts(queue) == ["c", "d"]


def test_a_negative_offset_beyond_the_pending_keeps_all() -> None:
    queue = Bench().queue()
    add(queue, "a")
    queue.confirm(-5)
    assert texts(queue) == ["a"]


def test_expired_updates_are_gone() -> None:
    bench = Bench()
    queue = bench.queue()
    add(queue, "short", life_s=10)
    add(queue, "long", life_s=100)
    bench.clock.now += 10
    assert texts(queue) == ["long"]


def test_an_unrequested_kind_is_not_queued() -> None:
    queue = Bench().queue()
    queue.allowed = frozenset({"callback_query"})
    assert (queue.add("message", {}, lane="a", life_s=9), len(queue)) == (None, 0)


def test_by_default_all_kinds_except_members_and_reactions_are_queued() -> None:
    missing = {"chat_member", "message_reaction", "message_reaction_count"}
    assert {"message", "edited_message", "callback_query", "my_chat_member"} <= DEFAULT_KINDS
    assert not missing & DEFAULT_KINDS


def test_a_trace_outlives_the_update() -> None:
    queue = Bench().queue()
    update_id = add(queue, "a")
    queue.record(update_id, Delivery(at=1.0, status=503))
    queue.record(update_id, Delivery(at=2.0, status=200))
    queue.drop(update_id)
    trace = queue.trace(update_id)
    assert trace is not None
    assert trace.update.as_json() == {"update_id": update_id, "message": {"text": "a"}}
    assert [one.status for one in trace.deliveries] == [503, 200]


def test_an_unknown_id_has_no_trace() -> None:
    queue = Bench().queue()
    queue.record(7, Delivery(at=1.0))
    queue.drop(7)
    assert queue.trace(7) is None


def test_clearing_leaves_nothing() -> None:
    queue = Bench().queue()
    add(queue, "a")
    queue.clear()
    assert (len(queue), list(queue.heads())) == (0, [])
