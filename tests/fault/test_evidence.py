"""The checkers of the fault tests: they report a repeated step, and accept a justified restart."""

import pytest

from bot.inbox.records import Fence
from chaos.rig.command_monitor import CommandMonitor, RecordedStep
from chaos.rig.evidence import ModelRequest, finished_steps, finished_twice, late_calls
from chaos.rig.fleet import Kill, resumed_after
from chaos.rig.verdict import are_in_order
from chaos.rows.r05_order import Ownership, read_ownership
from memory.codec import dump_json

ASKED = [ModelRequest(at=at, line="line 2 of 7", step=1, reply_id=f"call_{at:g}") for at in (1.0, 5.0)]
RECORDED = [
    RecordedStep(
        at=one.at + 1,
        worker=1,
        context_id="chat",
        step="model:1",
        value={"text": "", "tool_calls": [{"id": one.reply_id}]},
    )
    for one in ASKED
]


def test_a_step_that_ran_again_after_it_finished_is_reported() -> None:
    finished = finished_steps(ASKED, RECORDED, {})
    assert late_calls(ASKED, finished) == [ASKED[1]]
    assert finished_twice(finished) == [("line 2 of 7", 1)]


def test_an_update_that_joined_the_turn_of_a_dead_letter_may_start_again() -> None:
    finished = finished_steps(ASKED, RECORDED, {"chat": [3.0]})
    assert late_calls(ASKED, finished) == []
    assert finished_twice(finished) == []


def test_a_dead_letter_of_another_chat_or_a_later_time_justifies_nothing() -> None:
    for buried in ({"another": [3.0]}, {"chat": [7.0]}):
        assert finished_twice(finished_steps(ASKED, RECORDED, buried)) == [("line 2 of 7", 1)]


def test_the_recorder_distinguishes_a_dead_letter_from_a_commit() -> None:
    witness = CommandMonitor()
    for line in (
        '+1.5 [0 unix:/store] "EVALSHA" "the take" "1" "anna-12-0a1b2c"',
        '+1.5 [0 lua] "ZADD" "mnemogram:{m0}:dead" "1.5" "7"',
        '+1.6 [0 lua] "DEL" "mnemogram:{m0}:journal:chat"',
        '+2.5 [0 unix:/store] "EVALSHA" "a commit" "1" "anna-12-0a1b2c"',
        '+2.5 [0 lua] "DEL" "mnemogram:{m0}:journal:chat"',
    ):
        witness.see(line)
    assert witness.buried == {"chat": [1.6]}


def test_a_write_after_a_takeover_is_reported_and_a_second_takeover_is_not() -> None:
    def called(at: float, worker: int, delivery: int) -> list[str]:
        claim = Fence(group="workers", consumer=f"anna-{worker}-0a1b2c", entry="17-0", delivery=str(delivery))
        fence = dump_json(Fence, claim).replace('"', '\\"')
        return [
            f'+{at} [0 unix:/store] "EVALSHA" "the journal" "1" "mnemogram" "{fence}"',
            f'+{at} [0 lua] "HSET" "mnemogram:{{m0}}:journal:chat" "note" "x"',
        ]

    rightful, late = CommandMonitor(), CommandMonitor()
    for line in [*called(1.5, 11, 1), *called(2.5, 12, 2), *called(3.5, 11, 3)]:
        rightful.see(line)
    for line in [*called(1.5, 11, 1), *called(2.5, 12, 2), *called(3.5, 11, 1)]:
        late.see(line)

    assert read_ownership(rightful) == Ownership(takeovers=2, fenced=0)
    assert read_ownership(late) == Ownership(takeovers=1, fenced=1)


@pytest.mark.parametrize("shown", ["b c", "a b c", "a b b c", "a c b c", "b a c a"])
def test_repeated_and_withdrawn_answers_are_in_order_if_the_history_is(shown: str) -> None:
    assert are_in_order(["b", "c"], shown.split())


@pytest.mark.parametrize("shown", ["c b", "b", "c c b b", ""])
def test_answers_in_another_order_are_reported(shown: str) -> None:
    assert not are_in_order(["b", "c"], shown.split())


def test_a_recovery_is_timed_apart_if_no_other_worker_lived_meanwhile() -> None:
    witness = CommandMonitor()
    witness.steps["chat"] += [(14.0, 2), (24.0, 3), (36.0, 4)]
    ready_at = {1: 0.0, 2: 0.0, 3: 12.0, 4: 31.0}
    kills = [
        Kill(at=at, command="work", pid=pid, held=frozenset(["chat"]))
        for at, pid in ((10.0, 1), (20.0, 2), (30.0, 3))
    ]
    resumed = resumed_after(kills, witness, ready_at=ready_at)
    assert [(each.after_s, each.is_watched) for each in resumed] == [(4.0, True), (4.0, True), (6.0, False)]
