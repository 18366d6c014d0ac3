"""Stretches of calendar time, in UTC, as Unix seconds."""

import calendar
from datetime import date, timedelta

from memory.recall.lexicon.analysis import DateSpan
from memory.recall.lexicon.time_words import DAY, MONTH, WEEK, WEEKEND, YEAR

_FIRST_MONTH = (3, 6, 9, 12)
"""Of spring, summer, autumn and winter."""


def span(start: date, end: date) -> DateSpan:
    """From midnight of the first day to midnight of the day `end`, which is not in it."""
    return DateSpan(start=calendar.timegm(start.timetuple()), end=calendar.timegm(end.timetuple()))


def day_span(day: date) -> DateSpan:
    """That day."""
    return span(day, day + timedelta(days=1))


def month_span(year: int, month: int, months: int = 1) -> DateSpan:
    """So many months from this one; months before 1 and after 12 are those of other years."""
    return span(_first_of(year, month), _first_of(year, month + months))


def year_span(year: int) -> DateSpan:
    """That year."""
    return month_span(year, 1, 12)


def season_span(year: int, season: int) -> DateSpan:
    """The northern season that begins in that year: 0 is spring, 3 the winter from December on."""
    return month_span(year, _FIRST_MONTH[season], 3)


def last_month(month: int, today: date, *, whole: bool) -> DateSpan:
    """The last such month that has begun; that has ended, where `whole`."""
    return month_span(today.year - (month >= today.month if whole else month > today.month), month)


def last_season(season: int, today: date, *, whole: bool) -> DateSpan:
    """The last such season that has begun; that has ended, where `whole`."""
    now = calendar.timegm(today.timetuple())
    years = (today.year, today.year - 1, today.year - 2)
    spans = [season_span(year, season) for year in years]
    return next(each for each in spans if (each.end if whole else each.start) <= now)


def last_weekday(weekday: int, today: date) -> DateSpan:
    """The last such day (0 is Monday) before today."""
    return day_span(today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1))


def last_date(month: int, day: int, today: date) -> DateSpan | None:
    """The last such date not after today; None for one that no year has."""
    for year in range(today.year, today.year - 9, -1):
        found = date_span(year, month, day)
        if found and date(year, month, day) <= today:
            return found
    return None


def date_span(year: int, month: int, day: int) -> DateSpan | None:
    """That day; None if there is none such."""
    try:
        return day_span(date(year, month, day))
    except (ValueError, OverflowError):
        return None


def unit_span(unit: int, back: int, today: date) -> DateSpan:
    """The day, calendar week (from Monday), weekend, month or year so many of them before the present one."""
    monday = today - timedelta(days=today.weekday() + 7 * back)
    if unit == WEEK:
        return span(monday, monday + timedelta(days=7))
    if unit == WEEKEND:
        return span(monday + timedelta(days=5), monday + timedelta(days=7))
    if unit == MONTH:
        return month_span(today.year, today.month - back)
    if unit == YEAR:
        return year_span(today.year - back)
    return day_span(today - timedelta(days=back))


def ago_span(unit: int, count: int, today: date) -> DateSpan:
    """Around so many units before today: the day, half a week on either side, the month, the year."""
    if unit == WEEK:
        day = today - timedelta(days=7 * count)
        return span(day - timedelta(days=3), day + timedelta(days=4))
    return unit_span(unit, count, today)


def since_span(unit: int, count: int, today: date) -> DateSpan:
    """The last so many units up to the end of today."""
    days = count * {DAY: 1, WEEK: 7, WEEKEND: 7, MONTH: 31, YEAR: 366}.get(unit, 1)
    return span(today - timedelta(days=days), today + timedelta(days=1))


def _first_of(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
