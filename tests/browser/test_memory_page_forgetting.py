"""The memory page in a real browser: it forgets answers that used a message, and tells whose words are whose."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.memory_page import (
    DESKTOP,
    OLGA,
    PHONE,
    newcomer,
    overflows,
    page_address,
    say,
    watched_context,
)
from tests.browser.program import Program, run_program

SECRET, OTHER = "the wifi password at the cabin is heron-42", "my sister Anna brings the cake"
ASKED = "what is the wifi password at the cabin?"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """Run one program for the module. Each test has people of its own."""
    with run_program(tmp_path_factory.mktemp("program")) as program:
        yield program


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_answers_that_used_a_message_are_forgotten_with_a_second_button(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    person = newcomer(program)
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        for line in (OTHER, SECRET):
            say(page, line)
        expect(say(page, ASKED)).to_contain_text("heron-42")
        page.goto(page_address(program, person))
        shown = page.get_by_test_id("message")
        expect(shown).to_have_count(6)

        own = shown.filter(has=page.get_by_text(SECRET, exact=True))
        own.focus()
        own.get_by_test_id("forget-one").click()
        page.get_by_test_id("confirm-forget").click()

        erasure = page.get_by_test_id("erasure")
        expect(erasure).to_contain_text("2 of my answers used it and may repeat it")
        expect(erasure).not_to_contain_text("nothing is left")
        look(page, tmp_path / "used.png")
        page.get_by_role("button", name="Forget them too").click()
        expect(erasure).to_contain_text("nothing is left")
        expect(erasure).to_contain_text("2 messages")
        expect(page.get_by_test_id("forget-answers")).to_have_count(0)
        look(page, tmp_path / "left.png")
        page.get_by_test_id("close-dialog").click()
        expect(shown).to_have_count(3)
        expect(shown.filter(has_text="heron-42")).to_have_count(0)
        watch.assert_calm()
    kept = [message["text"] for message in program.history(person)]
    assert (kept[0], kept[2], len(kept)) == (OTHER, ASKED, 3)


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_the_page_tells_whose_words_a_message_has(
    program: Program, browser: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    person = newcomer(program)
    group = post(program, "chats", title="Walks", type="group", members=[OLGA, person], has_bot=False)["id"]
    written = post(program, "messages", chat_id=group, from_id=OLGA, text="I live in Zurich")
    with watched_context(browser, program, size) as (context, watch):
        page = context.new_page()
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        say(page, "I live in Porto")
        place = {"chat_id": person, "from_id": person}
        from_chat = {"from_chat_id": group, "message_ids": [written["message_id"]]}
        post(program, "forwards", **place, **from_chat, origin="user")
        program.wait_until(lambda: len(program.history(person)) == 4)
        page.goto(page_address(program, person))
        shown = page.get_by_test_id("message")
        expect(shown).to_have_count(4)

        forwarded = shown.filter(has_text="I live in Zurich").first
        expect(forwarded.get_by_test_id("origin")).to_contain_text("Forwarded from Olga")
        own = shown.filter(has_text="I live in Porto").first
        expect(own.get_by_test_id("origin")).to_have_count(0)
        look(page, tmp_path / "timeline.png")
        forwarded.focus()
        forwarded.get_by_test_id("forget-one").click()
        dialog = page.get_by_role("dialog", name="Forget this message?")
        expect(dialog.get_by_test_id("origin")).to_contain_text("Forwarded from Olga")
        look(page, tmp_path / "dialog.png")
        watch.assert_calm()


def post(program: Program, path: str, **body: Any) -> dict[str, Any]:
    """Do something as a person of the simulator, on another device than the page."""
    answer = httpx.post(f"{program.chat_page}/api/{path}", json=body, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def look(page: Page, path: Path) -> None:
    """Check that nothing overflows, and keep a picture of the window."""
    assert overflows(page) == []
    page.screenshot(path=path)
