"""Reminders: their record and limits, times as people give them, and recurrence rules (RFC 5545)."""

import hashlib
import math
import re
from calendar import isleap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from memory.codec import Id
from memory.zones.clocks import BadTime, find_zone

LONGEST_TEXT = 1_000
"""Characters of a reminder's text."""
PER_PERSON = 50
"""Reminders of one person in a context."""
PER_CHAT = 200
"""Reminders of a context."""
HOUR_S = 3600.0
"""Shortest time between two dates of a reminder."""
FURTHEST = timedelta(days=5 * 366)
"""Longest time until the first date."""
HORIZON = 8
"""Years in which the next date is searched. A yearly 29 February is found."""
MOST = 1_000
"""Highest INTERVAL and COUNT of a rule."""

NAMED_RULES = {
    "hourly": "FREQ=HOURLY",
    "daily": "FREQ=DAILY",
    "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekly": "FREQ=WEEKLY",
    "monthly": "FREQ=MONTHLY",
    "yearly": "FREQ=YEARLY",
}
NOTHING = frozenset(["", "once", "none", "null", "no", "never", "false", "n/a", '""', "''"])
"""Words of models for an optional text that they leave out: UKGovernmentBEIS/inspect_ai#1477."""
_LIMITS = {"BYMONTH": 12, "BYMONTHDAY": 31, "BYYEARDAY": 366, "BYWEEKNO": 53, "BYSETPOS": 366, "BYHOUR": 23}
_HOURLY_PARTS = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYHOUR", "BYMINUTE"}
_PARTS = _HOURLY_PARTS | _LIMITS.keys()
_RULE = re.compile(r"[A-Z]+=[A-Z0-9,+-]+(;[A-Z]+=[A-Z0-9,+-]+)*")
_UNTIL = re.compile(r"\d{8}(T\d{6}Z?)?")
_MORNING = time(9)
_SPOKEN = re.compile(r"(?:in\s+)?(an?|\d{1,6})\s*(minute|hour|day|week)s?", re.IGNORECASE)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,6})W)?(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,6})S)?)?",
    re.IGNORECASE,
)
_LONGEST = 300
"""Characters of a time or a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPlace:
    """The place where a reminder is sent."""

    chat_id: int
    thread_id: int | None = None
    is_direct: bool = False
    """True in the direct messages of a channel, where `thread_id` is the topic of one person."""
    reply_to: int | None = None
    """The Telegram message that asked for it in the comments of a channel: only a reply is shown there."""
    chat_type: str
    language_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(ReminderPlace):
    """A text that is sent, or a task that the agent runs, at a time that a person has set."""

    id: str
    """Eight hex digits, unique in the context."""
    text: str
    runs_agent: bool = False
    """True if the text is a task for the agent. Otherwise it is sent as it is."""
    due_at: float
    """Unix seconds of the next date."""
    zone: str
    """IANA name of the time zone in which dates repeat."""
    starts_at: str
    """Local date and time of the first date in `zone`, in ISO format without an offset."""
    repeats: str = ""
    """Recurrence rule (RFC 5545) without its prefix; "" for a single date."""
    person_id: Id
    """The person who has set it. Rights and limits are theirs."""
    person_name: str
    created_at: float
    """Unix seconds."""
    message_ids: tuple[str, ...] = ()
    """The messages of the history that asked for it, and their answer. An erasure of one of them erases it too."""


def reminder_id(call_key: str) -> str:
    """Return the id of the reminder that this tool call sets. A repeated call gets the same id."""
    return hashlib.sha256(call_key.encode()).hexdigest()[:8]


def read_time(when: str, zone: ZoneInfo, now: float) -> datetime:
    """Return the time in `zone` that these words mean at `now` (Unix seconds), in whole seconds.

    It may be an ISO date-time (local, or with an offset), a date (its morning), HH:MM (the next one), an ISO duration,
    or "in 20 minutes". Its local time may not exist on that day; its timestamp is right then too. Raises BadTime for
    anything else, a time that has passed, and one after FURTHEST.
    """
    here = datetime.fromtimestamp(math.ceil(now), zone)
    is_now = f"It is now {here:%Y-%m-%d %H:%M} in {zone.key}."
    try:
        at = _parse_time(when.strip()[:_LONGEST], zone, here)
        moment = at.timestamp()
    except OverflowError:
        moment, at = math.inf, here
    except ValueError:
        raise BadTime(
            f"{when[:_LONGEST]!r} is not a time. Write 2026-11-24T18:30, 18:30, PT20M or in 20 minutes. {is_now}"
        ) from None
    if moment <= now:
        raise BadTime(f"{when[:_LONGEST]!r} has passed. {is_now}")
    if moment > now + FURTHEST.total_seconds():
        raise BadTime(f"{when[:_LONGEST]!r} is more than five years away. {is_now}")
    return at


def read_repeats(text: str) -> str:
    """Return the recurrence rule of a name ("weekdays") or a rule; "" for once. Raises BadTime otherwise."""
    rule = text.strip().removeprefix("RRULE:").strip().rstrip(";")
    if rule.casefold() in NOTHING:
        return ""
    rule = NAMED_RULES.get(rule.lower(), rule.upper())
    rule = rule.replace(";BYSECOND=0;", ";").removesuffix(";BYSECOND=0")
    try:
        _check_rule(rule)
        parts = _parts(rule)
        if "UNTIL" in parts:
            parts["UNTIL"] = _until(parts["UNTIL"], UTC)
        rrulestr(_join(parts), dtstart=datetime(2026, 1, 1))  # noqa: DTZ001
    except BadTime:
        raise
    except (ValueError, KeyError, TypeError, IndexError, OverflowError):
        raise _bad_rule(text) from None
    return rule


def first_date(at: datetime, repeats: str) -> float:
    """Return the first date of a new reminder, in Unix seconds. `at` comes from `read_time`.

    Raises BadTime for a rule without a date within HORIZON years.
    """
    if not repeats:
        return at.timestamp()
    zone = at.tzinfo or UTC
    found = next(_dates(at.replace(tzinfo=None), zone, repeats, at.timestamp() - 1), None)
    if found is None:
        raise BadTime(f"The rule {repeats} has no date in the next {HORIZON} years.")
    return found


def skipped_day(at: datetime, repeats: str) -> int:
    """Return the day of the month that some months do not have, so that the rule skips them; 0 if there is none.

    Such months have no date at all (RFC 5545, 3.3.10). A yearly 29 February is skipped in the same way.
    """
    parts = _parts(repeats) if repeats else {}
    days = [int(day) for day in parts.get("BYMONTHDAY", str(at.day)).split(",")]
    is_yearly = parts.get("FREQ") == "YEARLY" and (parts.get("BYMONTH") or at.month) in ("2", 2)
    is_monthly = parts.get("FREQ") == "MONTHLY" and not parts.keys() & {"BYDAY", "BYYEARDAY", "BYWEEKNO"}
    longest = max(days)
    return longest if longest > 28 and (is_monthly or (is_yearly and longest == 29)) else 0


def next_date(reminder: Reminder, after: float) -> float | None:
    """Return the first date of a repetition after this time, in Unix seconds; None if there is none in HORIZON years.

    A local time that does not exist moves forward by the gap; of two equal local times only the first one is a date.
    """
    return next(_dates_of(reminder, after), None)


def missed_and_next(reminder: Reminder, now: float) -> tuple[float, float | None]:
    """Return the latest date of a due reminder that has come, and its next date, which is after `now`."""
    latest = reminder.due_at
    for each in _dates_of(reminder, reminder.due_at):
        if each > now:
            return latest, each
        latest = each
    return latest, next_date(reminder, now)  # a clock may jump by more than HORIZON years


def _dates_of(reminder: Reminder, after: float) -> Iterator[float]:
    """Yield the dates of a reminder that repeats after a time. One that does not has no other date than `due_at`."""
    if reminder.repeats:
        start, zone = datetime.fromisoformat(reminder.starts_at), find_zone(reminder.zone)
        yield from _dates(start, zone, reminder.repeats, after)


def _dates(start: datetime, zone: tzinfo, repeats: str, after: float) -> Iterator[float]:
    """Yield the dates of a rule after a time. `start` is local and naive."""
    parts = _parts(repeats)
    is_hourly = parts["FREQ"] == "HOURLY"
    if is_hourly and not any(name.startswith("BY") for name in parts):  # elapsed hours, not those of a clock
        start, zone = _naive(start.replace(tzinfo=zone), UTC), UTC
    if "UNTIL" in parts:
        parts["UNTIL"] = _until(parts["UNTIL"], zone)
    begin = max(start, _naive(datetime.fromtimestamp(after, UTC), zone) - timedelta(days=2))
    if is_hourly and "COUNT" not in parts:  # spare the hours that have passed
        step = timedelta(hours=int(parts.get("INTERVAL", 1)))
        start += (begin - start) // step * step
    latest = -math.inf
    for local in _local_dates(start, parts, begin):
        moment = local.replace(tzinfo=zone).timestamp()
        if moment > after and moment >= latest + HOUR_S:
            yield moment
        latest = max(latest, moment)


def _local_dates(start: datetime, parts: dict[str, str], begin: datetime) -> Iterator[datetime]:
    """Yield the local dates of a rule from `begin`, for HORIZON years.

    dateutil searches until the year 9999, up to six seconds for a rule without any date. So the rule runs in the last
    years before it that have the same calendars.
    """
    last = begin.year + HORIZON
    years = _years_to_end(start.year, last)
    if until := parts.get("UNTIL", ""):
        del parts["UNTIL"]
        if int(until[:4]) <= last:
            parts["UNTIL"] = f"{int(until[:4]) + years}{until[4:]}"
    # An interval may never meet its hours, and no month has a ninth Monday.
    with suppress(ValueError, IndexError):
        rule = rrulestr(_join(parts), dtstart=start.replace(year=start.year + years))
        for local in rule.xafter(begin.replace(year=begin.year + years), inc=True):
            if local.year - years > last:
                return
            yield local.replace(year=local.year - years)


@cache
def _years_to_end(first: int, last: int) -> int:
    """Return the largest shift to years with the same calendars, from the year before `first` to the one after `last`.

    It is 0 if there is none.
    """
    calendars = [_calendar(year) for year in range(first - 1, last + 2)]
    for years in range(9998 - last, 0, -1):
        if all(_calendar(first - 1 + at + years) == each for at, each in enumerate(calendars)):
            return years
    return 0


def _calendar(year: int) -> tuple[int, bool]:
    return date(year, 1, 1).weekday(), isleap(year)


def _check_rule(rule: str) -> None:
    """Raise BadTime for a rule of more than one line, with unknown parts, or with dates closer than an hour."""
    if len(rule) > _LONGEST or not _RULE.fullmatch(rule):
        raise _bad_rule(rule)
    parts = _parts(rule)
    if parts.get("FREQ") in ("SECONDLY", "MINUTELY") or not parts.get("BYMINUTE", "0").isdecimal():
        raise BadTime(f"{rule} is too frequent: an hour is the shortest time between two dates.")
    known = _HOURLY_PARTS if parts.get("FREQ") == "HOURLY" else _PARTS
    if not parts.keys() <= known or "FREQ" not in parts or len(parts) != rule.count("="):
        raise _bad_rule(rule)
    for name, most in _LIMITS.items():
        numbers = [int(each) for each in parts.get(name, "").split(",") if each]
        least = {"BYHOUR": 0, "BYMONTH": 1}.get(name, -most)
        if any(not least <= each <= most or (each == 0 and least) for each in numbers):
            raise _bad_rule(rule)
    if int(parts.get("BYMINUTE", 0)) > 59 or not _UNTIL.fullmatch(parts.get("UNTIL", "20260101")):
        raise _bad_rule(rule)
    if not all(1 <= int(parts.get(name, 1)) <= MOST for name in ("INTERVAL", "COUNT")):
        raise BadTime(f"INTERVAL and COUNT of a rule are from 1 to {MOST:,}.")


def _bad_rule(text: str) -> BadTime:
    names = ", ".join(NAMED_RULES)
    return BadTime(
        f"{text[:_LONGEST]!r} is not a recurrence. Write {names} or a rule like FREQ=WEEKLY;BYDAY=MO."
    )


def _parts(rule: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in rule.split(";"))


def _join(parts: dict[str, str]) -> str:
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _until(text: str, zone: tzinfo) -> str:
    """Return the end of a rule on the clock of `zone`. A date ends with its day."""
    if "T" not in text:
        return f"{text}T235959"
    if not text.endswith("Z"):
        return text
    return f"{_naive(datetime.fromisoformat(text), zone):%Y%m%dT%H%M%S}"


def _naive(at: datetime, zone: tzinfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _parse_time(when: str, zone: ZoneInfo, here: datetime) -> datetime:
    """Return the time that the words mean. Raises ValueError and OverflowError."""
    if spoken := _SPOKEN.fullmatch(when):
        number = 1 if spoken[1][0] in "aA" else int(spoken[1])
        return _later(here, **{f"{spoken[2].lower()}s": number})
    duration = _DURATION.fullmatch(when)
    if duration and any(duration.groups()):
        return _later(here, **{name: int(number) for name, number in duration.groupdict("0").items()})
    if re.fullmatch(r"\d{1,2}:\d{2}", when):
        clock = datetime.strptime(when, "%H:%M").time()  # noqa: DTZ007
        days = (here.date() + timedelta(days=days) for days in range(2))
        twice = (datetime.combine(day, clock.replace(fold=fold), zone) for day in days for fold in range(2))
        return next(at for at in twice if at.timestamp() > here.timestamp())
    with suppress(ValueError):  # also 20261224 and 2026-W52-4
        return datetime.combine(date.fromisoformat(when), _MORNING, zone)
    at = datetime.fromisoformat(when).replace(microsecond=0)
    return at.replace(tzinfo=zone) if at.tzinfo is None else at.astimezone(zone)


def _later(here: datetime, *, weeks: int = 0, days: int = 0, **elapsed: int) -> datetime:
    """Return a time that is later by days on the clock and then by elapsed hours, minutes and seconds."""
    day = here + timedelta(weeks=weeks, days=days)
    return (day.astimezone(UTC) + timedelta(**elapsed)).astimezone(here.tzinfo)
