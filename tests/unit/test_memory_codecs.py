"""The forms at rest of messages, summaries and the ledger: each comes back as it was, on one line of ASCII."""

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.ledger_codec import dump_called, dump_ledger_turn, parse_ledger_turn
from memory.history.message import dump_message, parse_message
from memory.history.summary import ArtifactNote, Fact, Summary, SummaryText
from memory.history.summary_codec import dump_covers, dump_summary, parse_covers, parse_summary
from tests.messages import a_message

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=30)
"""Lone surrogates and every separator included."""
TEXTS = st.lists(ANY_TEXT, max_size=3).map(tuple)
TOLD = st.builds(
    SummaryText,
    **dict.fromkeys(("overview", "primary_goal", "next"), ANY_TEXT),
    **dict.fromkeys(("secondary_goals", "done", "partial", "discovered", "decisions"), TEXTS),
    open_questions=TEXTS,
    facts=st.lists(st.builds(Fact, about=ANY_TEXT, fact=ANY_TEXT), max_size=2).map(tuple),
    artifacts=st.lists(st.builds(ArtifactNote, id=ANY_TEXT, tool=ANY_TEXT, holds=ANY_TEXT), max_size=2).map(
        tuple
    ),
)
SUMMARY = Summary(
    id="s2", builds_on="s1", conversation_start=3, from_sequence=7, upto_sequence=9,
    text=SummaryText(overview="Talk."), tokens=3, model="small", created_at=5.5,
)  # fmt: skip
ENTRIES = st.builds(
    LedgerEntry,
    id=ANY_TEXT,
    kind=st.sampled_from(["tool", "delegation", "transfer"]),
    agent=ANY_TEXT,
    name=ANY_TEXT,
    input=ANY_TEXT,
    output=ANY_TEXT,
    is_error=st.booleans(),
    delegation_id=st.sampled_from(["", "a", "a/b"]),
    opened=st.sampled_from(["", "a"]),
    artifact_id=st.sampled_from(["", "a1", "a2"]),
)


@given(text=TOLD)
def test_i04_a_summary_comes_back_as_it_was(text: SummaryText) -> None:
    summary = replace(SUMMARY, text=text)

    line = dump_summary(summary)

    assert parse_summary(line) == summary
    assert line.isascii()
    assert "\n" not in line


def test_a_summary_without_a_field_that_came_later_has_it_empty() -> None:
    fields = asdict(SUMMARY)
    del fields["text"]["facts"], fields["text"]["next"]

    assert parse_summary(json.dumps(fields)) == SUMMARY


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"text": {}}', '{"text": {"facts": [{"who": 1}]}}'])
def test_a_line_that_is_no_summary_is_refused(line: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        parse_summary(line)


def test_the_ids_that_a_summary_covers_come_back_in_order() -> None:
    assert parse_covers(dump_covers(["m2", "a b", "é"])) == ("m2", "a b", "é")
    assert parse_covers(None) == ()


@given(entries=st.lists(ENTRIES, min_size=1, max_size=3), first=st.integers(0, 10**12))
def test_i08_a_turn_of_the_ledger_comes_back_as_it_was(entries: list[LedgerEntry], first: int) -> None:
    turn = LedgerTurn(first_sequence=first, last_sequence=first + 1, entries=tuple(entries))

    line = dump_ledger_turn(turn)

    assert parse_ledger_turn(line, last_sequence=first + 1) == turn
    assert line.isascii()
    named = [each.artifact_id for each in entries if each.artifact_id]
    assert line.split(" ", 2)[1] == ",".join(dict.fromkeys(named))


def test_no_entries_are_no_line() -> None:
    assert dump_called(()) == ""


def test_an_edited_message_comes_back_with_when_it_was_edited() -> None:
    edited = replace(a_message(), edited_at=77.5)

    assert parse_message(dump_message(edited), sequence=None) == edited
    assert "edited_at" not in dump_message(a_message())
