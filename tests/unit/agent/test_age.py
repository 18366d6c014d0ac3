"""The age of a message in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.prompt.text import age_in_words

NOW = datetime(2026, 3, 31, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "age"),
    [
        ("2026-03-31T15:00:30", "just now"),  # another clock
        ("2026-03-31T14:59:01", "just now"),
        ("2026-03-31T14:59:00", "1 minute ago"),
        ("2026-03-31T14:00:01", "59 minutes ago"),
        ("2026-03-31T14:00:00", "1 hour ago"),
        ("2026-03-31T00:30:00", "14 hours ago"),
        ("2026-03-30T23:59:00", "yesterday"),
        ("2026-03-30T00:00:00", "yesterday"),
        ("2026-03-29T23:59:00", "2 days ago"),
        ("2026-03-18T12:00:00", "13 days ago"),
        ("2026-03-17T12:00:00", "2 weeks ago"),
        ("2026-01-31T12:00:00", "8 weeks ago"),
        ("2026-01-27T12:00:00", "2 months ago"),
        ("2025-12-31T12:00:00", "3 months ago"),
        ("2024-04-30T12:00:00", "23 months ago"),
        ("2024-03-31T12:00:00", "2 years ago"),
        ("1970-01-01T00:00:00", "56 years ago"),
    ],
)
def test_an_age_reads_as_people_say_it(said: str, age: str) -> None:
    sent_at = datetime.fromisoformat(said).replace(tzinfo=UTC).timestamp()

    assert age_in_words(sent_at, NOW.timestamp()) == age


def test_a_message_from_before_midnight_is_hours_old_at_night() -> None:
    night = datetime(2026, 3, 31, 1, 0, tzinfo=UTC)

    assert age_in_words(night.timestamp() - 2 * 3600, night.timestamp()) == "2 hours ago"


@given(st.floats(min_value=0, max_value=4e9), st.floats(min_value=0, max_value=4e9))
def test_any_two_times_have_an_age_of_at_least_one_unit(sent_at: float, now: float) -> None:
    age = age_in_words(sent_at, now)

    number = age.split()[0]
    assert age in ("just now", "yesterday") or int(number) >= 1
    assert age in ("just now", "yesterday") or age.endswith("s ago") == (number != "1")
