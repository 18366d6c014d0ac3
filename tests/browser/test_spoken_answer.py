"""A spoken answer in a real browser, with the real program: the chat page plays it and shows its text."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.program import DEADLINE_S, run_model, run_program
from tests.scripted_script import echo

BEN = 1002


def test_the_page_plays_a_spoken_answer_and_shows_its_text(browser: Browser, tmp_path: Path) -> None:
    with run_model(echo) as model:
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_SPEECH_MODEL": "scripted-speech",
            "OPENAI_EMBEDDING_MODEL": "",
            "VOICE_REPLIES": "always",
        }
        with run_program(tmp_path, **settings) as program:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")
            page.get_by_test_id("composer-input").fill("one two three four five six seven eight")
            page.keyboard.press("Enter")

            voice = page.get_by_test_id("media-voice")
            expect(voice).to_have_count(1, timeout=DEADLINE_S * 1000)
            expect(page.get_by_test_id("message").last).to_contain_text("echo: one two")
            player = voice.locator("audio")
            expect(player).to_have_js_property("error", None)
            player.evaluate("audio => audio.play()")
            assert player.evaluate("audio => audio.duration") > 0
            page.screenshot(path=tmp_path / "voice.png")
        assert model.invalid_requests == []
