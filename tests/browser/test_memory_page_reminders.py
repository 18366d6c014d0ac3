"""Reminders on the memory page in a real browser: look, dates and repetitions, delete, and who may not."""

# ruff: noqa: RUF001

import re
import time
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Locator, Page, expect

from bot.settings import SIMULATOR_TOKEN
from bot.transport.page_links import PagePlace, sign_place
from memory.embedded.valkey import open_valkey
from memory.history.message import Sender
from memory.keys import partition_key
from memory.redis.client import RedisClient, open_redis
from memory.reminders.reminder import Reminder
from tests.browser.memory_page import (
    BEN,
    DESKTOP,
    OLGA,
    PHONE,
    overflows,
    page_address,
    program_ref,
    watched_context,
)
from tests.browser.program import Program, run_program
from tests.browser.test_memory_page import FOCUSED, REACHABLE
from tests.known_facts import say_lines
from tests.known_reminders import make_reminder, set_reminders

READERS = range(7200, 7205)
"""People with the same reminders, one for each test that deletes some."""
NOTHING, RULES, ODD = 7300, 7301, 7302
GROUP = -2001
DUE_AT = datetime(2031, 3, 5, 8, tzinfo=UTC).timestamp()
REPETITIONS = {
    "FREQ=HOURLY;INTERVAL=2": "every 2 hours",
    "FREQ=DAILY;COUNT=5": "every day, 5 times in all",
    "FREQ=DAILY;BYHOUR=9,18;BYMINUTE=30": "every day at 9:30 AM and 6:30 PM",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": "every weekday",
    "FREQ=WEEKLY;BYDAY=MO,TH": "every Monday and Thursday",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE": "every 2 weeks on Wednesday",
    "FREQ=MONTHLY;BYMONTHDAY=1,-1": "every month on day 1 and the last day",
    "FREQ=MONTHLY;BYDAY=2SU": "every month on the second Sunday",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1": "every month on the last weekday",
    "FREQ=YEARLY;BYMONTH=3,9": "every year in March and September",
    "FREQ=YEARLY;UNTIL=20351231T220000Z": "every year, until December 31, 2035",
    "FREQ=YEARLY;BYWEEKNO=20": "by the rule FREQ=YEARLY;BYWEEKNO=20",
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13": "by the rule FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
}

TRANSLATIONS = {
    "de": [
        "alle 2 Stunden",
        "jeden Tag, insgesamt 5-mal",
        "jeden Tag um 09:30 und 18:30",
        "Montag bis Freitag",
        "jeden Montag und Donnerstag",
        "alle 2 Wochen am Mittwoch",
        "jeden Monat am 1. und am letzten Tag",
        "jeden Monat am zweiten Sonntag",
        "jeden Monat am letzten Arbeitstag",
        "jedes Jahr im März und September",
        "jedes Jahr, bis 31. Dezember 2035",
        "nach der Regel FREQ=YEARLY;BYWEEKNO=20",
        "nach der Regel FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    ],
    "es": [
        "cada 2 horas",
        "todos los días, 5 veces en total",
        "todos los días a las 9:30 y 18:30",
        "de lunes a viernes",
        "cada lunes y jueves",
        "cada 2 semanas, el miércoles",
        "cada mes, el día 1 y el último día",
        "cada mes, el segundo domingo",
        "cada mes, el último día laborable",
        "cada año en marzo y septiembre",
        "cada año, hasta el 31 de diciembre de 2035",
        "según la regla FREQ=YEARLY;BYWEEKNO=20",
        "según la regla FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    ],
    "pt": [
        "a cada 2 horas",
        "todos os dias, 5 vezes no total",
        "todos os dias às 09:30 e 18:30",
        "de segunda a sexta",
        "toda semana: segunda-feira e quinta-feira",
        "a cada 2 semanas: quarta-feira",
        "todo mês: dia 1 e último dia",
        "todo mês: o segundo domingo",
        "todo mês: o último dia útil",
        "todo ano em março e setembro",
        "todo ano, até 31 de dezembro de 2035",
        "pela regra FREQ=YEARLY;BYWEEKNO=20",
        "pela regra FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    ],
    "ru": [
        "каждые 2 часа",
        "каждый день, всего 5 раз",
        "каждый день в 09:30 и 18:30",
        "с понедельника по пятницу",
        "каждую неделю: понедельник и четверг",
        "каждые 2 недели: среда",
        "каждый месяц: 1-го числа и в последний день",
        "каждый месяц: второе воскресенье",
        "каждый месяц: последний будний день",
        "каждый год (март и сентябрь)",
        "каждый год, до 31 декабря 2035 г.",
        "по правилу FREQ=YEARLY;BYWEEKNO=20",
        "по правилу FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    ],
    "fa": [
        "هر ۲ ساعت",
        "هر روز، روی هم ۵ بار",
        "هر روز ساعت ۹:۳۰ و ۱۸:۳۰",
        "دوشنبه تا جمعه",
        "هر دوشنبه و پنجشنبه",
        "هر ۲ هفته، چهارشنبه",
        "هر ماه، روز ۱ و روز آخر",
        "هر ماه، دومین یکشنبه",
        "هر ماه، آخرین روز کاری",
        "هر سال در مارس و سپتامبر",
        "هر سال، تا ۱۰ دی ۱۴۱۴",
        "با قاعدهٔ FREQ=YEARLY;BYWEEKNO=20",
        "با قاعدهٔ FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    ],
}
"""The same in the other languages of the bot."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run a program with reminders that were set before it started."""
    folder = tmp_path_factory.mktemp("program")

    async def fill() -> None:
        async with open_valkey(folder / "data") as url, open_redis(url) as redis:
            for reader in READERS:
                await set_four(redis, reader, chat=reader)
            await set_four(redis, BEN, chat=GROUP)
            await set_for_rules(redis, RULES)
            await set_odd_ones(redis, ODD)

    with start_blocking_portal() as portal:
        portal.call(fill)
    with run_program(folder, GROUP_MEMORY_PAGE="members") as program:
        yield program


async def set_four(redis: RedisClient, person: int, *, chat: int) -> None:
    """Give a chat four reminders: one, a daily one, a task, and one of another person in another zone."""
    ref, me, anna = program_ref(chat), Sender(id=person, name="Dina"), Sender(id=4000, name="Anna Marin")
    await say_lines(redis, ref, me, ["Remind me to water the plants"])
    plants = make_reminder("aaaaaaaa", me, "water the plants", chat=chat, due_at=DUE_AT)
    daily = replace(plants, id="bbbbbbbb", text="take the pills", repeats="FREQ=DAILY", due_at=DUE_AT + 60)
    task = replace(
        plants,
        id="cccccccc",
        text="tell me what is open from yesterday",
        runs_agent=True,
        repeats="FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        due_at=DUE_AT + 120,
    )
    rent = make_reminder(
        "dddddddd", anna, "pay the rent", chat=chat, due_at=DUE_AT + 180, zone="America/New_York"
    )
    await set_reminders(redis, ref, [plants, daily, task, rent])


async def set_for_rules(redis: RedisClient, person: int) -> None:
    """Give a chat a reminder for each rule."""
    me = Sender(id=person, name="Dina")
    await set_reminders(
        redis,
        program_ref(person),
        [
            make_reminder(
                f"{number:08x}", me, f"rule {number}", chat=person, due_at=DUE_AT + number, repeats=rule
            )
            for number, rule in enumerate(REPETITIONS)
        ],
    )


async def set_odd_ones(redis: RedisClient, person: int) -> None:
    """Give a chat a long and hostile text, a zone that no browser knows, and one that is overdue."""
    me = Sender(id=person, name="<b>Dina</b>\u202e")
    long = "<img src=x onerror=attack('reminder')> " + "Donaudampfschifffahrt" * 40
    odd: list[Reminder] = [
        make_reminder("aaaaaaaa", me, long, chat=person, due_at=DUE_AT),
        make_reminder("bbbbbbbb", me, "unknown zone", chat=person, due_at=DUE_AT, zone="Mars/Base_1"),
    ]
    await set_reminders(redis, program_ref(person), odd)
    # Nobody fires it: its entry in the queue is gone, as while no worker runs.
    overdue = make_reminder("cccccccc", me, "overdue", chat=person, due_at=time.time() - 3600)
    await set_reminders(redis, program_ref(person), [overdue])
    ref = program_ref(person)
    await redis.call("ZREM", partition_key(ref.partition, "due"), f"{ref.context_id} {overdue.id}")


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]
)
def test_reminders_stand_with_their_next_date_their_zone_their_repetition_and_their_person(
    program: Program,
    browser: Browser,
    tmp_path: Path,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
) -> None:
    zone = {"timezone_id": "Europe/Berlin", "locale": "en-US"}
    with watched_context(browser, program, size, color_scheme=scheme, **zone) as (context, watch):
        page = context.new_page()
        open_reminders(page, program, READERS[0])
        expect(page.get_by_test_id("reminders-count")).to_have_text("4 reminders")
        expect(page.get_by_test_id("reminder-text")).to_have_text(
            ["water the plants", "take the pills", "tell me what is open from yesterday", "pay the rent"]
        )
        plants, pills, task, rent = (
            reminder_of(page, text) for text in ("plants", "pills", "open from", "rent")
        )
        expect(due_of(plants)).to_have_text("Wed, March 5, 2031 at 9:00 AM")
        expect(zone_of(plants)).to_have_text("Europe/Berlin")
        expect(plants.get_by_test_id("reminder-repeats")).to_have_count(0)
        expect(plants).not_to_contain_text("set by")
        expect(pills.get_by_test_id("reminder-repeats")).to_have_text("every day")
        expect(task.get_by_test_id("reminder-repeats")).to_have_text("every weekday")
        expect(task).to_contain_text("a task for me")
        expect(rent).to_contain_text("set by Anna Marin")
        expect(due_of(rent)).to_have_text("Wed, March 5, 2031 at 3:03 AM")
        expect(zone_of(rent)).to_have_text("America/New York · your time: March 5, 2031, 9:03 AM")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "reminders.png")
        watch.assert_calm()


def test_dates_are_in_the_language_and_zone_of_the_visitor(program: Program, browser: Browser) -> None:
    with watched_context(browser, program, locale="de-DE", timezone_id="Asia/Tokyo") as (context, watch):
        page = context.new_page()
        open_reminders(page, program, READERS[0], language="de")
        plants = reminder_of(page, "plants")
        expect(due_of(plants)).to_have_text("Mi., 5. März 2031 um 9:00")
        expect(zone_of(plants)).to_have_text("Europe/Berlin · bei dir: 5. März 2031, 17:00")
        watch.assert_calm()


@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_every_kind_of_repetition_is_said_in_words(program: Program, browser: Browser, language: str) -> None:
    with watched_context(browser, program, PHONE, locale="en-US") as (context, watch):
        page = context.new_page()
        open_reminders(page, program, RULES, language=language)
        texts = page.get_by_test_id("reminder-repeats").all_inner_texts()
        said = [" ".join(re.sub("[\u2066-\u2069]", "", each).split()) for each in texts]
        assert said == TRANSLATIONS.get(language, list(REPETITIONS.values()))
        assert overflows(page) == []
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_person_deletes_a_reminder_and_gets_a_receipt(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    reader = READERS[1] if size == PHONE else READERS[2]
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_reminders(page, program, reader)
        delete = reminder_of(page, "pills").get_by_test_id("forget-reminder")
        delete.click()
        dialog = page.get_by_test_id("forget-dialog")
        expect(dialog).to_contain_text("take the pills")
        expect(dialog).to_contain_text("It will not be sent any more.")
        page.get_by_test_id("close-dialog").click()
        expect(delete).to_be_focused()

        delete.click()
        page.get_by_test_id("confirm-forget").click()
        expect(page.get_by_test_id("erasure")).to_contain_text("I've deleted that reminder.")
        expect(page.get_by_test_id("erasure")).to_contain_text("nothing left")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "receipt.png")
        page.get_by_test_id("close-dialog").click()

        expect(page.get_by_test_id("reminders-count")).to_have_text("3 reminders")
        expect(reminder_of(page, "pills")).to_have_count(0)
        expect(reminder_of(page, "open from").get_by_test_id("forget-reminder")).to_be_focused()
        open_reminders(page, program, reader)
        expect(page.get_by_test_id("reminders-count")).to_have_text("3 reminders")
        expect(page.get_by_test_id("message").filter(has_text="water the plants")).to_have_count(1)
        watch.assert_calm()


def test_a_reminder_that_another_window_has_deleted_is_said_to_be_gone(
    program: Program, browser: Browser
) -> None:
    with watched_context(browser, program) as (context, watch):
        first, second = context.new_page(), context.new_page()
        for page in (first, second):
            open_reminders(page, program, READERS[3])
            reminder_of(page, "plants").get_by_test_id("forget-reminder").click()
        first.get_by_test_id("confirm-forget").click()
        expect(first.get_by_test_id("erasure")).to_be_visible()
        second.get_by_test_id("confirm-forget").click()
        expect(second.get_by_test_id("forget-dialog")).to_contain_text("This reminder was gone already.")
        expect(second.get_by_test_id("erasure")).to_have_count(0)
        second.get_by_test_id("close-dialog").click()

        expect(second.get_by_test_id("reminders-count")).to_have_text("3 reminders")
        watch.assert_calm()


def test_reminders_are_reached_by_tab_show_their_focus_and_have_names(
    program: Program, browser: Browser
) -> None:
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        open_reminders(page, program, READERS[4])

        stops: list[str] = []
        page.keyboard.press("Tab")
        while (stop := str(page.evaluate(FOCUSED))) not in stops:
            stops.append(stop)
            page.keyboard.press("Tab")

        assert sorted(stops) == sorted(page.evaluate(REACHABLE))
        assert [stop for stop in stops if "without a ring" in stop or "without a name" in stop] == []
        watch.assert_calm()


def test_a_member_deletes_only_reminders_that_they_have_set(program: Program, browser: Browser) -> None:
    link = sign_place(PagePlace(chat_id=GROUP, thread_id=None), SIMULATOR_TOKEN)
    with watched_context(browser, program) as (context, watch):
        page, other = context.new_page(), context.new_page()
        open_reminders(page, program, BEN, link=link)
        open_reminders(other, program, OLGA, link=link)  # an administrator
        for text, deletable in (("plants", 1), ("rent", 0)):
            expect(reminder_of(page, text).get_by_test_id("forget-reminder")).to_have_count(deletable)
            expect(reminder_of(other, text).get_by_test_id("forget-reminder")).to_have_count(1)
        expect(reminder_of(page, "plants")).to_contain_text("set by you")
        expect(reminder_of(other, "plants")).to_contain_text("set by Dina")
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_an_empty_list_says_how_to_ask_for_a_reminder(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_reminders(page, program, NOTHING)
        expect(page.get_by_test_id("reminders")).to_contain_text("No reminders")
        expect(page.get_by_test_id("reminders")).to_contain_text("Remind me tomorrow at nine")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "empty.png")
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_hostile_texts_unknown_zones_and_overdue_ones_are_shown(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    zone = {"timezone_id": "Europe/Berlin", "locale": "en-US"}
    with watched_context(browser, program, size, **zone) as (context, watch):
        page = context.new_page()
        open_reminders(page, program, ODD)
        expect(reminder_of(page, "onerror")).to_be_visible()
        unknown = reminder_of(page, "unknown zone")
        expect(due_of(unknown)).to_have_text("Wed, March 5, 2031 at 9:00 AM")
        expect(zone_of(unknown)).to_have_text("Europe/Berlin")
        expect(due_of(page.get_by_test_id("reminder").first)).to_contain_text("overdue")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "odd.png")
        watch.assert_calm()


def test_a_reminder_that_was_set_meanwhile_appears_by_itself(program: Program, browser: Browser) -> None:
    person = 7303
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.clock.install()
        open_reminders(page, program, person)
        expect(page.get_by_test_id("reminders")).to_contain_text("No reminders")

        async def set_one() -> None:
            async with open_valkey(program.log.parent / "data") as url, open_redis(url) as redis:
                me = Sender(id=person, name="Dina")
                milk = make_reminder("aaaaaaaa", me, "buy milk", chat=person, due_at=DUE_AT)
                await set_reminders(redis, program_ref(person), [milk])

        with start_blocking_portal() as portal:
            portal.call(set_one)
        page.clock.fast_forward("20")

        expect(reminder_of(page, "buy milk")).to_be_visible()
        expect(page.get_by_test_id("reminders-count")).to_have_text("1 reminder")
        watch.assert_calm()


def open_reminders(
    page: Page, program: Program, person: int, *, link: str = "", language: str = "en"
) -> None:
    """Open the page as a person, and its reminders."""
    page.goto("about:blank")
    address = page_address(program, person, name="Dina", language=language)
    page.goto(address.replace("#", f"?link={link}#") if link else address)
    switch = page.get_by_test_id("tab-reminders").or_(page.get_by_test_id("side-reminders"))
    switch.locator("visible=true").click()
    expect(page.get_by_test_id("reminders").locator(".skeleton")).to_have_count(0)


def reminder_of(page: Page, text: str) -> Locator:
    """Return the reminders with this text."""
    return page.get_by_test_id("reminder").filter(has_text=text)


def due_of(reminder: Locator) -> Locator:
    """Return the date of a reminder."""
    return reminder.get_by_test_id("reminder-due")


def zone_of(reminder: Locator) -> Locator:
    """Return the zone of a reminder, with the visitor's time if that differs."""
    return reminder.get_by_test_id("reminder-zone")
