"""Facts on the memory page in a real browser: look, follow to the message, correct, delete, and who may not."""

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Locator, Page, expect

from bot.settings import SIMULATOR_TOKEN
from bot.transport.page_links import PagePlace, sign_place
from memory.embedded.valkey import open_valkey
from memory.facts.context_facts import switch_off
from memory.facts.redis_facts import RedisFacts
from memory.history.message import Sender
from memory.keys import context_key
from memory.redis.client import RedisClient, open_redis
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
from tests.known_facts import learn, say_lines, told

READERS = range(7000, 7008)
"""People with the same facts, one for each test that changes them."""
OFF, NOTHING, MANY, LONG = 7100, 7101, 7102, 7103
GROUP = -2001
FACTS = 60


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run a program that knows facts since before it started."""
    folder = tmp_path_factory.mktemp("program")

    async def fill() -> None:
        async with open_valkey(folder / "data") as url, open_redis(url) as redis:
            for reader in READERS:
                await know_a_person(redis, reader, chat=reader)
            await know_a_person(redis, BEN, chat=GROUP)
            await switch_off(
                program_ref(OFF), person=None, epoch=0, facts=RedisFacts(redis, clock=time.time), recall=None
            )
            await wait_to_be_read(redis, NOTHING)
            await know_much(redis, MANY)
            await know_an_old_thing(redis, LONG)

    with start_blocking_portal() as portal:
        portal.call(fill)
    settings = {"OPENAI_SUMMARY_MODEL": "offline", "GROUP_MEMORY_PAGE": "members"}
    with run_program(folder, **settings) as program:
        yield program


async def know_a_person(redis: RedisClient, person: int, *, chat: int) -> None:
    """Give a chat five facts: about a person, one of them closed and one corrected, about another, and a thing."""
    ref, me, anna = program_ref(chat), Sender(id=person, name="Dina"), Sender(id=4000, name="Anna Marin")
    leeds, porto, cello, lock = await say_lines(
        redis,
        ref,
        me,
        ["I live in Leeds", "I have moved to Porto", "I play the cello", "The lock opens with 4711"],
    )
    (nuts,) = await say_lines(redis, ref, anna, ["I am allergic to nuts"])
    known = await learn(
        redis,
        ref,
        told(me, "Dina lives in Leeds.", leeds),
        told(me, "Dina plays the violin.", cello),
        told(anna, "Anna is allergic to nuts.", nuts),
        told(me, "The lock of the bike opens with 4711.", lock, about="bike"),
    )
    ids = {fact.statement: fact.id for fact in known}
    moved = told(me, "Dina lives in Porto.", porto, cello)
    moved = replace(moved, valid_from=moved.valid_from + 86_400, replaces=(ids["Dina lives in Leeds."],))
    await learn(redis, ref, moved)
    facts = RedisFacts(redis, clock=time.time)
    await facts.correct(ref, ids["Dina plays the violin."], "Dina plays the cello.", epoch=0, by=me.id)


async def wait_to_be_read(redis: RedisClient, person: int) -> None:
    """Give a chat two messages that are unread, and wait long enough."""
    ref = program_ref(person)
    ids = await say_lines(redis, ref, Sender(id=person, name="Dina"), ["I play the cello", "I live in Porto"])
    await redis.call("ZADD", context_key(ref, "unread"), 0, ids[0], 1, ids[1])


async def know_much(redis: RedisClient, person: int) -> None:
    """Give a chat FACTS facts."""
    ref, me = program_ref(person), Sender(id=person, name="Dina")
    ids = await say_lines(redis, ref, me, [f"I have read book {n}" for n in range(FACTS)])
    await learn(redis, ref, *[told(me, f"Dina has read book {n}.", each) for n, each in enumerate(ids)])


async def know_an_old_thing(redis: RedisClient, person: int) -> None:
    """Give a chat a fact that rests on its first message, and many messages since."""
    ref, me = program_ref(person), Sender(id=person, name="Dina")
    first, *_ = await say_lines(redis, ref, me, ["I live in Leeds", *[f"line {n}" for n in range(300)]])
    await learn(redis, ref, told(me, "Dina lives in Leeds.", first))


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]
)
def test_facts_stand_by_subject_with_their_time_their_source_and_those_that_ended(
    program: Program,
    browser: Browser,
    tmp_path: Path,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
) -> None:
    with watched_context(browser, program, size, color_scheme=scheme) as (context, watch):
        page = context.new_page()
        open_facts(page, program, READERS[0])
        groups = page.get_by_test_id("fact-group")
        expect(groups.locator("h3")).to_have_text(["DYou", "AMAnna Marin", "bike"])
        mine = groups.first
        expect(page.get_by_test_id("facts-count")).to_have_text("5 facts")
        expect(mine.get_by_test_id("fact-text").locator("visible=true")).to_have_text(
            ["Dina lives in Porto.", "Dina plays the cello."]
        )
        porto, cello = (fact_of(page, text) for text in ("Porto", "cello"))
        expect(porto).to_contain_text("said by you")
        expect(porto).not_to_contain_text("corrected")
        expect(cello).to_contain_text("corrected")
        expect(groups.nth(1)).to_contain_text("said by Anna Marin")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "facts.png")

        page.get_by_text("No longer true").click()
        expect(fact_of(page, "Leeds")).to_be_visible()
        assert overflows(page) == []
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_message_of_a_fact_is_shown_in_the_timeline_however_old_it_is(
    program: Program, browser: Browser, size: tuple[int, int]
) -> None:
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_facts(page, program, LONG)
        fact_of(page, "Leeds").get_by_test_id("fact-message").click()

        entry = page.get_by_test_id("message").filter(has_text="I live in Leeds")
        expect(entry).to_be_focused()
        expect(entry).to_be_in_viewport()
        watch.assert_calm()


def test_a_message_that_is_forgotten_takes_its_facts_along(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        open_facts(page, program, READERS[1])
        expect(fact_of(page, "4711")).to_have_count(1)
        entry = page.get_by_test_id("message").filter(has_text="The lock opens")
        entry.hover()
        entry.get_by_test_id("forget-one").click()
        page.get_by_test_id("confirm-forget").click()
        expect(page.get_by_test_id("erasure")).to_be_visible()
        page.get_by_test_id("close-dialog").click()

        expect(fact_of(page, "4711")).to_have_count(0)
        expect(fact_of(page, "Porto")).to_have_count(1)
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_person_corrects_a_fact_in_place_and_it_stays_corrected(
    program: Program, browser: Browser, size: tuple[int, int]
) -> None:
    reader = READERS[2] if size == PHONE else READERS[3]
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_facts(page, program, reader)
        fact = fact_of(page, "Porto")
        fact.get_by_test_id("correct-fact").click()
        field = page.get_by_test_id("fact-field")
        expect(field).to_be_focused()
        field.fill("Dina lives in Lagos.")
        page.keyboard.press("Escape")
        expect(fact.get_by_test_id("correct-fact")).to_be_focused()
        expect(page.get_by_test_id("fact-text").filter(has_text="Lagos")).to_have_count(0)

        page.keyboard.press("Enter")
        field.fill("Dina lives in Faro" + "." * 400)
        assert len(field.input_value()) == 300
        field.fill("Dina lives in Faro.")
        page.keyboard.press("Enter")

        expect(fact_of(page, "Faro")).to_contain_text("corrected")
        expect(fact_of(page, "Faro").get_by_test_id("correct-fact")).to_be_focused()
        expect(page.get_by_test_id("toast")).to_contain_text("The old statement is erased")
        open_facts(page, program, reader)
        expect(fact_of(page, "Faro")).to_contain_text("corrected")
        expect(fact_of(page, "Porto")).to_have_count(0)
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_person_deletes_a_fact_and_gets_a_receipt(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    reader = READERS[4] if size == PHONE else READERS[5]
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_facts(page, program, reader)
        delete = fact_of(page, "Porto").get_by_test_id("forget-fact")
        delete.click()
        expect(page.get_by_test_id("forget-dialog")).to_contain_text("Dina lives in Porto.")
        page.get_by_test_id("close-dialog").click()
        expect(delete).to_be_focused()

        delete.click()
        page.get_by_test_id("confirm-forget").click()
        expect(page.get_by_test_id("erasure")).to_contain_text("nothing left")
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "receipt.png")
        page.get_by_test_id("close-dialog").click()

        expect(page.get_by_test_id("facts-count")).to_have_text("4 facts")
        expect(fact_of(page, "Porto")).to_have_count(0)
        assert page.evaluate("document.activeElement !== document.body")
        open_facts(page, program, reader)
        expect(page.get_by_test_id("facts-count")).to_have_text("4 facts")
        expect(page.get_by_test_id("message").filter(has_text="Porto")).to_have_count(1)
        watch.assert_calm()


def test_a_fact_that_another_window_has_deleted_is_said_to_be_gone(
    program: Program, browser: Browser
) -> None:
    with watched_context(browser, program) as (context, watch):
        first, second, third = (context.new_page() for _ in range(3))
        for page in (first, second, third):
            open_facts(page, program, READERS[6])
        fact_of(second, "Porto").get_by_test_id("forget-fact").click()
        fact_of(third, "Porto").get_by_test_id("correct-fact").click()
        fact_of(first, "Porto").get_by_test_id("forget-fact").click()
        first.get_by_test_id("confirm-forget").click()
        expect(first.get_by_test_id("erasure")).to_be_visible()

        second.get_by_test_id("confirm-forget").click()
        expect(second.get_by_test_id("forget-dialog")).to_contain_text("This fact was gone already.")
        expect(second.get_by_test_id("erasure")).to_have_count(0)
        second.get_by_test_id("close-dialog").click()
        third.get_by_test_id("fact-field").fill("Dina lives in Faro.")
        third.get_by_test_id("save-fact").click()

        expect(third.get_by_test_id("toast")).to_contain_text("This fact was gone already.")
        for page in (second, third):
            expect(page.get_by_test_id("facts-count")).to_have_text("4 facts")
            expect(fact_of(page, "Porto")).to_have_count(0)
        watch.assert_calm()


def test_facts_are_reached_by_tab_show_their_focus_and_have_names(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        open_facts(page, program, READERS[7])
        fact_of(page, "cello").get_by_test_id("correct-fact").click()
        page.get_by_text("No longer true").click()

        stops: list[str] = []
        page.keyboard.press("Tab")
        while (stop := str(page.evaluate(FOCUSED))) not in stops:
            stops.append(stop)
            page.keyboard.press("Tab")

        assert sorted(stops) == sorted(page.evaluate(REACHABLE))
        assert [stop for stop in stops if "without a ring" in stop or "without a name" in stop] == []
        watch.assert_calm()


def test_a_member_changes_only_facts_about_themselves_or_told_by_them(
    program: Program, browser: Browser
) -> None:
    link = sign_place(PagePlace(chat_id=GROUP, thread_id=None), SIMULATOR_TOKEN)
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        open_facts(page, program, BEN, link=link)
        for text, changeable in (("Porto", 1), ("bike", 1), ("nuts", 0)):
            expect(fact_of(page, text).get_by_test_id("correct-fact")).to_have_count(changeable)
            expect(fact_of(page, text).get_by_test_id("forget-fact")).to_have_count(changeable)

        other = context.new_page()
        open_facts(other, program, OLGA, link=link)  # an administrator
        expect(fact_of(other, "nuts").get_by_test_id("correct-fact")).to_have_count(1)
        expect(other.get_by_test_id("facts-off")).to_be_visible()
        watch.assert_calm()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_an_empty_list_says_how_facts_are_turned_on_or_that_messages_are_unread(
    program: Program, browser: Browser, size: tuple[int, int]
) -> None:
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        open_facts(page, program, OFF)
        expect(page.get_by_test_id("facts")).to_contain_text("Send /facts on")
        open_facts(page, program, NOTHING)
        expect(page.get_by_test_id("facts")).to_contain_text("No facts yet")
        expect(page.get_by_test_id("facts-count")).to_have_text("2 messages still unread")
        assert overflows(page) == []
        watch.assert_calm()


def test_many_facts_come_page_by_page(program: Program, browser: Browser) -> None:
    with watched_context(browser, program, PHONE) as (context, watch):
        page = context.new_page()
        open_facts(page, program, MANY)
        expect(page.get_by_test_id("fact")).to_have_count(50)
        page.get_by_test_id("correct-fact").first.click()
        page.get_by_test_id("fact-field").fill("a draft")
        more = page.get_by_test_id("more-facts")
        expect(more).to_have_text("Show more (10)")
        more.click()

        expect(page.get_by_test_id("fact")).to_have_count(FACTS)
        expect(more).to_be_hidden()
        expect(page.get_by_test_id("fact-field")).to_have_value("a draft")
        watch.assert_calm()


def open_facts(page: Page, program: Program, person: int, *, link: str = "") -> None:
    """Open the page as a person, and its facts."""
    page.goto("about:blank")
    address = page_address(program, person, name="Dina")
    page.goto(address.replace("#", f"?link={link}#") if link else address)
    switch = page.get_by_test_id("tab-facts").or_(page.get_by_test_id("side-facts"))
    switch.locator("visible=true").click()
    expect(page.get_by_test_id("facts").locator(".skeleton")).to_have_count(0)


def fact_of(page: Page, text: str) -> Locator:
    """Return the facts with this text."""
    return page.get_by_test_id("fact").filter(has_text=text)
