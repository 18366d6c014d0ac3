"""The list of /facts: its pages, its lines, its buttons and what they mean."""

from datetime import UTC, datetime

import pytest

from bot.features.facts.lists import FactPress, facts_buttons, facts_text, parse_press, token_of
from bot.transport.paging import PAGE_SIZE, page_start
from bot.transport.rich_text import utf16_length
from bot.transport.splitting import MESSAGE_LIMIT
from bot.transport.words import LANGUAGES, words_for
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
    shown = facts_text(ENGLISH, facts, first=first, title="Known:", notice="", notes=["note"])
    return shown.text.split("\n")


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
    buttons = facts_buttons(ENGLISH, eleven, first=5, owner=BEN)
    assert [(each.row, each.text) for each in buttons] == [
        *((0, f"❌ {number}") for number in range(6, 11)),
        *((1, f"✏️ {number}") for number in range(6, 11)),
        (2, "◀️ Back"),
        (2, "More ▶️"),
    ]
    back, more = (parse_press(each.data) for each in buttons[-2:])
    assert back == FactPress(verb="page", owner=BEN, first=0)
    assert more == FactPress(verb="page", owner=BEN, first=10)


def test_a_button_names_the_fact_as_it_was_shown() -> None:
    before, after = make_fact(1), make_fact(1, "Ben has a dog")
    (delete, _) = facts_buttons(ENGLISH, [before], first=0, owner=BEN)
    press = parse_press(delete.data)
    assert press is not None
    assert press.token == token_of(before) != token_of(after)


def test_the_data_of_every_button_fits_telegrams_64_bytes() -> None:
    widest = FactPress(verb="correct", owner=-1_009_999_999_999_999_999, first=99_999, token="f" * 16)
    assert len(widest.dump()) <= 64
    assert parse_press(widest.dump()) == widest


@pytest.mark.parametrize(
    "data",
    ["facts", "facts:p", "facts:x:1:0:", "facts:d:1:0:", "facts:p:1:0:0123456789abcdef", "facts:p:a:0:", ""],
)
def test_other_data_means_nothing(data: str) -> None:
    assert parse_press(data) is None


@pytest.mark.parametrize(("first", "start"), [(0, 0), (4, 0), (5, 5), (6, 5), (7, 5), (500, 5)])
def test_a_page_beyond_the_end_is_the_last_one(first: int, start: int) -> None:
    assert page_start(first, 7) == start
    assert page_start(first, 0) == 0


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
    shown = facts_text(words, longest, first=0, title=title, notice=notice, notes=notes)
    assert utf16_length(shown.text) <= MESSAGE_LIMIT
