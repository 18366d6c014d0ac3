"""The stretches of time named in Chinese and Japanese, where nothing parts the words."""

import re
from collections.abc import Iterator
from datetime import date

from memory.recall.lexicon.analysis import DateSpan
from memory.recall.lexicon.spans import (
    ago_span,
    date_span,
    last_date,
    last_month,
    last_season,
    last_weekday,
    month_span,
    season_span,
    unit_span,
    year_span,
)
from memory.recall.lexicon.time_words import DAY, MONTH, WEEK, WEEKEND, YEAR, YEARS

_NUMBERS = {character: value for value, character in enumerate("零一二三四五六七八九十")} | {"两": 2, "二": 2}
_NUMBER = r"(?:\d{1,3}|[一二三四五六七八九十两]{1,3})"
_WEEKDAYS = (
    {character: value for value, character in enumerate("一二三四五六日")}
    | {"天": 6}
    | {character: value for value, character in enumerate("月火水木金土")}
)
_UNITS = {
    "天": DAY,
    "日": DAY,
    "周": WEEK,
    "週間": WEEK,
    "星期": WEEK,
    "礼拜": WEEK,
    "月": MONTH,
    "ヶ月": MONTH,
    "年": YEAR,
}
_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3}
_DAYS = {"今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "昨晚": 1, "前天": 2, "一昨日": 2, "大前天": 3}
_YEARS = {"今年": 0, "去年": 1, "昨年": 1, "前年": 2}

CHINESE_DATE = re.compile(
    rf"(?P<year>(?<!\d)\d{{4}})年(?:(?P<month>{_NUMBER})月(?:(?P<day>{_NUMBER})[日号])?|的?(?P<season>[春夏秋冬]))?"
    rf"|(?P<lone_month>(?<!\d){_NUMBER})月(?:(?P<lone_day>{_NUMBER})[日号])?"
    rf"|(?P<count>(?<!\d){_NUMBER})个?(?P<unit>[天日周年月]|週間|星期|礼拜|ヶ月)(?:之|以)?前"
    r"|(?P<far_day>大前天|今天|今日|一昨日|昨天|昨日|昨晚|前天)"
    r"|(?P<last>上+|先|这|本|今)个?(?P<of>周末|周|週|星期|礼拜|月)(?P<weekday>[一二三四五六日天])?"
    r"|(?P<far_year>今年|去年|昨年|前年)的?(?:(?P<its_month>\d{1,2}|十[一二]|[一二三四五六七八九十])月|(?P<its_season>[春夏秋冬]))?"
    r"|(?:周|星期|礼拜)(?P<lone_weekday>[一二三四五六日天])"
    r"|(?P<japanese_weekday>[月火水木金土日])曜"
    r"|(?<!关于)(?P<lone_season>[春夏秋冬])[天季]"
)
"""What may be a date in a normal text."""
_OTHER_TIMES = re.compile(
    "明天|后天|今晚|今早|最近|周末|以来|下[个]?(?:周|月|星期|礼拜)|明年|明日|来週|来月|来年|今夜|最近"
)


def tells_chinese_time(text: str) -> bool:
    """Whether a normal text tells a time in Chinese or Japanese: a stretch as below, or one to come."""
    return not text.isascii() and (CHINESE_DATE.search(text) or _OTHER_TIMES.search(text)) is not None


def chinese_dates(text: str, today: date) -> Iterator[DateSpan]:
    """The stretches that a normal text in Chinese or Japanese names; dates that no year has name nothing."""
    for match in CHINESE_DATE.finditer(text):
        told = {name: value for name, value in match.groupdict().items() if value}
        for reader in (_dated, _ago, _relative, _of_a_year, _lone):
            found = reader(told, today)
            if found:
                yield found
                break


def _dated(told: dict[str, str], today: date) -> DateSpan | None:
    if "year" in told:
        year, month = int(told["year"]), _number(told.get("month", ""))
        if year not in YEARS or month > 12:
            return None
        if "season" in told:
            return season_span(year, _SEASONS[told["season"]])
        if "day" in told:
            return date_span(year, month, _number(told["day"]))
        return month_span(year, month) if month else year_span(year)
    if "lone_month" not in told:
        return None
    month = _number(told["lone_month"])
    if not 1 <= month <= 12:
        return None
    return (
        last_date(month, _number(told["lone_day"]), today)
        if "lone_day" in told
        else last_month(month, today, whole=False)
    )


def _ago(told: dict[str, str], today: date) -> DateSpan | None:
    return ago_span(_UNITS[told["unit"]], _number(told["count"]), today) if "count" in told else None


def _relative(told: dict[str, str], today: date) -> DateSpan | None:
    if "far_day" in told:
        return unit_span(DAY, _DAYS[told["far_day"]], today)
    if "last" not in told:
        return None
    back = len(told["last"]) if told["last"][0] == "上" else int(told["last"] == "先")
    if told["of"] == "月":
        return unit_span(MONTH, back, today)
    if told["of"] == "周末":
        return unit_span(WEEKEND, back, today)
    week = unit_span(WEEK, back, today)
    if "weekday" not in told:
        return week
    start = week.start + 86_400 * _WEEKDAYS[told["weekday"]]
    return DateSpan(start=start, end=start + 86_400)


def _of_a_year(told: dict[str, str], today: date) -> DateSpan | None:
    if "far_year" not in told:
        return None
    year = today.year - _YEARS[told["far_year"]]
    if "its_month" in told:
        return month_span(year, _number(told["its_month"])) if 1 <= _number(told["its_month"]) <= 12 else None
    return season_span(year, _SEASONS[told["its_season"]]) if "its_season" in told else year_span(year)


def _lone(told: dict[str, str], today: date) -> DateSpan | None:
    weekday = told.get("lone_weekday") or told.get("japanese_weekday")
    if weekday:
        return last_weekday(_WEEKDAYS[weekday], today)
    return last_season(_SEASONS[told["lone_season"]], today, whole=False) if "lone_season" in told else None


def _number(text: str) -> int:
    """Digits, or Chinese numerals up to 99; 0 for none."""
    if text.isdecimal() or not text:
        return int(text or 0)
    tens, ten, ones = text.rpartition("十")
    return (_NUMBERS.get(tens, 1) * 10 if ten else 0) + _NUMBERS.get(ones, 0)
