"""Reminders in plain words: the arguments of `set_reminder` for "tomorrow at nine", "in 20 minutes", "every Monday"."""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from babel import Locale

from simulator.offline_model.words import Language, languages, unaccented

_UNITS = ("minutes", "hours", "days", "weeks")
_MINUTES = (1, 60, 1_440, 10_080)
_CUT = "\0"
"""Stands where a time was taken from the text."""
_RULES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MORNING, _EVENING, _NOON = 9, 19, 12
_IN_MARKS = re.compile(r"^[\"'“„«‘](.+)[\"'”“»’]$")  # noqa: RUF001
_NOW = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A reminder that somebody asks for. `lacks` is "time", or "now": the present time, to count days from."""

    language: Language
    when: str = ""
    text: str = ""
    repeats: str = ""
    lacks: Literal["", "time", "now"] = ""
    has_hour: bool = True
    """False if `when` has the usual hour of a day."""


def read_reminder(line: str, *, now: str = "") -> Wanted | None:
    """Return the reminder that a line asks for, or None. `now` has the present date and time, as 2026-11-27 02:23."""
    for language in languages():
        asked = language.search("remind", line)
        if asked and not language.search("reminders", line):
            return _read(f"{line[: asked.start()]} {line[asked.end() :]}", language, now)
    return None


def is_soon(line: str, language: Language) -> bool:
    """Return True if the line has a time that comes soon: "tomorrow", "in 20 minutes"."""
    days = "|".join(_names(language, "day")[1:])
    delay, _ = _take_delay(with_digits(line, language), language, _numbers(language))
    return bool(delay or _take(days, line)[0])


def moved_reminder(
    rest: str, language: Language, now: str, *, date: str, time: str, rule: str
) -> Wanted | None:
    """Return the new time of a reminder that has this date, time and rule; None if the text does not tell it plainly.

    The old hour or date stays if only the other one changes.
    """
    if language.has("to"):  # "move it to ten"
        hours = "|".join([r"\d", *_numbers(language)])
        rest = re.sub(rf"\b(?:{language.text('to')}) (?={hours})", language.text("at").split("|")[0], rest)
    wanted = _read(rest, language, now)
    wanted = _read(_with_hour(rest, language), language, now) if wanted.lacks == "time" else wanted
    if wanted.lacks:
        return wanted if wanted.lacks == "now" else None
    if "T" in wanted.when:
        when = wanted.when if wanted.has_hour else f"{wanted.when[:11]}{time}"
        return None if rule else replace(wanted, when=when)
    if _take(language.text("day"), rest)[0]:
        return None
    is_same_day = not (rule or wanted.repeats or wanted.when.startswith("in "))
    when = f"{date}T{wanted.when}" if is_same_day else wanted.when
    return replace(wanted, when=when, repeats=wanted.repeats or rule)


def moved_request(line: str, change: str) -> str:
    """Return the request for a reminder with the hour and the day of a change; "" if the change has none of them."""
    language = next(each for each in languages() if each.search("remind", line))
    new, moved = _with_hour(with_digits(change, language), language), with_digits(line, language)
    for pattern in (_hour_pattern(language.text("at"), "|".join(_numbers(language))), _day_pattern(language)):
        time, (old, rest) = _take(pattern, new)[0], _take(pattern, moved)
        moved = rest.replace(_CUT, time[0]) if time and old else moved
    return moved if moved != with_digits(line, language) else ""


def _with_hour(text: str, language: Language) -> str:
    """Return the text with "at 9" for "9" at its end."""
    hours, at = "|".join([r"\d\d?", *_numbers(language)]), language.text("at_time").partition("{")[0]
    return re.sub(rf"(?<![\w:.])(?<!\b{at})(?=(?:{hours})\W*$)", at, text, flags=re.IGNORECASE)


def _read(rest: str, language: Language, now: str) -> Wanted:
    text = language.text
    numbers = _numbers(language)
    rest = with_digits(rest, language)
    when, rest = _take_delay(rest, language, numbers)
    if when:
        lacks = "time" if _has_time_left(rest, language) else ""
        return Wanted(language=language, when=when, text=_clean(rest, language), lacks=lacks)
    days, spoken = weekdays(language), "|".join(numbers)
    work, rest = _take(text("workdays"), rest)
    monthly, rest = _take(text("monthly"), rest)
    every, rest = _take(
        rf"(?:{text('every')}) (?:(?P<daily>{text('daily')})|(?P<weekday>{'|'.join(days)}))", rest
    )
    date, rest = _take(_date_pattern(language), rest)
    day, rest = (None, rest) if date else _take(_day_pattern(language), rest)
    of_month = None
    if not (date or day) and language.has("day_of_month"):
        of_month, rest = _take(text("day_of_month"), rest)
    hour, rest = _take(_hour_pattern(text("at"), spoken), rest)
    late, rest = _take(text("late"), rest)
    early, rest = _take(text("early"), rest)
    place = _place(day["name"], _names(language, "day")) if day else 0
    is_late = bool(late) or place == 1 or bool(hour and (hour["part"] or "").lower() == "pm")
    wanted = Wanted(
        language=language,
        when=_clock(hour, numbers, is_late=is_late),
        text=_clean(rest, language),
        has_hour=bool(hour or late or early),
    )
    # Words that look like a time and are not understood: rather ask than be wrong.
    has_time = work or every or date or day or of_month or hour or late or early
    if _has_time_left(rest, language) or not has_time or (monthly and not of_month):
        return replace(wanted, lacks="time")
    if work or every:
        weekday = every["weekday"] if every else ""
        rule = f"FREQ=WEEKLY;BYDAY={_RULES[_place(weekday, days)]}" if weekday else "daily"
        return replace(wanted, repeats="weekdays" if work else rule)
    wanted = replace(wanted, repeats="monthly" if monthly else "")
    if not (date or of_month or (day and place not in (0, 1))):
        return wanted
    return _dated(wanted, date=date, of_month=of_month, day=day["name"] if day else "", now=now)


def _dated(
    wanted: Wanted, *, date: re.Match[str] | None, of_month: re.Match[str] | None, day: str, now: str
) -> Wanted:
    """Return the reminder on its day: a date, a day of the month, or a day by its name."""
    language, found = wanted.language, _NOW.search(now)
    if not found:
        return replace(wanted, lacks="now")
    if of_month:
        when = _next_of_month(int(of_month["number"]), wanted.when, "T".join(found.groups()))
        return replace(wanted, when=when, lacks="" if when else "time")
    today = datetime.fromisoformat(found[1])
    if date:
        return replace(wanted, when=f"{_day_of_year(date, language, today):%Y-%m-%d}T{wanted.when}")
    place, weekday = _place(day, _names(language, "day")), _place(day, weekdays(language))
    ahead = place - 1 if place > 1 else (weekday - today.weekday() - 1) % 7 + 1
    return replace(wanted, when=f"{today + timedelta(days=ahead):%Y-%m-%d}T{wanted.when}")


def _next_of_month(number: int, clock: str, now: str) -> str:
    """Return the next moment of this day of a month and this time, "" if there is no such day."""
    days = (datetime.fromisoformat(now) + timedelta(days=ahead) for ahead in range(63))
    return next((when for day in days if day.day == number and (when := f"{day:%Y-%m-%d}T{clock}") > now), "")


def _day_pattern(language: Language) -> str:
    named = sorted(_names(language, "day"), key=len, reverse=True)
    days = "|".join([*named, *weekdays(language)])
    return rf"(?:{language.text('on')})?(?P<name>{days})(?:{language.text('next')})?"


def _hour_pattern(at: str, spoken: str) -> str:
    return (
        rf"(?:{at})?(?P<hour>\d{{1,2}})[:.h](?P<minute>\d\d)(?!\d)(?: ?h)?"
        rf"|(?:{at})(?P<plain>\d{{1,2}}|{spoken})(?: ?h(?:r?s)?)?(?![\w:])"
        rf"|(?:{at})?(?P<bare>\d{{1,2}}) ?(?P<part>am|pm|uhr)"
    )


def _take_delay(rest: str, language: Language, numbers: dict[str, int]) -> tuple[str, str]:
    """Return a delay ("in 20 minutes") and the text without it; "" if there is none."""
    for part in _names(language, "delays"):
        pattern, _, minutes = part.rpartition("=")
        found, rest = _take(pattern, rest)
        if found:
            return f"in {minutes} minutes", rest
    more = rf"(?:{language.text('more')})"
    amount = rf"(?:{_amount(language, numbers)})(?P<half>{more}|[.,]5)?"
    unit = rf"(?P<unit>{language.text('unit')})(?P<more>{more})?"
    soon = language.text("soon").replace("{amount}", amount).replace("{unit}", unit)
    later, rest = _take(soon, rest)
    if later is None:
        return "", rest
    place, value = _place(later["unit"], _names(language, "unit")), _value(later["amount"], numbers)
    if later["half"] or later["more"]:
        return f"in {(2 * value + 1) * _MINUTES[place] // 2} minutes", rest
    return f"in {value} {_UNITS[place]}", rest


def _amount(language: Language, numbers: dict[str, int]) -> str:
    return rf"(?P<amount>\d{{1,4}}|{'|'.join(numbers)}|{_names(language, 'number')[0]})"


def month_names(language: Language) -> list[str]:
    """Return the names of the months, January first."""
    names = Locale.parse(language.text("locale")).months["format"]["wide"]
    return [unaccented(names[number].casefold()) for number in range(1, 13)]


def _date_pattern(language: Language) -> str:
    months = "|".join(month_names(language))
    start = rf"(?:{language.text('on')})?(?:the |el |den |am |em |d[ií]a )?"
    return (
        rf"{start}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|º)?(?: of| de)? (?P<month>{months})"
        rf"|{start}(?P<month2>{months}) (?:the )?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?"
        rf"|(?:{language.text('digits')})"
    )


def _day_of_year(date: re.Match[str], language: Language, today: datetime) -> datetime:
    """Return the next such day; the last of the month for one that the month lacks."""
    named = date["month"] or date["month2"]
    month = month_names(language).index(named.casefold()) + 1 if named else int(date["month3"])
    day = max(int(date["day"] or date["day2"] or date["day3"]), 1)
    days = (today + timedelta(days=ahead) for ahead in range(367))
    last = {year: calendar.monthrange(year, month)[1] for year in (today.year, today.year + 1)}
    return next(each for each in days if (each.month, each.day) == (month, min(day, last[each.year])))


def _has_time_left(rest: str, language: Language) -> bool:
    """Return True if a part of a time is left, at the beginning or behind the time that was taken.

    Such parts are "by the 3rd", "at noonish", "every other week", "at noonish", "and a half", "and 20 minutes".
    """
    text, unit = language.text, language.text("unit")
    part = (
        rf"(?:{text('every')}) |(?:{text('at')})?\d|(?:{text('at')})\w+\W*$"
        rf"|(?:{text('soon').partition('{')[0]})?{_amount(language, _numbers(language))} (?:{unit})\b"
        rf"|(?:{text('more')})|h\b|uhr\b"
    )
    bare, left = _clean(rest, language), rf"\W*(?:{text('left')})(?!\w)"
    begins = any(_begins(left, each) for each in (rest.replace(_CUT, " "), bare))
    pieces = [bare, *(f" {each.strip(' ,')}" for each in rest.split(_CUT)[1:])]
    return begins or any(_begins(rf" ?(?:(?:{text('plus')}) )?(?:{part})", each) for each in pieces)


def _begins(pattern: str, text: str) -> bool:
    return re.match(unaccented(pattern), unaccented(text), re.IGNORECASE) is not None


def _take(pattern: str, text: str) -> tuple[re.Match[str] | None, str]:
    """Return the first match as whole words, and the text without it."""
    found = re.search(rf"(?<!\w)(?:{unaccented(pattern)})(?!\w)", unaccented(text), re.IGNORECASE)
    return found, f"{text[: found.start()]} {_CUT} {text[found.end() :]}" if found else text


def _clean(rest: str, language: Language) -> str:
    words = " ".join(rest.replace(_CUT, " ").split()).strip(" ,.;:!?—-؟،")
    if tail := language.text("tail"):
        words = re.sub(rf"(?:^|[\s,]+)(?:{tail})$", "", words, flags=re.IGNORECASE)
    words = re.sub(rf"^(?:{language.text('link')})(?:\s+|$)", "", words, flags=re.IGNORECASE).strip(" ,")
    return _IN_MARKS.sub(r"\1", words)


def _numbers(language: Language) -> dict[str, int]:
    lists = (_names(language, "number")[1], unaccented(language.text("ordinal")))
    return {word: number for words in lists for number, word in enumerate(words.split(), 1)}


def with_digits(said: str, language: Language) -> str:
    """Return the text with digits for "half past seven" and "at noon"."""
    numbers = _numbers(language)
    for part in language.text("halves").split("|"):
        pattern, _, minutes = part.rpartition("=")

        def digits(found: re.Match[str], minutes: str = minutes) -> str:
            told = unaccented(found[1]).casefold()
            hour = _value(told, numbers) if told in numbers or re.fullmatch(r"\d{1,2}", told) else 0
            total = (hour * 60 + int(minutes)) % 1_440
            return f"{total // 60}:{total % 60:02}" if hour else found[0]

        said = re.sub(pattern, digits, said, flags=re.IGNORECASE)
    for key, clock in (("noon", "12:00"), ("midnight", "0:00")):
        said = re.sub(rf"(?<!\w)(?:{language.text(key)})(?!\w)", clock, said, flags=re.IGNORECASE)
    return said


def _value(said: str, numbers: dict[str, int]) -> int:
    """Return the number that is said in digits or as a word; 1 for an article."""
    place = _place(said, [*numbers])
    return int(said) if said.isdecimal() else [*numbers.values(), 1][place]


def _names(language: Language, key: str) -> list[str]:
    """Return the patterns of a list with one for each thing."""
    return re.split(r"\|(?![^(]*\))", unaccented(language.text(key)))


def _place(said: str, names: Sequence[str]) -> int:
    """Return the place of the pattern that fits, -1 if none does."""
    return next((at for at, name in enumerate(names) if re.fullmatch(name, said, re.IGNORECASE)), -1)


def weekdays(language: Language) -> list[str]:
    """Return patterns of the weekdays, Monday first. Endings vary: "montags", "каждую среду"."""
    names = Locale.parse(language.text("locale")).days["format"]["wide"]
    words = [unaccented(names[at]).removesuffix("-feira").replace("\u200c", "\u200c?") for at in range(7)]
    return words if language.name == "persian" else [rf"{each[:-1]}\w{{0,3}}(?:-feira)?" for each in words]


def _clock(hour: re.Match[str] | None, numbers: dict[str, int], *, is_late: bool) -> str:
    if hour is None:
        return f"{_EVENING if is_late else _MORNING:02}:00"
    said = hour["hour"] or hour["plain"] or hour["bare"]
    found = _value(said, numbers)
    found += _NOON if is_late and 0 < found < _NOON else 0
    return f"{min(found, 23):02}:{hour['minute'] or '00'}"
