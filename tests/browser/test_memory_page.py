"""The memory page in a real browser with the real program: talk, look, search, read why, forget, and ask again."""

from collections.abc import Generator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.browser.memory_page import (
    DESKTOP,
    PHONE,
    newcomer,
    overflows,
    page_address,
    panel_of,
    say,
    watched_context,
)
from tests.browser.program import Program, run_program

SECRET, OTHER = "the wifi password at the cabin is heron-42", "my sister Anna brings the heron cake"
NAMES = """
  const nameOf = (node) =>
    (node.getAttribute("aria-label") ?? "") + (node.labels?.[0]?.textContent ?? "") + node.textContent.trim();
  const numbers = new Map([...document.querySelectorAll("*")].map((node, at) => [node, at]));
  const describe = (node) => `${numbers.get(node)} ${node.tagName} ${nameOf(node) || "without a name"}`;
"""
FOCUSED = f"""() => {{ {NAMES}
  const node = document.activeElement;
  // The field of the search has its ring around the form.
  const ringed = [node, ...(node.form ? [node.form] : [])].map((each) => getComputedStyle(each));
  const hasRing = ringed.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none");
  return node === document.body ? "body" : describe(node) + (hasRing ? "" : " without a ring");
}}"""
REACHABLE = f"""() => {{ {NAMES}
  const nodes = [...document.querySelectorAll("button, a[href], input, textarea, summary, [tabindex='0']")];
  const isShown = (node) => node.checkVisibility({{ visibilityProperty: true }}) && !node.disabled;
  return ["body", ...nodes.filter(isShown).map(describe)];
}}"""
ASKED = "what is the wifi password at the cabin?"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run one program for the module. Each test has people of its own."""
    with run_program(tmp_path_factory.mktemp("program")) as program:
        yield program


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]
)
def test_a_person_talks_looks_searches_forgets_two_messages_and_the_bot_does_not_know_any_more(
    program: Program,
    browser: Browser,
    tmp_path: Path,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
) -> None:
    person = newcomer(program)
    with watched_context(browser, program, size, color_scheme=scheme) as (context, watch):
        page = context.new_page()
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        said = program.metric("mnemogram_indexed_messages_total")
        for line in (SECRET, OTHER):
            say(page, line)
        expect(say(page, ASKED)).to_contain_text("heron-42")
        program.wait_until(lambda: program.metric("mnemogram_indexed_messages_total") >= said + 6)
        say(page, "/memory")
        page.get_by_test_id("inline-button").last.click()
        memory = panel_of(page)
        expect(memory.get_by_test_id("message")).to_have_count(6)
        look(page, tmp_path / "timeline.png")

        memory.get_by_test_id("search").fill("cabin password")
        hit = memory.get_by_test_id("hit").filter(has_text=SECRET).first
        expect(hit.get_by_test_id("reasons")).to_contain_text("word")
        look(page, tmp_path / "search.png")
        found = hit.get_attribute("data-id")
        hit.get_by_test_id("open-hit").click()
        expect(memory.locator(f"[data-testid=message][data-id='{found}']")).to_be_focused()

        memory.get_by_test_id("why-button").last.click()
        receipt = memory.get_by_test_id("receipt").last
        expect(receipt).to_contain_text("Model")
        look(page, tmp_path / "receipt.png")

        forget(memory, SECRET, "heron-42")
        expect(memory.get_by_test_id("erasure")).to_contain_text("2 of my answers used them")
        memory.get_by_test_id("forget-answers").click()
        expect(memory.get_by_test_id("erasure")).to_contain_text("nothing is left")
        look(page, tmp_path / "erasure.png")
        memory.get_by_test_id("close-dialog").click()
        expect(memory.get_by_test_id("message").filter(has_text="heron-42")).to_have_count(0)
        expect(memory.get_by_test_id("message").filter(has_text=OTHER)).to_have_count(1)

        page.get_by_test_id("mini-app-close").click()
        expect(say(page, ASKED)).not_to_contain_text("heron-42")
        watch.assert_calm()


def test_everything_is_reached_by_tab_shows_its_focus_and_has_a_name(
    program: Program, browser: Browser
) -> None:
    person = newcomer(program)
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        say(page, SECRET)
        page.goto(page_address(program, person))
        expect(page.get_by_test_id("message")).to_have_count(2)
        expect(page.get_by_text("No long documents or results of tools are kept.")).to_be_visible()

        stops: list[str] = []
        page.keyboard.press("Tab")
        while (stop := str(page.evaluate(FOCUSED))) not in stops:
            stops.append(stop)
            page.keyboard.press("Tab")

        assert sorted(stops) == sorted(page.evaluate(REACHABLE))
        assert [stop for stop in stops if "without a ring" in stop or "without a name" in stop] == []
        watch.assert_calm()


def test_a_dialog_keeps_the_focus_and_gives_it_back(program: Program, browser: Browser) -> None:
    person = newcomer(program)
    with watched_context(browser, program) as (context, watch):
        page = context.new_page()
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        say(page, SECRET)
        page.goto(page_address(program, person))
        opener = page.get_by_test_id("forget-one").first
        opener.focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Forget this message?")
        expect(dialog).to_be_visible()

        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
            )
        page.keyboard.press("Escape")

        expect(dialog).to_have_count(0)
        expect(opener).to_be_focused()
        watch.assert_calm()


def forget(memory: FrameLocator, *texts: str) -> None:
    """Select the messages that contain one of the texts, and confirm that they should be forgotten."""
    memory.get_by_test_id("select").click()
    picked = 0
    for entry in memory.get_by_test_id("message").all():
        if any(text in entry.inner_text() for text in texts):
            entry.get_by_test_id("pick").check()
            picked += 1
    assert picked == 2
    memory.get_by_test_id("forget-selected").click()
    memory.get_by_test_id("confirm-forget").click()


def look(page: Page, path: Path) -> None:
    """Check that the memory page in the panel does not overflow, and keep a picture of the window."""
    assert overflows(page.frames[-1]) == []
    page.screenshot(path=path)
