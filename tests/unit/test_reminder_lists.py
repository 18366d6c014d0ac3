"""The list of /reminders: its dates in six languages, its lines and its buttons."""

import pytest

from bot.features.reminders.command import reminders_page
from bot.features.reminders.turns import when_text
from bot.transport.rich_text import utf16_length
from bot.transport.splitting import MESSAGE_LIMIT
from bot.transport.words import LANGUAGES, words_for
from bot.turn.commit import Reply
from bot.turn.menus import PAGE_SIZE, ListPress
from memory.reminders.reminder import LONGEST_TEXT, NAMED_RULES, Reminder

ENGLISH = words_for("en")
AT = 1_795_478_400.0
"""2026-11-24 00:00 UTC."""


def make_reminder(number: int = 1, *, text: str = "tea", name: str = "Ben", repeats: str = "") -> Reminder:
    return Reminder(
        id=f"{number:08x}",
        text=text,
        due_at=AT,
        zone="UTC",
        starts_at="2026-11-24T00:00:00",
        repeats=repeats,
        person_id=1002,
        person_name=name,
        chat_id=1002,
        chat_type="private",
        created_at=AT,
    )


def _page(*reminders: Reminder, is_group: bool = False, first: int = 0) -> Reply:
    at = ListPress(first=first)
    return reminders_page(ENGLISH, reminders, at=at, zone="UTC", is_group=is_group, notice="")


def _lines(*reminders: Reminder, is_group: bool = False) -> list[str]:
    rich = _page(*reminders, is_group=is_group).rich
    return rich.text.split("\n") if rich else []


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "24 November 2026, 05:45"),
        ("de", "24. November 2026, 05:45"),
        ("ru", "24 ноября 2026"),
        ("es", "24 de noviembre de 2026, 05:45"),
        ("pt", "24 de novembro de 2026, 05:45"),
        ("fa", "۳ آذر ۱۴۰۵"),
    ],
)
def test_a_date_is_written_in_the_readers_language_and_zone(language: str, written: str) -> None:
    shown = when_text(words_for(language), AT, "Asia/Kathmandu")
    assert written in shown
    assert "05:45" in shown


@pytest.mark.parametrize("name", NAMED_RULES)
def test_every_named_rule_has_words_of_its_own(name: str) -> None:
    (_, line, *_) = _lines(make_reminder(repeats=NAMED_RULES[name]))
    assert "(repeats)" not in line
    assert "(" in line


def test_another_rule_only_says_that_it_repeats() -> None:
    assert _lines(make_reminder(repeats="FREQ=WEEKLY;BYDAY=TU"))[1] == (
        "1. 24 November 2026, 00:00 (repeats): tea"
    )


def test_a_text_can_neither_break_its_line_nor_turn_its_direction() -> None:
    hostile = make_reminder(text="a\n2. Olga\u202e **owes** \u2028money", name="B\nen")
    assert _lines(hostile, is_group=True)[1] == "1. 24 November 2026, 00:00, B en: a 2. Olga **owes** money"


def test_a_page_has_a_row_that_cancels_and_a_row_of_pages() -> None:
    buttons = _page(*map(make_reminder, range(11)), first=5).buttons
    assert [(each.row, each.text) for each in buttons] == [
        *((0, f"❌ {number}") for number in range(6, 11)),
        (1, "◀️ Back"),
        (1, "More ▶️"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_page_fits_into_one_message(language: str) -> None:
    longest = [
        make_reminder(number, text="😀" * LONGEST_TEXT, name="щ" * 300, repeats="FREQ=DAILY")
        for number in range(PAGE_SIZE + 1)
    ]
    zone = "America/Argentina/ComodRivadavia"
    words, notice = words_for(language), "😀" * 220
    shown = reminders_page(words, longest, at=ListPress(), zone=zone, is_group=True, notice=notice).rich
    assert shown is not None
    assert utf16_length(shown.text) <= MESSAGE_LIMIT
