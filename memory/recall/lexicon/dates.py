"""The stretches of time that a question names, in ten languages.

English, Spanish, Russian, German, Portuguese, Persian, French and Italian are read word by word: each word as a letter
for its kind (time_words.py), so that a sentence becomes a string such as "PDMD" for "on 8 May 2023", and patterns over
these letters find the dates of all of them. Chinese and Japanese are read as they stand (chinese_dates.py).
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from memory.recall.lexicon.analysis import DateSpan
from memory.recall.lexicon.chinese_dates import CHINESE_DATE, chinese_dates
from memory.recall.lexicon.spans import (
    ago_span,
    date_span,
    last_date,
    last_month,
    last_season,
    last_weekday,
    month_span,
    season_span,
    since_span,
    unit_span,
    year_span,
)
from memory.recall.lexicon.time_words import DAY, YEAR, YEARS, Meaning, time_meanings

_ISO = r"(?<![\d.-])(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?:(?P=s)(?P<d>\d{1,2}))?(?![\d-]|[./]\d)"
_SLASHED = (
    r"(?<![\d./-])(?P<d1>\d{1,2})(?P<s1>[-/.])(?P<d2>\d{1,2})(?P=s1)(?P<y1>\d{4}|\d{2})(?![\d/-]|[.]\d)"
)
_NUMERIC = re.compile(f"{_ISO}|{_SLASHED}")

_PATTERNS = re.compile(
    "(?P<not_past>N[DI]?[UMmWwSs])"
    "|(?P<day_month>DP?[Mma](?:P?D)?)"
    "|(?P<month_day>[Mma]D(?:P?D)?)"
    "|(?P<of_year>(?:[MSs]|Pm)P?(?:LU|UL|Z))"
    "|(?P<last_month>L[MmSs]|[MmSs]L)"
    "|(?P<dated_season>[Ss]P?D)"
    "|(?P<month>(?:[MS]|P[ms]|Ts)(?!P?D))"
    "|(?P<ago>[DI]+P?U[AL]|B[DI]+P?U)"
    "|(?P<last_units>L[DI]+P?U)"
    "|(?P<unit>LU|UL|UA|TU|UT)"
    "|(?P<weekday>L?[W]L?|[PL]w|wL)"
    "|(?P<day>Y)|(?P<year_word>Z)|(?P<year>D)"
)
_DAYS_OF_A_MONTH, _MONTHS_OF_A_YEAR, _LONGEST_AGO = 31, 12, 400
_TEXT_LIMIT = 4_000
"""Characters of a question in which dates are looked for."""


def named_dates(text: str, *, now: float) -> tuple[DateSpan, ...]:
    """The stretches of time that a normal text names, each once, as they stand; relative ones count from `now` (UTC).

    Of days without a year the last not after now is meant; of 8/5/2023 both readings. What no calendar has names
    nothing, and so does everything where `now` is no time.
    """
    try:
        today = datetime.fromtimestamp(now, UTC).date()
        found = [*_numeric(text[:_TEXT_LIMIT]), *_worded(_NUMERIC.sub(" ", text[:_TEXT_LIMIT]), today)]
    except (ValueError, OverflowError, OSError):
        return ()
    return tuple(dict.fromkeys(found))


def _numeric(text: str) -> Iterator[DateSpan]:
    for match in _NUMERIC.finditer(text):
        told = match.groupdict()
        if told["y"]:
            year, month = int(told["y"]), int(told["m"])
            if told["d"]:
                spans = [date_span(year, month, int(told["d"]))]
            else:
                is_month = told["s"] != "." and 1 <= month <= _MONTHS_OF_A_YEAR and year in YEARS
                spans = [month_span(year, month) if is_month else None]
        else:
            first, second, year = int(told["d1"]), int(told["d2"]), int(told["y1"])
            year += 2000 if len(told["y1"]) == 2 else 0
            spans = [date_span(year, second, first)]
            if told["s1"] != ".":
                spans.append(date_span(year, first, second))
        yield from (each for each in spans if each)


def _worded(text: str, today: date) -> Iterator[DateSpan]:
    if not text.isascii():
        yield from chinese_dates(text, today)
        text = CHINESE_DATE.sub(" ", text)
    meanings = time_meanings(text)
    for match in _PATTERNS.finditer("".join(kind for kind, _ in meanings)):
        found = _READERS[match.lastgroup or ""](meanings[match.start() : match.end()], today)
        yield from (each for each in found if each)


_Spans = list[DateSpan | None]


def _value(told: list[Meaning], kinds: str, otherwise: int = -1) -> int:
    """The value of the first word of these kinds."""
    return next((value for kind, value in told if kind in kinds), otherwise)


def _not_past(_: list[Meaning], __: date) -> _Spans:
    return []


def _day_and_month(told: list[Meaning], today: date) -> _Spans:
    """ "8 May", "May 8, 2023", and "May 2023"."""
    month = _value(told, "Mma")
    day, *years = [value for kind, value in told if kind == "D"]
    if not years:
        if day in YEARS and told[0][0] != "D":
            return [month_span(day, month)]
        return [
            last_date(month, day, today) if day <= _DAYS_OF_A_MONTH else last_month(month, today, whole=False)
        ]
    return [date_span(years[0], month, day) if years[0] in YEARS else last_date(month, day, today)]


def _of_last_year(told: list[Meaning], today: date) -> _Spans:
    """ "In May last year"; with another unit than a year only the month or season counts."""
    year = today.year + _value(told, "Z") if "Z" in {kind for kind, _ in told} else today.year - 1
    if _value(told, "U", YEAR) != YEAR:
        return _month_or_season(told, today)
    if told_month := _value(told, "Mm", 0):
        return [month_span(year, told_month)]
    return [season_span(year, _value(told, "Ss"))]


def _last_of_its_name(told: list[Meaning], today: date) -> _Spans:
    month = _value(told, "Mm", 0)
    return [
        last_month(month, today, whole=True) if month else last_season(_value(told, "Ss"), today, whole=True)
    ]


def _dated_season(told: list[Meaning], _: date) -> _Spans:
    season, year = _value(told, "Ss"), _value(told, "D")
    return [season_span(year, season)] if year in YEARS else []


def _month_or_season(told: list[Meaning], today: date) -> _Spans:
    month = _value(told, "Mm", 0)
    return [
        last_month(month, today, whole=False)
        if month
        else last_season(_value(told, "Ss"), today, whole=False)
    ]


def _ago(told: list[Meaning], today: date) -> _Spans:
    count = [value for kind, value in told if kind in "DI"][-1]
    return [ago_span(_value(told, "U"), count, today)] if 0 < count <= _LONGEST_AGO else []


def _last_units(told: list[Meaning], today: date) -> _Spans:
    count = [value for kind, value in told if kind in "DI"][-1]
    return [since_span(_value(told, "U"), count, today)] if 0 < count <= _LONGEST_AGO else []


def _unit(told: list[Meaning], today: date) -> _Spans:
    return [unit_span(_value(told, "U"), 0 if "T" in {kind for kind, _ in told} else 1, today)]


def _weekday(told: list[Meaning], today: date) -> _Spans:
    return [last_weekday(_value(told, "Ww"), today)]


def _day(told: list[Meaning], today: date) -> _Spans:
    return [unit_span(DAY, -told[0][1], today)]


def _year_word(told: list[Meaning], today: date) -> _Spans:
    return [unit_span(YEAR, -told[0][1], today)]


def _year(told: list[Meaning], _: date) -> _Spans:
    return [year_span(told[0][1]) if told[0][1] in YEARS else None]


_READERS = {
    "not_past": _not_past,
    "day_month": _day_and_month,
    "month_day": _day_and_month,
    "of_year": _of_last_year,
    "last_month": _last_of_its_name,
    "dated_season": _dated_season,
    "month": _month_or_season,
    "ago": _ago,
    "last_units": _last_units,
    "unit": _unit,
    "weekday": _weekday,
    "day": _day,
    "year_word": _year_word,
    "year": _year,
}
