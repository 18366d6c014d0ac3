"""The first story in a real browser, with the real program as `make run` starts it."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.program import DEADLINE_S, Program, run_program

OLGA, BEN, CHIARA = 1001, 1002, 1003
GROUP = -2001
TOLD, ASKED = "my sister Anna lives in Lisbon", "where does Anna live?"
WINDOW_MESSAGES = 50
UNRELATED = [
    f"note {n}: the paint on shelf {n} dries in {n + 2} hours" for n in range(1, WINDOW_MESSAGES + 1)
]


@pytest.fixture
def program(tmp_path: Path) -> Generator[Program]:
    """Run the program without a key: the offline model answers."""
    with run_program(tmp_path) as program:
        yield program


def test_a_message_outside_the_window_is_recalled_only_in_its_own_chat(
    program: Program, browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")

    send(page, TOLD)
    expect(bubbles(page)).to_have_count(2, timeout=DEADLINE_S * 1000)
    for line in UNRELATED:
        send(page, line)
    said = 1 + len(UNRELATED)
    program.wait_until(lambda: answered(program) == said)
    program.wait_until(lambda: program.metric("mnemogram_indexed_messages_total") > said)
    before = [message["id"] for message in program.history(BEN)]
    send(page, ASKED)

    answer = bubbles(page).last
    expect(answer).to_contain_text(f": “{TOLD}”.", timeout=DEADLINE_S * 1000)
    page.screenshot(path=tmp_path / "recalled.png")
    told_id = next(message["id"] for message in program.history(BEN) if message["text"] == TOLD)
    assert told_id not in before[-WINDOW_MESSAGES:]
    assert program.recalled(BEN) > 0
    assert TOLD not in program.log.read_text()

    page.goto(f"{program.chat_page}/#/{CHIARA}/{CHIARA}")
    send(page, ASKED)

    expect(bubbles(page)).to_have_count(2, timeout=DEADLINE_S * 1000)
    expect(bubbles(page).last).to_contain_text("I can't find that in this chat")
    assert program.recalled(CHIARA) == 0


def test_open_memory_shows_a_person_their_own_messages_only(program: Program, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")
    send(page, TOLD)
    expect(bubbles(page)).to_have_count(2, timeout=DEADLINE_S * 1000)

    page.get_by_test_id("open-app").click()

    memory = page.frame_locator("[data-testid=mini-app-frame]")
    expect(memory.get_by_test_id("message").first).to_contain_text(TOLD)
    expect(memory.get_by_test_id("message")).to_have_count(2)

    page.goto(f"{program.chat_page}/#/{CHIARA}/{CHIARA}")
    page.get_by_test_id("open-app").click()
    expect(memory.get_by_test_id("state")).to_be_visible()
    expect(memory.get_by_test_id("message")).to_have_count(0)


def test_the_link_in_a_group_shows_its_memory_to_administrators_and_to_nobody_else(
    program: Program, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{program.chat_page}/#/{OLGA}/{GROUP}")
    send(page, f"@mnemogram_bot {TOLD}")
    expect(bubbles(page)).to_have_count(2, timeout=DEADLINE_S * 1000)
    send(page, "/memory@mnemogram_bot")
    button = page.get_by_test_id("inline-button")

    button.click(timeout=DEADLINE_S * 1000)

    memory = page.frame_locator("[data-testid=mini-app-frame]")
    expect(memory.get_by_test_id("message").first).to_contain_text(TOLD)

    page.goto(f"{program.chat_page}/#/{BEN}/{GROUP}")
    button.click()
    expect(memory.get_by_test_id("state")).to_be_visible()
    expect(memory.get_by_test_id("message")).to_have_count(0)


def send(page: Page, text: str) -> None:
    page.get_by_test_id("composer-input").fill(text)
    page.keyboard.press("Enter")


def bubbles(page: Page) -> Locator:
    return page.get_by_test_id("message")


def answered(program: Program) -> float:
    return program.metric('mnemogram_updates_finished_total{state="answered"}')
