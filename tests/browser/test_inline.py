"""Inline mode on the chat page, with the real program as `make run` starts it."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.program import DEADLINE_S, run_program

BEN, GROUP = 1002, -2001


def test_a_result_above_the_field_is_chosen_and_answered_in_place(browser: Browser, tmp_path: Path) -> None:
    with run_program(tmp_path, INLINE="true") as program:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{program.chat_page}/#/{BEN}/{GROUP}")
        page.get_by_test_id("composer-input").fill("@mnemogram_bot echo tulips")
        result = page.get_by_test_id("suggestion-option")

        expect(result).to_contain_text("Ask @mnemogram_bot", timeout=DEADLINE_S * 1000)
        page.screenshot(path=tmp_path / "result.png")
        result.click()

        sent = page.get_by_test_id("message")
        expect(sent.get_by_test_id("via")).to_have_text("via @mnemogram_bot")
        expect(sent.get_by_test_id("inline-button")).to_have_count(0, timeout=DEADLINE_S * 1000)
        expect(sent).to_have_count(1)
        expect(sent.get_by_test_id("message-text").locator("blockquote")).to_have_text("echo tulips")
        expect(sent.get_by_test_id("message-text")).to_contain_text("tulips")
        expect(page.get_by_test_id("composer-input")).to_have_value("")
        page.screenshot(path=tmp_path / "answered.png")
