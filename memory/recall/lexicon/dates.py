"""Periods of time that a question names, in ten languages.

English, Spanish, Russian, German, Portuguese, Persian, French and Italian are read word by word. Each word becomes a
letter for its kind (words/time_words.toml), so that "on 8 May 2023" becomes "PDMD". Patterns over these letters find
the dates of all eight languages. Chinese and Japanese have no spaces; one regular expression finds their dates.
"""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache

from memory.recall.lexicon.analysis import DateSpan
from memory.recall.lexicon.languages import MARKS, load_words, unaccented

HOUR, DAY, WEEK, MONTH, YEAR, WEEKEND = range(6)
SINCE = 1
YEARS = range(1900, 2101)
"""Numbers that count as years."""
Meaning = tuple[str, int]
"""Kind of a word (a letter, see words/time_words.toml) and its value."""
_FIRST_VALUES = {"M": 1, "a": 1, "I": 1}
"""Value of the first line of a table; 0 for all others."""
_TEXT_LIMIT = 4_000
"""Characters of a question that are searched for dates."""


def find_dates(text: str, *, now: float) -> tuple[DateSpan, ...]:
    """Return the periods that a normal text names, each once and in order. Relative ones count from `now` (UTC).

    A day without a year is the last such day up to now. 8/5/2023 gives both readings. Impossible dates give nothing,
    and neither does an impossible `now`.
    """
    try:
        today = datetime.fromtimestamp(now, UTC).date()
        spans = [
            *_numeric_dates(text[:_TEXT_LIMIT]),
            *_word_dates(_NUMERIC.sub(" ", text[:_TEXT_LIMIT]), today),
        ]
    except (ValueError, OverflowError, OSError):
        return ()
    return tuple(dict.fromkeys(spans))


def has_chinese_time(text: str) -> bool:
    """Return True if a normal text names a time in Chinese or Japanese, past or future."""
    return not text.isascii() and (CHINESE_DATE.search(text) or _OTHER_TIMES.search(text)) is not None


@cache
def time_words() -> dict[str, Meaning]:
    """Return the kind (a letter) and value of each word, casefolded and without accents."""
    lists = load_words("time_words")
    words: dict[str, Meaning] = {}
    for kind, table in lists["by_line"].items():
        for value, line in enumerate(table.strip().split("\n"), _FIRST_VALUES.get(kind, 0)):
            words |= dict.fromkeys(line.split(), (kind, value))
    for meaning, others in lists["by_value"].items():
        kind, value = meaning.split()
        words |= dict.fromkeys(others.split(), (kind, int(value)))
    return {unaccented(word): meaning for word, meaning in words.items()}


@cache
def date_words() -> frozenset[str]:
    """Return the words and digits of which a date has at least one, without accents."""
    words = {word for word, (kind, _) in time_words().items() if kind in "MmaWwSsUYZ"}
    return frozenset(words | set("0123456789"))


def time_meanings(text: str) -> list[Meaning]:
    """Return the meaning of each word of a normal text, in order: "x" for no time, "D" and its value for a number."""
    for pattern, word in _TIME_PHRASES:
        text = pattern.sub(word, text)
    lexicon = time_words()
    meanings: list[Meaning] = []
    for word in _TIME_WORD.findall(text):
        if word.isdecimal():
            meanings.append(("D", int(word)))
        else:
            meanings.append(lexicon.get(unaccented(word.casefold()), ("x", 0)))
    return [meaning for meaning in meanings if meaning[0] != "X"]


_TIME_WORD = re.compile(rf"\d{{1,4}}(?!\d)|[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_TIME_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\bday before yesterday\b", "ereyesterday"),
        (r"\bfin de semana\b|\bfim de semana\b|\bfine settimana\b|\bweek-end\b|آخر هفته", "weekend"),
        (r"\b(segunda|ter[cç]a|quarta|quinta|sexta)[- ]feira\b", r"\1feira"),
        (r"\bil y a\b", "ilya"),
        (r"\b(یک|دو|سه|چهار|پنج) شنبه", r"\1شنبه"),
    )
)
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
    "|(?P<ago>[DI]{1,4}P?U[AL]|B[DI]{1,4}P?U)"
    "|(?P<last_units>L[DI]{1,4}P?U)"
    "|(?P<unit>LU|UL|UA|TU|UT)"
    "|(?P<weekday>L?[W]L?|[PL]w|wL)"
    "|(?P<day>Y)|(?P<year_word>Z)|(?P<year>D)"
)
_DAYS_OF_A_MONTH, _MONTHS_OF_A_YEAR, _LONGEST_AGO = 31, 12, 400


def _numeric_dates(text: str) -> Iterator[DateSpan]:
    for match in _NUMERIC.finditer(text):
        groups = match.groupdict()
        if groups["y"]:
            year, month = int(groups["y"]), int(groups["m"])
            if groups["d"]:
                spans = [date_span(year, month, int(groups["d"]))]
            else:
                is_month = groups["s"] != "." and 1 <= month <= _MONTHS_OF_A_YEAR and year in YEARS
                spans = [month_span(year, month) if is_month else None]
        else:
            first, second, year = int(groups["d1"]), int(groups["d2"]), int(groups["y1"])
            year += 2000 if len(groups["y1"]) == 2 else 0
            spans = [date_span(year, second, first)]
            if groups["s1"] != ".":
                spans.append(date_span(year, first, second))
        yield from (each for each in spans if each)


def _word_dates(text: str, today: date) -> Iterator[DateSpan]:
    if not text.isascii():
        yield from chinese_dates(text, today)
        text = CHINESE_DATE.sub(" ", text)
    meanings = time_meanings(text)
    for match in _PATTERNS.finditer("".join(kind for kind, _ in meanings)):
        if span := _READERS[match.lastgroup or ""](meanings[match.start() : match.end()], today):
            yield span


def _first_value(words: list[Meaning], kinds: str, default: int = -1) -> int:
    """Return the value of the first word of these kinds."""
    return next((value for kind, value in words if kind in kinds), default)


def _day_and_month(words: list[Meaning], today: date) -> DateSpan | None:
    """Read "8 May", "May 8, 2023" and "May 2023"."""
    month = _first_value(words, "Mma")
    day, *years = [value for kind, value in words if kind == "D"]
    if years and years[0] in YEARS:
        return date_span(years[0], month, day)
    if not years and day in YEARS and words[0][0] != "D":
        return month_span(day, month)
    if years or day <= _DAYS_OF_A_MONTH:
        return last_date(month, day, today)
    return last_month(month, today, is_over=False)


def _in_last_year(words: list[Meaning], today: date) -> DateSpan | None:
    """Read "in May last year". With another unit than a year only the month or season counts."""
    if _first_value(words, "U", YEAR) != YEAR:
        return _month_or_season(words, today)
    year = today.year + _first_value(words, "Z")
    if month := _first_value(words, "Mm", 0):
        return month_span(year, month)
    return season_span(year, _first_value(words, "Ss"))


def _month_or_season(words: list[Meaning], today: date, *, is_over: bool = False) -> DateSpan:
    month = _first_value(words, "Mm", 0)
    if month:
        return last_month(month, today, is_over=is_over)
    return last_season(_first_value(words, "Ss"), today, is_over=is_over)


def _dated_season(words: list[Meaning], _: date) -> DateSpan | None:
    season, year = _first_value(words, "Ss"), _first_value(words, "D")
    return season_span(year, season) if year in YEARS else None


def _units(
    words: list[Meaning], today: date, span_of: Callable[[int, int, date], DateSpan]
) -> DateSpan | None:
    """Read a number of units, such as "three days ago"."""
    count = [value for kind, value in words if kind in "DI"][-1]
    return span_of(_first_value(words, "U"), count, today) if 0 < count <= _LONGEST_AGO else None


_READERS: dict[str, Callable[[list[Meaning], date], DateSpan | None]] = {
    "not_past": lambda _, __: None,
    "day_month": _day_and_month,
    "month_day": _day_and_month,
    "of_year": _in_last_year,
    "last_month": lambda words, today: _month_or_season(words, today, is_over=True),
    "dated_season": _dated_season,
    "month": _month_or_season,
    "ago": lambda words, today: _units(words, today, ago_span),
    "last_units": lambda words, today: _units(words, today, since_span),
    "unit": lambda words, today: unit_span(_first_value(words, "U"), "T" not in dict(words), today),
    "weekday": lambda words, today: last_weekday(_first_value(words, "Ww"), today),
    "day": lambda words, today: unit_span(DAY, -words[0][1], today),
    "year_word": lambda words, today: unit_span(YEAR, -words[0][1], today),
    "year": lambda words, _: year_span(words[0][1]) if words[0][1] in YEARS else None,
}
_CHINESE_NUMBERS = {character: value for value, character in enumerate("零一二三四五六七八九十")} | {"两": 2}
_CHINESE_NUMBER = r"(?:\d{1,3}|[一二三四五六七八九十两]{1,3})"
_CHINESE_WEEKDAYS = (
    {character: value for value, character in enumerate("一二三四五六日")}
    | {"天": 6}
    | {character: value for value, character in enumerate("月火水木金土")}
)
_CHINESE_UNITS: dict[str, int] = {
    **dict.fromkeys(("天", "日"), DAY),
    **dict.fromkeys(("周", "週間", "星期", "礼拜"), WEEK),
    **dict.fromkeys(("月", "ヶ月"), MONTH),
    "年": YEAR,
}
_CHINESE_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3}
_CHINESE_DAYS = {"今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "昨晚": 1, "前天": 2, "一昨日": 2, "大前天": 3}
_CHINESE_YEARS = {"今年": 0, "去年": 1, "昨年": 1, "前年": 2}
CHINESE_DATE = re.compile(
    rf"(?P<year>(?<!\d)\d{{4}})年"
    rf"(?:(?P<month>{_CHINESE_NUMBER})月(?:(?P<day>{_CHINESE_NUMBER})[日号])?|的?(?P<season>[春夏秋冬]))?"
    rf"|(?P<lone_month>(?<!\d){_CHINESE_NUMBER})月(?:(?P<lone_day>{_CHINESE_NUMBER})[日号])?"
    rf"|(?P<count>(?<!\d){_CHINESE_NUMBER})个?(?P<unit>[天日周年月]|週間|星期|礼拜|ヶ月)(?:之|以)?前"
    r"|(?P<far_day>大前天|今天|今日|一昨日|昨天|昨日|昨晚|前天)"
    r"|(?P<last>(?<!上)上++|先|这|本|今)个?(?P<of>周末|周|週|星期|礼拜|月)(?P<weekday>[一二三四五六日天])?"
    r"|(?P<far_year>今年|去年|昨年|前年)的?(?:(?P<its_month>\d{1,2}|十[一二]|[一二三四五六七八九十])月|(?P<its_season>[春夏秋冬]))?"
    r"|(?:周|星期|礼拜)(?P<lone_weekday>[一二三四五六日天])"
    r"|(?P<japanese_weekday>[月火水木金土日])曜"
    r"|(?<!关于)(?P<lone_season>[春夏秋冬])[天季]"
)
"""Possible dates in a normal text."""
_OTHER_TIMES = re.compile(
    "明天|后天|今晚|今早|最近|周末|以来|下[个]?(?:周|月|星期|礼拜)|明年|明日|来週|来月|来年|今夜|最近"
)


def chinese_dates(text: str, today: date) -> Iterator[DateSpan]:
    """Yield the periods that a normal text names in Chinese or Japanese. Impossible dates give nothing."""
    for match in CHINESE_DATE.finditer(text):
        groups = {name: value for name, value in match.groupdict().items() if value}
        for reader in (_chinese_date, _chinese_ago, _chinese_relative, _chinese_year, _chinese_lone):
            if period := reader(groups, today):
                yield period
                break


def _chinese_date(groups: dict[str, str], today: date) -> DateSpan | None:
    month = _chinese_number(groups.get("month") or groups.get("lone_month") or "")
    if "year" in groups:
        year = int(groups["year"])
        if year not in YEARS or month > _MONTHS_OF_A_YEAR:
            return None
        if "season" in groups:
            return season_span(year, _CHINESE_SEASONS[groups["season"]])
        if "day" in groups:
            return date_span(year, month, _chinese_number(groups["day"]))
        return month_span(year, month) if month else year_span(year)
    if not 1 <= month <= _MONTHS_OF_A_YEAR:
        return None
    if "lone_day" in groups:
        return last_date(month, _chinese_number(groups["lone_day"]), today)
    return last_month(month, today, is_over=False)


def _chinese_ago(groups: dict[str, str], today: date) -> DateSpan | None:
    if "count" not in groups:
        return None
    return ago_span(_CHINESE_UNITS[groups["unit"]], _chinese_number(groups["count"]), today)


def _chinese_relative(groups: dict[str, str], today: date) -> DateSpan | None:
    if "far_day" in groups:
        return unit_span(DAY, _CHINESE_DAYS[groups["far_day"]], today)
    if "last" not in groups:
        return None
    back = len(groups["last"]) if groups["last"][0] == "上" else int(groups["last"] == "先")
    if groups["of"] == "月":
        return unit_span(MONTH, back, today)
    if groups["of"] == "周末":
        return unit_span(WEEKEND, back, today)
    week = unit_span(WEEK, back, today)
    if "weekday" not in groups:
        return week
    start = week.start + 86_400 * _CHINESE_WEEKDAYS[groups["weekday"]]
    return DateSpan(start=start, end=start + 86_400)


def _chinese_year(groups: dict[str, str], today: date) -> DateSpan | None:
    if "far_year" not in groups:
        return None
    year = today.year - _CHINESE_YEARS[groups["far_year"]]
    if "its_month" in groups:
        month = _chinese_number(groups["its_month"])
        return month_span(year, month) if 1 <= month <= _MONTHS_OF_A_YEAR else None
    if "its_season" in groups:
        return season_span(year, _CHINESE_SEASONS[groups["its_season"]])
    return year_span(year)


def _chinese_lone(groups: dict[str, str], today: date) -> DateSpan | None:
    if weekday := groups.get("lone_weekday") or groups.get("japanese_weekday"):
        return last_weekday(_CHINESE_WEEKDAYS[weekday], today)
    season = groups.get("lone_season")
    return last_season(_CHINESE_SEASONS[season], today, is_over=False) if season else None


def _chinese_number(text: str) -> int:
    """Parse digits, or Chinese numerals up to 99. An empty text is 0."""
    if text.isdecimal() or not text:
        return int(text or 0)
    tens, ten, ones = text.rpartition("十")
    return (_CHINESE_NUMBERS.get(tens, 1) * 10 if ten else 0) + _CHINESE_NUMBERS.get(ones, 0)


_FIRST_MONTH = (3, 6, 9, 12)
"""First months of spring, summer, autumn and winter."""


def span(start: date, end: date) -> DateSpan:
    """Return the time from midnight of `start` to midnight of `end`, which is exclusive."""
    return DateSpan(start=calendar.timegm(start.timetuple()), end=calendar.timegm(end.timetuple()))


def day_span(day: date) -> DateSpan:
    """Return the span of that day."""
    return span(day, day + timedelta(days=1))


def month_span(year: int, month: int, months: int = 1) -> DateSpan:
    """Return the span of `months` months from this one. Months below 1 and above 12 are in other years."""
    return span(_first_of(year, month), _first_of(year, month + months))


def year_span(year: int) -> DateSpan:
    """Return the span of that year."""
    return month_span(year, 1, 12)


def season_span(year: int, season: int) -> DateSpan:
    """Return the northern season that begins in that year: 0 is spring, 3 the winter from December."""
    return month_span(year, _FIRST_MONTH[season], 3)


def last_month(month: int, today: date, *, is_over: bool) -> DateSpan:
    """Return the last such month that has begun, or with `is_over` the last that has ended."""
    return month_span(today.year - (month >= today.month if is_over else month > today.month), month)


def last_season(season: int, today: date, *, is_over: bool) -> DateSpan:
    """Return the last such season that has begun, or with `is_over` the last that has ended."""
    now = calendar.timegm(today.timetuple())
    years = (today.year, today.year - 1, today.year - 2)
    spans = [season_span(year, season) for year in years]
    return next(each for each in spans if (each.end if is_over else each.start) <= now)


def last_weekday(weekday: int, today: date) -> DateSpan:
    """Return the last such day before today. 0 is Monday."""
    return day_span(today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1))


def last_date(month: int, day: int, today: date) -> DateSpan | None:
    """Return the last such date up to today, or None for one that no year has."""
    for year in range(today.year, today.year - 9, -1):
        day_in_year = date_span(year, month, day)
        if day_in_year and date(year, month, day) <= today:
            return day_in_year
    return None


def date_span(year: int, month: int, day: int) -> DateSpan | None:
    """Return the span of that day, or None if it does not exist."""
    try:
        return day_span(date(year, month, day))
    except (ValueError, OverflowError):
        return None


def unit_span(unit: int, back: int, today: date) -> DateSpan:
    """Return the day, calendar week (from Monday), weekend, month or year, `back` units before the present one."""
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
    """Return the span around `count` units before today: a day, a week, a month or a year."""
    if unit == WEEK:
        day = today - timedelta(days=7 * count)
        return span(day - timedelta(days=3), day + timedelta(days=4))
    return unit_span(unit, count, today)


def since_span(unit: int, count: int, today: date) -> DateSpan:
    """Return the last `count` units up to the end of today."""
    days = count * {DAY: 1, WEEK: 7, WEEKEND: 7, MONTH: 31, YEAR: 366}.get(unit, 1)
    return span(today - timedelta(days=days), today + timedelta(days=1))


def _first_of(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
