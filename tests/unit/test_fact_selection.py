"""Selection of the messages and facts that a prompt tells."""

from dataclasses import replace
from typing import Any

import pytest

from memory.chat_history import RankedMessage
from memory.facts.selection import RecallBudget, facts_share, select_memories
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
    memories = select_memories(ranked, RecallBudget(lines=k))
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
    memories = select_memories(ranked, RecallBudget(lines=k))
    assert (len(memories.messages), len(memories.facts)) == (max(0, k) - share, share)


def test_a_ranking_that_is_shorter_than_k_is_told_whole():
    assert _told(_ranked(2, m1=(_fact("a", "m1"),))) == ("m1 m2", "")


def test_a_fact_whose_message_is_visible_already_is_left_out():
    ranked = _ranked(8, m6=(_fact("a", "m6", "window"),), m7=(_fact("b", "m7"),))
    memories = select_memories(ranked, RecallBudget(lines=8), visible_ids={"window"})
    assert [each.id for each in memories.facts] == ["b"]
    assert [each.message.id for each in memories.messages] == ["m1", "m2", "m3", "m4", "m5", "m6", "m8"]


def _costs(tokens: int) -> RecallBudget:
    """Return a budget of 20 lines in which each line costs 10 tokens, and each heading 5."""
    return RecallBudget(lines=20, tokens=tokens, cost=lambda _: 10, heading=5)


@pytest.mark.parametrize(("tokens", "lines"), [(0, 0), (14, 0), (15, 1), (54, 4), (55, 5), (10_000, 12)])
def test_the_best_lines_are_told_until_the_tokens_are_spent(tokens: int, lines: int):
    told = select_memories(_ranked(12), _costs(tokens)).messages
    assert [each.message.id for each in told] == [f"m{number}" for number in range(1, lines + 1)]


def test_facts_get_their_share_of_the_tokens_too():
    ranked = _ranked(12, m5=(_fact("a", "m5"),), m6=(_fact("b", "m6"),), m7=(_fact("c", "m7"),))
    memories = select_memories(ranked, _costs(80))
    assert [each.message.id for each in memories.messages] == ["m1", "m2", "m3", "m4"]
    assert [each.id for each in memories.facts] == ["a", "b", "c"]


def test_a_message_is_shortened_before_it_is_counted_and_no_message_after_the_room_is_full():
    shortened: list[str] = []

    def shorten(hit: RankedMessage) -> RankedMessage:
        shortened.append(hit.message.id)
        return replace(hit, score=0.0)

    memories = select_memories(_ranked(40), _costs(45), shorten=shorten)
    assert [each.score for each in memories.messages] == [0.0] * 4
    assert set(shortened) == {"m1", "m2", "m3", "m4", "m5"}


def _at(number: int, **fields: Any) -> RankedMessage:
    message = Message(
        id=f"m{number}", role="user", text="…", sent_at=float(number), tokens=1, sequence=number
    )
    return RankedMessage(message=message, score=1.0, **fields)


def _marks(*hits: RankedMessage) -> list[str]:
    marked = select_memories(hits, RecallBudget(lines=20)).messages
    return [
        f"{each.message.id}{' newer' if each.is_update else ''}"
        f"{f' older than {each.update.id}' if each.update else ''}"
        for each in marked
    ]


def test_an_older_statement_is_marked_with_the_nearest_newer_one_that_is_told():
    assert _marks(_at(1, newer=(9, 5, 3)), _at(3), _at(5)) == ["m1 older than m5", "m3 newer", "m5 newer"]


def test_nothing_is_marked_if_the_newer_statement_is_not_told():
    assert _marks(_at(1, newer=(9,)), _at(2)) == ["m1", "m2"]


def test_a_message_whose_fact_was_closed_is_older_than_the_message_of_the_closing_fact():
    closed = replace(_fact("a", "m1"), valid_to=2.0, closed_by="b")
    assert _marks(_at(1, facts=(closed,)), _at(2, facts=(_fact("b", "m2"),))) == [
        "m1 older than m2",
        "m2 newer",
    ]
