"""The memory page when something is wrong or large: old data, a store that is away, two windows, a long history."""

import os
import signal
from collections.abc import Generator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Page, expect

from bot.settings import SIMULATOR_TOKEN
from memory.embedded.valkey import open_valkey
from memory.history.message import Message, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient, open_redis
from tests.browser.memory_page import BEN, CHIARA, OLGA, PHONE, page_address, program_ref, watched_context
from tests.browser.program import Program, run_program

LINES = 5_000
MOST_NODES = 600
"""Messages with nodes at any time: the chunks near the reader."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run a program that knows a few lines of Ben and Olga, and many of Chiara."""
    folder = tmp_path_factory.mktemp("program")

    async def fill() -> None:
        async with open_valkey(folder / "data") as url, open_redis(url) as redis:
            await remember(redis, BEN, 5)
            await remember(redis, OLGA, 5)
            await remember(redis, CHIARA, LINES)

    with start_blocking_portal() as portal:
        portal.call(fill)
    with run_program(folder) as program:
        yield program


def test_data_that_are_older_than_an_hour_ask_to_reopen_the_page(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.goto(page_address(program, BEN, age_s=3_700))

        expect(page.get_by_test_id("state")).to_contain_text("Reopen this page from the chat")
        expect(page.get_by_test_id("message")).to_have_count(0)
        watch.assert_calm("401")


def test_data_of_another_bot_show_nothing(program: Program, browser: Browser) -> None:
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.goto(page_address(program, BEN, token=SIMULATOR_TOKEN.replace("4242", "4243")))

        expect(page.get_by_test_id("state")).to_contain_text("I could not check who you are")
        expect(page.get_by_test_id("message")).to_have_count(0)
        watch.assert_calm("401")


def test_a_message_that_two_windows_forget_gives_one_receipt_and_the_other_says_that_it_is_gone(
    program: Program, browser: Browser
) -> None:
    with watched_context(browser, program) as (context, watch):
        first, second = context.new_page(), context.new_page()
        for page in (first, second):
            page.goto(page_address(program, BEN))
            entry = page.get_by_test_id("message").filter(has_text="line 3")
            entry.hover()
            entry.get_by_test_id("forget-one").click()

        first.get_by_test_id("confirm-forget").click()
        expect(first.get_by_test_id("erasure")).to_contain_text("nothing left")
        second.get_by_test_id("confirm-forget").click()
        expect(second.get_by_test_id("forget-dialog")).to_contain_text("This message was gone already.")
        expect(second.get_by_test_id("erasure")).to_have_count(0)

        for page in (first, second):
            page.get_by_test_id("close-dialog").click()
            expect(page.get_by_test_id("message")).to_have_count(4)
        watch.assert_calm()


def test_a_page_without_its_store_says_so_and_recovers_by_itself(program: Program, browser: Browser) -> None:
    with watched_context(browser, program, PHONE) as (context, watch):
        page = context.new_page()
        page.goto(page_address(program, OLGA))
        expect(page.get_by_test_id("message")).to_have_count(5)
        store = int((program.log.parent / "data" / "valkey" / "server.lock").read_text())

        program.expected_errors.add("not_ready")
        os.kill(store, signal.SIGSTOP)
        try:
            page.reload()
            expect(page.get_by_test_id("state")).to_contain_text(
                "The memory is away for a moment", timeout=60_000
            )
            expect(page.get_by_test_id("state")).to_contain_text("I try again in")
        finally:
            os.kill(store, signal.SIGCONT)

        expect(page.get_by_test_id("message")).to_have_count(5, timeout=60_000)
        watch.assert_calm("503")


def test_a_long_history_is_read_to_its_beginning_with_few_nodes(program: Program, browser: Browser) -> None:
    with watched_context(browser, program, PHONE) as (context, watch):
        page = context.new_page()
        page.goto(page_address(program, CHIARA))
        entries = page.get_by_test_id("message")
        expect(entries.last).to_contain_text(f"line {LINES - 1}")
        assert entries.count() <= MOST_NODES

        most = read_to_the_beginning(page)

        expect(entries.first).to_contain_text("line 0")
        assert most <= MOST_NODES
        page.get_by_role("button", name="Go to the newest message").click()
        expect(entries.last).to_contain_text(f"line {LINES - 1}")
        expect(entries.last).to_be_in_viewport()
        watch.assert_calm("429")


async def remember(redis: RedisClient, person: int, lines: int) -> None:
    """Put lines of a person into their private chat."""
    said = [
        Message(
            id=message_id(person, n),
            role="user",
            text=f"line {n}",
            sent_at=1_790_000_000.0 + 600 * n,
            tokens=3,
            sender=Sender(id=person, name="Somebody"),
        )
        for n in range(lines)
    ]
    for first in range(0, lines, 500):
        await RedisHistory(redis).append(program_ref(person), said[first : first + 500], epoch=0)


def read_to_the_beginning(page: Page) -> int:
    """Scroll up until the oldest message is there. Return the most messages that had nodes after a step."""
    return page.evaluate("""async () => {
      const scroller = document.querySelector("[data-testid=timeline]");
      const count = () => scroller.querySelectorAll("[data-testid=message]").length;
      let most = count();
      while (!scroller.querySelector("[data-testid=begins]")) {
        scroller.scrollTop = -scroller.scrollHeight;
        await new Promise(requestAnimationFrame);
        most = Math.max(most, count());
      }
      scroller.scrollTop = -scroller.scrollHeight;
      await new Promise(requestAnimationFrame);
      return Math.max(most, count());
    }""")
