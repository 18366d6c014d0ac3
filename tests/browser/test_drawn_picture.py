"""A drawn picture in a real browser, with the real program: the chat page shows it with its prompt."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.program import DEADLINE_S, run_model, run_program
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest

BEN = 1002
PROMPT = (
    "A red cat sleeps on a warm tin roof at dusk, with the lights of a harbour behind it, in watercolours"
)


def answer(request: ChatRequest) -> Reply:
    """Call the tool, then answer."""
    is_made = request["messages"][-1]["role"] == "tool"
    return text("Here it is.") if is_made else calls(call("draw", {"prompt": PROMPT}))


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_page_shows_the_picture_and_its_prompt(
    browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    with run_model(answer) as model:
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_IMAGE_MODEL": "scripted-images:0.04",
            "OPENAI_EMBEDDING_MODEL": "",
        }
        with run_program(tmp_path, **settings) as program:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")
            page.get_by_test_id("composer-input").fill("draw a red cat")
            page.get_by_test_id("composer-input").press("Enter")

            photo = page.get_by_test_id("media-photo").locator("img")
            expect(photo).to_have_js_property("naturalWidth", 320, timeout=DEADLINE_S * 1000)
            expect(page.get_by_test_id("message").last.locator("blockquote")).to_contain_text("A red cat")
            page.screenshot(path=tmp_path / "picture.png")
            assert model.invalid_requests == []
            page.close()
