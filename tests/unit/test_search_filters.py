"""Whom a name means, and which days a search goes over."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.history_search import find_people, on_days, parse_day
from memory.recall.vector_index import Where

PEOPLE = {
    1: "Anna Smith",
    2: "Anna Berg",
    3: "Анна",
    4: "✨Kate✨",
    5: "张伟",
    6: "Will",
    7: "DROP TABLE",
    8: "Anna",
    9: "🌻",
    10: "O'Neill (work)",
    11: "Melanie Ng",
}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("anna smith", {1}),
        ("Anna", {8}),
        ("Berg", {2}),
        ("@Will", {6}),
        ("kate", {4}),
        ("✨Kate✨", {4}),
        ("张伟", {5}),
        ("drop table", {7}),
        ("🌻", {9}),
        ("o'neill", {10}),
        ("smith anna", {1}),
        ("Анне", {3}),
        ("Mel", {11}),
        ("mel", {11}),
        ("Zoe", set[int]()),
        ("", set[int]()),
        (" \n", set[int]()),
        ("(", set[int]()),
        (".*", set[int]()),
        ("\udcff", set[int]()),
    ],
)
def test_a_name_means_those_of_just_that_name_or_else_those_who_have_it_among_theirs(
    name: str, ids: set[int]
) -> None:
    assert find_people(name, PEOPLE) == ids


def test_one_name_may_mean_several_people() -> None:
    assert find_people("Anna", {1: "Anna Smith", 2: "Anna Berg"}) == {1, 2}


@given(st.text(max_size=80), st.dictionaries(st.integers(), st.text(max_size=80), max_size=20))
def test_any_name_means_people_who_are_there(name: str, people: dict[int, str]) -> None:
    assert find_people(name, people) <= people.keys()


@pytest.mark.parametrize("text", ["2026-05-31", " 2026-05-31\n"])
def test_a_day_is_read(text: str) -> None:
    assert parse_day(text) == date(2026, 5, 31)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-02-30",
        "20260531",
        "2026-W22-7",
        "2026-5-1",
        "1780000000",
        "\u0662\u0660\u0662\u0666-\u0660\u0665-\u0663\u0661",
    ],
)
def test_what_is_no_day_is_refused_with_the_form_of_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a day such as 2026-05-31$"):
        parse_day(text)


def test_days_are_whole_and_the_last_one_is_included() -> None:
    day = date(2026, 5, 31)

    where = on_days(Where(before_sequence=7), after=day, before=day)

    assert where.sent_from == datetime(2026, 5, 31, tzinfo=UTC).timestamp()
    assert where.sent_before == datetime(2026, 6, 1, tzinfo=UTC).timestamp()
    assert where.before_sequence == 7
    assert on_days(Where(), after=None, before=None) == Where()


def test_the_first_and_the_last_day_of_all_can_be_given() -> None:
    where = on_days(Where(), after=date.min, before=date.max)

    assert (where.sent_from or 0) < -6e10
    assert where.sent_before is None


def test_days_in_reverse_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^after \(2026-06-01\) is later than before \(2026-05-31\)"):
        on_days(Where(), after=date(2026, 6, 1), before=date(2026, 5, 31))
