"""Selection of the messages and facts that a prompt tells."""

from dataclasses import replace

import pytest

from memory.chat_history import RankedMessage
from memory.facts.selection import facts_share, select_memories
from memory.history.fact import Fact
from memory.history.message import Message


def _fact(name: str, *message_ids: str) -> Fact:
    return Fact(
        id=name,
        subject="Anna",
        statement=f"Anna {name}",
        said_by=1,
        message_ids=message_ids,
        valid_from=1.0,
        confidence=0.9,
    )


def _ranked(count: int, **facts: tuple[Fact, ...]) -> list[RankedMessage]:
    """Return hits m1, m2, … with these facts."""
    return [
        RankedMessage(
            message=Message(id=f"m{number}", role="user", text="…", sent_at=1.0, tokens=1),
            score=float(-number),
            facts=facts.get(f"m{number}", ()),
        )
        for number in range(1, count + 1)
    ]


def _told(ranked: list[RankedMessage], k: int = 8) -> tuple[str, str]:
    memories = select_memories(ranked, k)
    return " ".join(each.message.id for each in memories.messages), " ".join(
        each.id for each in memories.facts
    )


def test_eight_memories_are_the_five_best_messages_and_facts_of_the_next_ones():
    ranked = _ranked(
        9, m6=(_fact("a", "m6"),), m7=(_fact("b", "m7"),), m9=(_fact("c", "m9"), _fact("d", "m9"))
    )
    assert _told(ranked) == ("m1 m2 m3 m4 m5", "a b c")


def test_without_facts_all_memories_are_messages():
    assert _told(_ranked(12)) == ("m1 m2 m3 m4 m5 m6 m7 m8", "")


def test_messages_take_the_places_that_facts_leave_and_none_that_a_fact_tells():
    assert _told(_ranked(12, m6=(_fact("a", "m6"),))) == ("m1 m2 m3 m4 m5 m7 m8", "a")


def test_a_fact_whose_message_is_told_is_left_out():
    assert _told(_ranked(9, m2=(_fact("a", "m2"),), m6=(_fact("b", "m2", "m6"),))) == (
        "m1 m2 m3 m4 m5 m6 m7 m8",
        "",
    )


def test_a_corrected_fact_is_told_beside_its_message_and_comes_first():
    corrected = replace(_fact("a", "m2"), is_corrected=True)
    assert _told(_ranked(6, m2=(corrected,), m6=(_fact("b", "m6"),))) == ("m1 m2 m3 m4 m5", "a b")


def test_of_one_message_facts_that_still_hold_come_before_closed_ones():
    closed = replace(_fact("a", "m6"), valid_to=2.0)
    assert _told(_ranked(6, m6=(closed, _fact("b", "m6")))) == ("m1 m2 m3 m4 m5", "b a")


def test_a_fact_that_rests_on_two_hits_is_told_once():
    both = _fact("a", "m6", "m7")
    assert _told(_ranked(9, m6=(both,), m7=(both,))) == ("m1 m2 m3 m4 m5 m8 m9", "a")


@pytest.mark.parametrize(("k", "share"), [(0, 0), (-1, 0), (1, 0), (2, 0), (3, 1), (5, 1), (8, 3), (20, 7)])
def test_three_of_eight_memories_may_be_facts(k: int, share: int):
    assert facts_share(k) == share
    ranked = _ranked(40, **{f"m{number}": (_fact(f"f{number}", f"m{number}"),) for number in range(1, 41)})
    memories = select_memories(ranked, k)
    assert (len(memories.messages), len(memories.facts)) == (max(0, k) - share, share)


def test_a_ranking_that_is_shorter_than_k_is_told_whole():
    assert _told(_ranked(2, m1=(_fact("a", "m1"),))) == ("m1 m2", "")


def test_a_fact_whose_message_is_visible_already_is_left_out():
    ranked = _ranked(8, m6=(_fact("a", "m6", "window"),), m7=(_fact("b", "m7"),))
    memories = select_memories(ranked, 8, visible_ids={"window"})
    assert [each.id for each in memories.facts] == ["b"]
    assert [each.message.id for each in memories.messages] == ["m1", "m2", "m3", "m4", "m5", "m6", "m8"]
