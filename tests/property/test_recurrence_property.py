"""Dates of reminders: both changes of the clock, an hour between any two, and a search that ends."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from time import process_time

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.reminders.reminder import (
    Reminder,
    first_date,
    missed_and_next,
    next_date,
    read_repeats,
    read_time,
    skipped_day,
)
from memory.zones.clocks import BadTime, find_zone, offset_name
from memory.zones.reader import read_zone

ZONES = (
    *("UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Asia/Tehran"),
    *("Pacific/Apia", "America/Sao_Paulo"),
)
NEVER = (
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;INTERVAL=168;BYDAY=MO",
    "FREQ=MONTHLY;BYDAY=6MO",
    "FREQ=MONTHLY;BYDAY=9MO",
)
NOW = 1_795_478_400.0  # 2026-11-24T00:00Z

DAYS = st.lists(st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]), min_size=1, unique=True)
HOURS = st.lists(st.integers(0, 23), min_size=1, max_size=8, unique=True)


def _list(name: str, values: list[object]) -> str:
    return f"{name}={','.join(map(str, values))}"


def _rule(freq: str, interval: int, parts: list[str]) -> str:
    return ";".join([f"FREQ={freq}", f"INTERVAL={interval}", *parts])


RULES = st.builds(
    _rule,
    st.sampled_from(["HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
    st.integers(1, 30),
    st.lists(
        st.one_of(
            DAYS.map(lambda days: _list("BYDAY", [*days])),
            HOURS.map(lambda hours: _list("BYHOUR", [*hours])),
            st.integers(0, 59).map(lambda minute: f"BYMINUTE={minute}"),
            st.integers(1, 40).map(lambda count: f"COUNT={count}"),
        ),
        max_size=3,
        unique_by=lambda part: part.split("=")[0],
    ),
)
STARTS = st.integers(0, 4 * 365 * 24 * 3600).map(
    lambda seconds: datetime.fromisoformat("2026-01-01") + timedelta(seconds=seconds)
)


def reminder(starts_at: str, zone: str, repeats: str, due_at: float = 0) -> Reminder:
    return Reminder(
        id="00000000",
        text="tea",
        due_at=due_at,
        zone=zone,
        starts_at=starts_at,
        repeats=repeats,
        person_id=7,
        person_name="Anna",
        chat_id=7,
        chat_type="private",
        created_at=0,
    )


def dates(one: Reminder, after: float, number: int) -> list[float]:
    found: list[float] = []
    while len(found) < number and (each := next_date(one, found[-1] if found else after)) is not None:
        found.append(each)
    return found


def local(moments: list[float], zone: str) -> list[str]:
    return [f"{datetime.fromtimestamp(each, find_zone(zone)):%m-%d %H:%M %z}" for each in moments]


def test_a_daily_reminder_moves_over_the_gap_and_comes_once_in_the_repeated_hour() -> None:
    spring = reminder("2027-03-27T01:30:00", "Europe/Lisbon", "FREQ=DAILY")
    autumn = reminder("2027-10-30T01:30:00", "Europe/Lisbon", "FREQ=DAILY")

    assert local(dates(spring, 0, 3), "Europe/Lisbon") == [
        "03-27 01:30 +0000",
        "03-28 02:30 +0100",
        "03-29 01:30 +0100",
    ]
    assert local(dates(autumn, 0, 3), "Europe/Lisbon") == [
        "10-30 01:30 +0100",
        "10-31 01:30 +0100",
        "11-01 01:30 +0000",
    ]


@pytest.mark.parametrize(
    ("now", "when", "expected"),
    [
        ("2027-10-31T00:30Z", "01:45", "10-31 01:45 +0100"),
        ("2027-10-31T01:30Z", "01:45", "10-31 01:45 +0000"),
        ("2027-10-31T01:50Z", "01:45", "11-01 01:45 +0000"),
        ("2027-03-28T00:50Z", "01:45", "03-28 02:45 +0100"),
        ("2027-03-28T03:00Z", "01:45", "03-29 01:45 +0100"),
    ],
)
def test_a_time_of_day_is_the_next_one_also_in_the_hour_that_is_repeated(
    now: str, when: str, expected: str
) -> None:
    at = read_time(when, find_zone("Europe/Lisbon"), datetime.fromisoformat(now).timestamp())
    assert local([at.timestamp()], "Europe/Lisbon") == [expected]


@pytest.mark.parametrize("when", ["2026-12-24", "20261224", "2026-W52-4"])
def test_a_date_in_any_form_of_iso_is_its_morning(when: str) -> None:
    at = read_time(when, find_zone("Europe/Lisbon"), NOW)
    assert local([at.timestamp()], "Europe/Lisbon") == ["12-24 09:00 +0000"]


@pytest.mark.parametrize(
    "part",
    ["BYMONTHDAY=0", "BYYEARDAY=0", "BYWEEKNO=0", "BYSETPOS=0;BYDAY=MO", "BYMONTH=0", "BYMONTHDAY=1,0"],
)
def test_a_rule_with_a_number_that_no_calendar_has_is_refused(part: str) -> None:
    with pytest.raises(BadTime, match="not a recurrence"):
        read_repeats(f"FREQ=MONTHLY;{part}")


def test_an_hourly_reminder_counts_elapsed_hours() -> None:
    for start in ("2027-03-28T00:30:00", "2027-10-31T00:30:00"):
        found = dates(reminder(start, "Europe/Lisbon", "FREQ=HOURLY"), 0, 5)
        assert [later - earlier for earlier, later in pairwise(found)] == [3600.0] * 4


def test_after_an_outage_the_latest_missed_date_and_the_next_one_are_known() -> None:
    one = reminder(
        "2026-11-20T08:00:00", "UTC", "FREQ=DAILY", datetime(2026, 11, 20, 8, tzinfo=UTC).timestamp()
    )

    latest, following = missed_and_next(one, NOW)

    assert (latest, following) == (NOW - 16 * 3600, NOW + 8 * 3600)


def test_a_clock_that_jumps_ahead_by_many_years_ends_no_repetition() -> None:
    later = datetime(2040, 1, 1, tzinfo=UTC).timestamp()
    one = reminder("2026-11-20T08:00:00", "UTC", "FREQ=DAILY", NOW)

    assert missed_and_next(one, later)[1] == later + 8 * 3600


@pytest.mark.parametrize("rule", NEVER)
def test_the_search_for_a_date_that_never_comes_ends(rule: str) -> None:
    at = read_time("2026-11-24T08:30", find_zone("UTC"), NOW)
    with pytest.raises(BadTime, match="no date"):
        first_date(at, read_repeats(rule))
    times: list[float] = []
    for _ in range(5):
        begun = process_time()
        assert next_date(reminder("2026-11-24T08:30:00", "UTC", rule), NOW) is None
        times.append(process_time() - begun)
    assert min(times) < 0.05


@pytest.mark.parametrize(
    "rule", ["FREQ=MINUTELY", "FREQ=SECONDLY", "FREQ=DAILY;BYMINUTE=0,30", "FREQ=HOURLY;BYSECOND=0,30"]
)
def test_no_rule_is_finer_than_hourly(rule: str) -> None:
    with pytest.raises(BadTime):
        read_repeats(rule)


def test_the_end_of_a_rule_may_be_a_date_a_local_time_or_utc() -> None:
    for until, last in (("20270102", 3), ("20270102T000000", 2), ("20270102T040000Z", 2), ("20480229", 9)):
        rule = read_repeats(f"FREQ=DAILY;UNTIL={until}")
        assert len(dates(reminder("2026-12-31T09:00:00", "Asia/Tehran", rule), NOW, 9)) == last


@settings(max_examples=5 * settings().max_examples // 2)
@given(STARTS, st.sampled_from(ZONES), RULES)
def test_dates_are_an_hour_apart_and_do_not_depend_on_where_the_search_begins(
    start: datetime, zone: str, rule: str
) -> None:
    try:
        one = reminder(start.isoformat(), zone, read_repeats(rule))
    except BadTime:
        return
    found = dates(one, 0, 30)
    for earlier, later in pairwise(found):
        assert later - earlier >= 3600
        assert next_date(one, later - 1) == next_date(one, (earlier + later) / 2) == later


@settings(max_examples=2 * settings().max_examples)
@given(STARTS, RULES)
def test_without_clock_changes_the_dates_are_those_of_dateutil(start: datetime, rule: str) -> None:
    try:
        text = read_repeats(rule)
        expected = rrulestr(text, dtstart=start)
    except ValueError:
        return
    found = dates(reminder(start.isoformat(), "UTC", text), 0, 12)
    last = start + timedelta(days=365 * 7)
    wanted: list[float] = []
    for each in expected:
        if len(wanted) == len(found) or each > last:
            break
        wanted.append(each.replace(tzinfo=UTC).timestamp())
    assert found[: len(wanted)] == wanted


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(BadTime):
        read_repeats(text)
    with suppress(BadTime):
        find_zone(text)
    with suppress(BadTime):
        read_time(text, find_zone("Asia/Tehran"), NOW)


@given(
    st.text(max_size=60)
    | st.from_regex(r"(UTC|GMT|MSK|)\s?[+-]?\d{1,4}(:\d\d)?( [a-z]{0,9})?", fullmatch=True)
)
def test_any_text_for_a_zone_gives_zones_that_can_be_stored(text: str) -> None:
    reading = read_zone(text, NOW)
    for name in filter(None, [reading.zone, *reading.others]):
        assert find_zone(name).key == name
        assert len(f"timezone:{name}".encode()) <= 64


@given(st.integers(-12 * 4, 14 * 4))
def test_an_offset_is_read_as_it_is_stored(quarters: int) -> None:
    name = offset_name(quarters * 15)
    at = datetime.fromtimestamp(NOW, find_zone(name))
    assert read_zone(name, NOW).zone == name
    assert at.utcoffset() == timedelta(minutes=quarters * 15)


@pytest.mark.parametrize("text", ["", " ", "none", "None", "once", "null", "NULL", "no", "RRULE:"])
def test_what_models_write_for_once_is_once(text: str) -> None:
    assert read_repeats(text) == ""


@pytest.mark.parametrize(
    ("start", "rule", "day"),
    [
        ("2026-01-31T09:00", "FREQ=MONTHLY", 31),
        ("2026-01-30T09:00", "FREQ=MONTHLY", 30),
        ("2026-01-28T09:00", "FREQ=MONTHLY", 0),
        ("2026-01-01T09:00", "FREQ=MONTHLY;BYMONTHDAY=15,31", 31),
        ("2026-01-31T09:00", "FREQ=MONTHLY;BYMONTHDAY=-1", 0),
        ("2026-01-31T09:00", "FREQ=MONTHLY;BYDAY=1MO", 0),
        ("2026-01-31T09:00", "FREQ=DAILY", 0),
        ("2026-01-31T09:00", "FREQ=YEARLY", 0),
        ("2028-02-29T09:00", "FREQ=YEARLY", 29),
        ("2026-01-31T09:00", "", 0),
    ],
)
def test_a_day_that_some_months_lack_is_known(start: str, rule: str, day: int) -> None:
    assert skipped_day(datetime.fromisoformat(start).replace(tzinfo=UTC), rule) == day


def test_a_daily_reminder_keeps_its_time_in_a_fixed_offset() -> None:
    one = reminder("2026-03-27T08:30:00", "UTC-03:30", "FREQ=DAILY")
    moments = [next_date(one, datetime(2026, month, 1, tzinfo=UTC).timestamp()) or 0 for month in (4, 7, 12)]
    assert [each[-11:] for each in local(moments, "UTC-03:30")] == ["08:30 -0330"] * 3
