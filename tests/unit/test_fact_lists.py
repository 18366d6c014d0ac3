"""The list of /facts: its pages, its lines and its buttons."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from bot.features.facts.command import facts_page
from bot.transport.rich_text import utf16_length
from bot.transport.splitting import MESSAGE_LIMIT
from bot.transport.telegram_api import Button
from bot.transport.words import LANGUAGES, words_for
from bot.turn.menus import PAGE_SIZE, ListPress
from memory.history.fact import LONGEST_STATEMENT, LONGEST_SUBJECT, Fact

BEN = 1002
ENGLISH = words_for("en")


def make_fact(
    number: int, statement: str = "", *, subject: str = "Ben", valid_to: float | None = None
) -> Fact:
    return Fact(
        id=f"f{number}",
        subject=subject,
        statement=statement or f"Ben has {number} cats",
        said_by=BEN,
        message_ids=(f"m{number}",),
        valid_from=1000.0 - number,
        valid_to=valid_to,
        confidence=0.9,
    )


SEVEN = [make_fact(number) for number in range(1, 8)]


def _text(facts: list[Fact], *, first: int = 0) -> list[str]:
    at = ListPress(first=first)
    shown = facts_page(ENGLISH, facts, at=at, title="Known:", notice="", notes=["note"]).rich
    return shown.text.split("\n") if shown else []


def _buttons(facts: list[Fact], *, first: int = 0) -> Sequence[Button]:
    at = ListPress(owner=BEN, first=first)
    return facts_page(ENGLISH, facts, at=at, title="Known:", notice="", notes=[]).buttons


def test_the_facts_are_numbered_over_all_pages() -> None:
    assert _text(SEVEN, first=5) == [
        "Known:",
        "6. Ben has 6 cats",
        "7. Ben has 7 cats",
        "These are 6 to 7 of 7.",
        "",
        "note",
    ]


def test_a_closed_fact_says_until_when_it_held() -> None:
    until = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    assert _text([make_fact(1, valid_to=until)])[1] == "1. Ben has 1 cats (until 21 November 2026)"


def test_a_statement_that_does_not_name_its_subject_gets_it_in_front() -> None:
    assert _text([make_fact(1, "lives in Porto")])[1] == "1. Ben: lives in Porto"


def test_a_statement_can_neither_break_its_line_nor_turn_its_direction_nor_be_markup() -> None:
    hostile = make_fact(1, "Ben is **king**\n2. Olga\u202e owes him \u2028money")
    assert _text([hostile])[1] == "1. Ben is **king** 2. Olga owes him money"


def test_without_facts_there_are_only_the_notes() -> None:
    assert _text([]) == ["note"]


def test_a_page_has_a_row_to_delete_a_row_to_correct_and_a_row_of_pages() -> None:
    eleven = [make_fact(number) for number in range(1, 12)]
    buttons = _buttons(eleven, first=5)
    assert [(each.row, each.text) for each in buttons] == [
        *((0, f"❌ {number}") for number in range(6, 11)),
        *((1, f"✏️ {number}") for number in range(6, 11)),
        (2, "◀️ Back"),
        (2, "More ▶️"),
    ]
    assert [each.data for each in buttons[-2:]] == [f"facts:{BEN}:p:0:", f"facts:{BEN}:p:10:"]


def test_a_button_names_the_fact_as_it_was_shown() -> None:
    before, same, after = (make_fact(1, f"Ben has a {pet}") for pet in ("cat", "cat", "dog"))
    shown, again, changed = ([each.data for each in _buttons([fact])] for fact in (before, same, after))
    assert shown == again
    assert not set(shown) & set(changed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_page_fits_into_one_message(language: str) -> None:
    words = words_for(language)
    longest = [
        make_fact(number, "ш" * LONGEST_STATEMENT, subject="щ" * LONGEST_SUBJECT, valid_to=1e9)
        for number in range(PAGE_SIZE + 1)
    ]
    notes = [words("facts-buttons"), words("facts-unread", count=100)]
    title, notice = (
        words("facts-title", place="group"),
        words("facts-noted", statement="ш" * LONGEST_STATEMENT),
    )
    shown = facts_page(words, longest, at=ListPress(), title=title, notice=notice, notes=notes).rich
    assert shown is not None
    assert utf16_length(shown.text) <= MESSAGE_LIMIT
