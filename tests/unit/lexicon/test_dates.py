"""Periods that a question names, seen from Wednesday, 13 September 2023, noon."""

from datetime import UTC, datetime

import pytest

from memory.recall.lexicon.dates import find_dates
from memory.recall.lexicon.languages import normal

NOW = datetime(2023, 9, 13, 12, tzinfo=UTC).timestamp()


def dates(text: str, now: float = NOW) -> list[str]:
    """Return each period as its first day and the day after its last."""
    return [f"{_day(each.start)} {_day(each.end)}" for each in find_dates(normal(text), now=now)]


def _day(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d")


@pytest.mark.parametrize(
    "text",
    [
        "What happened on 8 May 2023?",
        "on May 8, 2023",
        "May 8th",
        "the 8th of May",
        "8 may",
        "2023-05-08",
        "2023/5/8",
        "8.5.2023",
        "el 8 de mayo de 2023",
        "am 8. Mai 2023",
        "8 мая 2023 года",
        "8 мая",
        "em 8 de maio de 2023",
        "۸ مه ۲۰۲۳",
        "le 8 mai 2023",
        "2023年5月8日",
        "5月8号",
    ],
)
def test_a_day_is_found(text: str) -> None:
    assert dates(text) == ["2023-05-08 2023-05-09"]


@pytest.mark.parametrize(
    "text",
    [
        "in May 2023",
        "in May",
        "May 2023",
        "2023-05",
        "en mayo",
        "im Mai",
        "в мае",
        "em maio",
        "5月",
        "五月",
        "since May",
    ],
)
def test_a_month_is_found(text: str) -> None:
    assert dates(text) == ["2023-05-01 2023-06-01"]


@pytest.mark.parametrize("text", ["in October", "в октябре", "en octubre", "十月"])
def test_a_month_means_the_last_one_that_has_begun(text: str) -> None:
    assert dates(text) == ["2022-10-01 2022-11-01"]


def test_the_current_month_is_meant_unless_it_is_called_last() -> None:
    assert dates("in September") == ["2023-09-01 2023-10-01"]
    assert dates("last September") == ["2022-09-01 2022-10-01"]


@pytest.mark.parametrize(
    "text",
    [
        "in 2022",
        "last year",
        "el año pasado",
        "letztes Jahr",
        "в прошлом году",
        "ano passado",
        "پارسال",
        "去年",
        "2022年",
    ],
)
def test_a_year_is_found(text: str) -> None:
    assert dates(text) == ["2022-01-01 2023-01-01"]


@pytest.mark.parametrize(
    "text", ["yesterday", "last night", "ayer", "gestern", "вчера", "ontem", "دیروز", "昨天"]
)
def test_yesterday_is_found(text: str) -> None:
    assert dates(text) == ["2023-09-12 2023-09-13"]


@pytest.mark.parametrize(
    "text",
    [
        "last week",
        "la semana pasada",
        "letzte Woche",
        "на прошлой неделе",
        "na semana passada",
        "هفته پیش",
        "上周",
        "上个星期",
    ],
)
def test_last_week_is_from_monday_to_sunday(text: str) -> None:
    assert dates(text) == ["2023-09-04 2023-09-11"]


@pytest.mark.parametrize(
    "text",
    [
        "last month",
        "el mes pasado",
        "letzten Monat",
        "в прошлом месяце",
        "mês passado",
        "ماه گذشته",
        "上个月",
    ],
)
def test_last_month_is_found(text: str) -> None:
    assert dates(text) == ["2023-08-01 2023-09-01"]


@pytest.mark.parametrize(
    "text",
    ["two weeks ago", "a couple of weeks ago", "2 weeks ago", "hace dos semanas", "vor zwei Wochen", "две недели назад",
     "duas semanas atrás", "há duas semanas", "دو هفته پیش", "两周前"],
)  # fmt: skip
def test_weeks_ago_means_half_a_week_around_the_day(text: str) -> None:
    assert dates(text) == ["2023-08-27 2023-09-03"]


@pytest.mark.parametrize(
    "text",
    [
        "on Friday",
        "last Friday",
        "el viernes",
        "el viernes pasado",
        "am Freitag",
        "в пятницу",
        "na sexta-feira",
        "جمعه",
        "周五",
    ],
)
def test_a_weekday_means_the_last_one_before_today(text: str) -> None:
    assert dates(text) == ["2023-09-08 2023-09-09"]


def test_todays_weekday_means_last_week() -> None:
    assert dates("on Wednesday") == ["2023-09-06 2023-09-07"]


@pytest.mark.parametrize(
    "text", ["last summer", "in the summer", "el verano pasado", "letzten Sommer", "прошлым летом", "夏天"]
)
def test_a_season_is_found(text: str) -> None:
    assert dates(text) == ["2023-06-01 2023-09-01"]


def test_a_season_of_a_year_is_found() -> None:
    assert dates("summer of 2021") == ["2021-06-01 2021-09-01"]
    assert dates("last winter") == ["2022-12-01 2023-03-01"]
    assert dates("去年夏天") == ["2022-06-01 2022-09-01"]
    assert dates("in May last year") == ["2022-05-01 2022-06-01"]
    assert dates("в мае прошлого года") == ["2022-05-01 2022-06-01"]


def test_other_calendar_words_are_found() -> None:
    assert dates("the day before yesterday") == ["2023-09-11 2023-09-12"]
    assert dates("last weekend") == ["2023-09-09 2023-09-11"]
    assert dates("three years ago") == ["2020-01-01 2021-01-01"]
    assert dates("in the last two weeks") == ["2023-08-30 2023-09-14"]
    assert dates("上周五") == ["2023-09-08 2023-09-09"]
    assert dates("December 25") == ["2022-12-25 2022-12-26"]
    assert dates("this week") == ["2023-09-11 2023-09-18"]


def test_an_ambiguous_date_has_both_readings() -> None:
    assert dates("8/5/2023") == ["2023-05-08 2023-05-09", "2023-08-05 2023-08-06"]
    assert dates("25/12/22") == ["2022-12-25 2022-12-26"]


def test_several_dates_are_all_returned_once() -> None:
    assert dates("in May or June, in May") == ["2023-05-01 2023-06-01", "2023-06-01 2023-07-01"]


@pytest.mark.parametrize(
    "text",
    [
        "31 February 2023", "2023-13-45", "99/99/9999", "2023年13月40日", "next Friday", "every Monday", "may I go?",
        "I might march on", "the sun is up", "a week", "500 dollars", "0000-00-00", "5+5", "1.2.3.4", "May be", "hier",
        "real estate", "99999999999999999999", "999999 weeks ago", "", "🗓",
    ],
)  # fmt: skip
def test_other_text_names_no_period(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1e18, 1e18])
def test_an_impossible_current_time_names_nothing(now: float) -> None:
    assert dates("yesterday", now) == []


@pytest.mark.parametrize("now", [0.0, -62_135_596_800.0, 253_402_300_799.0])
def test_the_ends_of_the_calendar_never_raise(now: float) -> None:
    text = "yesterday, last week, two years ago, in May, on Friday, next, 400 weeks ago, this month, 8 May, last winter"

    assert isinstance(find_dates(text, now=now), tuple)


@pytest.mark.parametrize(
    "text",
    ["write a haiku about autumn", "ein Gedicht über den Herbst", "un poema sobre la primavera",
         "стих про осень", "写一首关于秋天的诗",
     "یه شعر درباره پاییز بنویس"],
)  # fmt: skip
def test_a_season_as_a_topic_names_no_period(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "what did we do this summer?",
        "en el verano",
        "im Sommer",
        "летом",
        "este verano",
        "cet été",
        "夏天我们去了哪里",
    ],
)
def test_a_season_of_an_event_names_a_period(text: str) -> None:
    assert dates(text) == ["2023-06-01 2023-09-01"]
