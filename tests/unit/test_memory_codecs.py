"""The forms at rest of messages, summaries and the ledger: each comes back as it was, on one line."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.codec import dump_json, parse_json
from memory.errors import RecordCorrupt
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.summary import ArtifactNote, Summary, SummaryFact, SummaryText
from tests.messages import make_message

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
"""Every separator included."""
TEXTS = st.lists(ANY_TEXT, max_size=3).map(tuple)
TOLD = st.builds(
    SummaryText,
    **dict.fromkeys(("overview", "primary_goal", "next"), ANY_TEXT),
    **dict.fromkeys(("secondary_goals", "done", "partial", "discovered", "decisions"), TEXTS),
    open_questions=TEXTS,
    facts=st.lists(st.builds(SummaryFact, about=ANY_TEXT, fact=ANY_TEXT), max_size=2).map(tuple),
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
def test_i04_a_summary_is_restored_as_it_was(text: SummaryText) -> None:
    summary = replace(SUMMARY, text=text)

    line = dump_json(Summary, summary)

    assert parse_json(Summary, line) == summary
    assert "\n" not in line


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"text": {}}', '{"text": {"facts": [{"who": 1}]}}'])
def test_an_invalid_summary_is_refused(line: str) -> None:
    with pytest.raises(RecordCorrupt):
        parse_json(Summary, line)


@given(entries=st.lists(ENTRIES, min_size=1, max_size=3), first=st.integers(0, 10**12))
def test_i08_a_turn_of_the_ledger_is_restored_as_it_was(entries: list[LedgerEntry], first: int) -> None:
    turn = LedgerTurn(first_sequence=first, last_sequence=first + 1, entries=tuple(entries))

    line = dump_json(LedgerTurn, turn)

    assert parse_json(LedgerTurn, line) == turn
    assert line.endswith(f'\n{{"first_sequence":"{first}","last_sequence":"{first + 1}"}}')


def test_an_edited_message_is_restored_with_its_edit_time() -> None:
    edited = replace(make_message(), edited_at=77.5)

    assert parse_json(Message, dump_json(Message, edited)) == edited
    assert "edited_at" not in dump_json(Message, make_message())


def test_a_lone_surrogate_is_replaced_in_storage() -> None:
    line = dump_json(Message, make_message("m", "half \ud83d of it"))

    assert parse_json(Message, line).text == "half \ufffd of it"
