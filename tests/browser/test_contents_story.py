"""Streaming, Stop, a photo and a voice message, in a real browser with the real program and a scripted model."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.browser.program import DEADLINE_S, Program, run_model, run_program
from tests.scripted_openai import ScriptedOpenAI
from tests.scripted_replies import Reply, slow, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.scripted_transcriptions import Transcriptions
from tests.sent_files import make_picture

BEN, GROUP = 1002, -2001
TALE = " ".join(
    f"On day **{day}** the keeper of the lamp writes a *long* line in the book." for day in range(1, 41)
)
SAID = "please water the tomatoes on Friday"
SEEN = "A grey picture, 320 pixels wide."
PICTURE: FilePayload = {"name": "grey.png", "mimeType": "image/png", "buffer": make_picture(320, 200)}


def answer(request: ChatRequest) -> Reply:
    """Answer with a long tale word by word, a description of the picture, or the last message."""
    parts = request["messages"][-1]["content"]
    if isinstance(parts, list):
        return text(SEEN)
    said = last_user_text(request)
    return slow(TALE, chunk_delay_s=0.05) if "tale" in said else text(f"I heard: {said}")


@pytest.fixture
def model() -> Generator[ScriptedOpenAI]:
    with run_model(answer) as model:
        model.transcriptions = Transcriptions(text=SAID)
        yield model


@pytest.fixture
def program(model: ScriptedOpenAI, tmp_path: Path) -> Generator[Program]:
    settings = {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_VISION": "true",
        "OPENAI_TRANSCRIPTION_MODEL": "scripted-hearing",
        "OPENAI_EMBEDDING_MODEL": "",
    }
    with run_program(tmp_path, **settings) as program:
        yield program


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_an_answer_grows_on_the_page_and_keeps_its_text_when_stopped(
    program: Program, browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")

    send(page, "tell me a tale")

    draft = page.get_by_test_id("draft")
    expect(draft).to_contain_text("On day 1 the keeper", timeout=DEADLINE_S * 1000)
    expect(draft).to_contain_text("On day 3", timeout=DEADLINE_S * 1000)
    assert "**" not in draft.inner_text()
    stop = page.get_by_test_id("inline-button")
    expect(stop).to_be_visible(timeout=DEADLINE_S * 1000)
    page.screenshot(path=tmp_path / "streaming.png")
    stop.click()

    expect(draft).to_have_count(0, timeout=DEADLINE_S * 1000)
    expect(stop).to_have_count(0)
    kept = bubbles(page).last
    expect(kept).to_contain_text("On day 3")
    assert "On day 40" not in kept.inner_text()
    remembered = program.history(BEN)[-1]["text"]
    assert remembered.startswith("On day **1**")
    assert "On day **40**" not in remembered


def test_in_a_group_the_answer_grows_in_its_message(program: Program, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{program.chat_page}/#/{BEN}/{GROUP}")

    send(page, "@mnemogram_bot tell me a tale")

    growing = bubbles(page).nth(1)
    expect(growing).to_contain_text("On day 1", timeout=DEADLINE_S * 1000)
    expect(growing).not_to_contain_text("On day 40")
    expect(growing).to_contain_text("On day 40", timeout=DEADLINE_S * 1000)
    expect(page.get_by_test_id("inline-button")).to_have_count(0)
    expect(bubbles(page)).to_have_count(2)


def test_the_model_sees_a_photo_and_hears_a_voice_message(
    program: Program, model: ScriptedOpenAI, browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, permissions=["microphone"])
    page = context.new_page()
    page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")

    page.get_by_test_id("choose-photo").set_input_files([PICTURE])
    send(page, "what is this?")
    expect(bubbles(page).last).to_contain_text(SEEN, timeout=DEADLINE_S * 1000)
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("recording").get_by_role("timer")).to_have_text("0:01")
    page.get_by_test_id("record-send").click()

    expect(bubbles(page)).to_have_count(4, timeout=DEADLINE_S * 1000)
    expect(bubbles(page).last).to_contain_text(SAID)
    expect(page.get_by_test_id("media-photo").locator("img")).to_have_js_property("naturalWidth", 320)
    page.screenshot(path=tmp_path / "contents.png")
    assert [recording.model for recording in model.recordings] == ["scripted-hearing"]
    assert model.invalid_requests == []
    told = [message["text"] for message in program.history(BEN)]
    assert "what is this?" in told[0]
    assert SAID in " ".join(told)
    context.close()


def send(page: Page, line: str) -> None:
    page.get_by_test_id("composer-input").fill(line)
    page.keyboard.press("Enter")


def bubbles(page: Page) -> Locator:
    return page.get_by_test_id("message")
