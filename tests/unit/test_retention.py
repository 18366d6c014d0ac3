"""The rules of a chat's limit: the shorter of two, and what a stored choice means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.retention.command import days_in, limit_text
from bot.settings import Settings
from bot.transport.words import LANGUAGES, words_for
from memory.retention import LONGEST_DAYS, RetentionChoice, parse_choice
from memory.transfer.file import ChoiceLine


@pytest.mark.parametrize(
    ("chosen", "most", "days"),
    [(0, 0, 0), (30, 0, 30), (0, 90, 90), (30, 90, 30), (365, 90, 90), (90, 90, 90)],
)
def test_the_shorter_of_the_peoples_and_the_operators_limit_counts(chosen: int, most: int, days: int) -> None:
    assert RetentionChoice(days=chosen).days_within(most) == days


@given(st.integers(0, LONGEST_DAYS), st.booleans())
def test_a_choice_is_read_as_it_was_stored(days: int, keeps_facts: bool) -> None:
    choice = RetentionChoice(days=days, keeps_facts=keeps_facts)
    assert parse_choice(str(choice)) == choice


@pytest.mark.parametrize("choice", [RetentionChoice(days=30), RetentionChoice(keeps_facts=True)])
def test_a_choice_travels_in_the_file_of_a_chat(choice: RetentionChoice) -> None:
    assert ChoiceLine(name="retention", value=str(choice)).value == str(choice)


@pytest.mark.parametrize("text", ["", "x", "-5", "1.5", "٣", "for ever"])
def test_what_cannot_be_read_is_no_choice(text: str) -> None:
    assert parse_choice(text) == RetentionChoice()


def test_a_choice_is_never_longer_than_the_setting_may_be() -> None:
    assert parse_choice("99999").days == LONGEST_DAYS
    bound = next(each for each in Settings.model_fields["retention_days"].metadata if hasattr(each, "le"))
    assert bound.le == LONGEST_DAYS


@pytest.mark.parametrize(
    ("text", "days"),
    [
        *[(text, "365") for text in ("1 year", "one year", "1 Jahr", "ein Jahr", "un año", "1 ano", "1 год", "یک سال")],
        *[(text, "180") for text in ("6 months", "6 Monate", "seis meses", "6 месяцев", "۶ ماه")],
        *[(text, "14") for text in ("two weeks", "2 Wochen", "2 semanas", "2 недели", "۲ هفته")],
        *[(text, "30") for text in ("30 days", "30 Tage", "30 días", "30 dias", "30 дней", "۳۰ روز")],
        *[(text, "") for text in ("", "soon", "1 hour", "1.5 years", "1 or 2 years", "10000 days", "year 1")],
    ],
)  # fmt: skip
def test_a_time_in_words_is_so_many_days(text: str, days: str) -> None:
    assert days_in(text) == days


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_names_the_time_and_says_so_if_there_is_no_limit(language: str) -> None:
    words = words_for(language)
    year = {"en": "1 year", "de": "1 Jahr", "es": "1 año", "pt": "1 ano", "ru": "1 год", "fa": "یک سال"}[
        language
    ]

    assert year in limit_text(words, 365)
    assert ("۳۰" if language == "fa" else "30") in limit_text(words, 30)
    assert limit_text(words, 0) == words("retention-none")
