"""Hostile texts in every place of the memory page and of the operators' page: shown as text, and nothing runs."""

from collections.abc import Generator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Page, expect

from memory.embedded.valkey import open_valkey
from memory.history.fact import LONGEST_STATEMENT
from memory.redis.client import open_redis
from tests.browser.hostile_texts import EMOJI, PAYLOADS, RIGHT_TO_LEFT, fill_hostile_memory
from tests.browser.memory_page import DESKTOP, OLGA, PHONE, overflows, page_address, watched_context
from tests.browser.program import Program, run_program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run a program whose memory was hostile before it started."""
    folder = tmp_path_factory.mktemp("program")

    async def fill() -> None:
        async with open_valkey(folder / "data") as url, open_redis(url) as redis:
            await fill_hostile_memory(redis, OLGA)

    with start_blocking_portal() as portal:
        portal.call(fill)
    with run_program(folder) as program:
        program.wait_until(lambda: program.events("reindex_switched"))
        yield program


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_hostile_texts_are_shown_as_text_run_nothing_and_break_no_layout(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        page.goto(page_address(program, OLGA, name=PAYLOADS[7]))
        expect(page.get_by_test_id("message").first).to_be_visible()

        read_to_the_beginning(page)
        page.screenshot(path=tmp_path / "timeline.png")
        shown = page.get_by_test_id("text").all_text_contents()
        assert {*PAYLOADS, EMOJI, RIGHT_TO_LEFT} <= set(shown)
        assert overflows(page) == []
        for answer in page.get_by_test_id("why-button").all():
            answer.click()
        expect(page.get_by_test_id("receipt").get_by_test_id("memory")).to_have_count(len(PAYLOADS) + 5)
        expect(page.get_by_test_id("receipt").get_by_test_id("used-fact")).to_have_count(len(PAYLOADS) + 5)
        memories = page.get_by_test_id("memory").filter(has=page.get_by_test_id("origin"))
        expect(memories).to_have_count(len(PAYLOADS) + 5)
        page.screenshot(path=tmp_path / "receipts.png")
        assert overflows(page) == []

        for payload in (PAYLOADS[7], PAYLOADS[0], "script attack evil example"):
            page.get_by_test_id("search").fill(payload)
            page.keyboard.press("Enter")
            expect(page.get_by_test_id("hit").first).to_be_visible()
            assert page.get_by_test_id("hit").first.get_by_test_id("origin").count() == 1
            assert overflows(page) == []
        page.get_by_test_id("search").fill("")
        page.get_by_test_id("select").click()
        for box in page.get_by_test_id("pick").all()[:5]:
            box.check()
        page.get_by_test_id("forget-selected").click()
        assert overflows(page) == []
        page.get_by_test_id("close-dialog").click()
        page.get_by_test_id("cancel-selection").click()

        if size == PHONE:  # a wide window shows the overview beside
            page.get_by_test_id("title").click()
        expect(page.get_by_test_id("artifact")).to_have_count(len(PAYLOADS) + 5)
        expect(page.get_by_test_id("summary")).to_contain_text(PAYLOADS[0])
        expect(page.get_by_test_id("context")).to_have_count(len(PAYLOADS) + 6)
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "overview.png")

        page.get_by_test_id("tab-facts" if size == PHONE else "side-facts").click()
        statements = page.get_by_test_id("fact-text")
        expect(statements).to_have_count(len(PAYLOADS) + 5)
        assert {text[:LONGEST_STATEMENT] for text in (*PAYLOADS, EMOJI, RIGHT_TO_LEFT)} <= set(
            statements.all_text_contents()
        )
        assert overflows(page) == []
        for _ in range(len(PAYLOADS) + 5):
            page.get_by_test_id("correct-fact").first.click()
        assert overflows(page) == []
        page.screenshot(path=tmp_path / "facts.png")
        for _ in range(len(PAYLOADS) + 5):
            page.get_by_test_id("cancel-fact").first.click()
        for delete in page.get_by_test_id("forget-fact").all():
            delete.click()
            assert overflows(page) == []
            page.get_by_test_id("close-dialog").click()
        watch.assert_calm()


def test_the_watch_notices_what_runs_and_what_the_policy_forbids(program: Program, browser: Browser) -> None:
    with pytest.raises(AssertionError), watched_context(browser, program) as (context, watch):  # noqa: PT012
        page = context.new_page()
        page.goto(page_address(program, OLGA))
        page.evaluate(
            "document.body.append(document.createRange().createContextualFragment(`<img src=x onerror=attack()>`))"
        )
        page.wait_for_function("document.images.length === 1")
        page.evaluate("attack('by a script that is allowed')")
        assert watch.attacks == ["ran by a script that is allowed"]
        assert any(line.startswith("script-src-attr inline") for line in watch.violations)


def read_to_the_beginning(page: Page) -> None:
    """Scroll the timeline up until the oldest message is there."""
    begins = page.get_by_test_id("begins")
    while not begins.is_visible():
        page.get_by_test_id("timeline").evaluate("(box) => (box.scrollTop = -box.scrollHeight)")
        page.wait_for_function("() => !document.querySelector('.timeline .spinner')")
