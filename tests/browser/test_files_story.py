"""A table and a picture that a tool has made, in a real browser with the real program and a scripted model."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.program import DEADLINE_S, run_model, run_program
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest
from tests.sent_files import make_picture

BEN = 1002
AGENT = """
[agent]
prompt = "You keep the books."
tools = ["books_tools:books"]
"""
TOOLS = f'''
from bot.agent.files import File


def books() -> list[File]:
    """The books as a table, a picture and a chart."""
    chart = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    return [
        File.table("books.csv", [("title", "pages"), ("Emma", 474)]),
        File("plot.png", {make_picture(320, 200)!r}),
        File("chart.svg", chart),
    ]
'''


def answer(request: ChatRequest) -> Reply:
    """Call the tool, then answer."""
    is_made = request["messages"][-1]["role"] == "tool"
    return text("Here are the books.") if is_made else calls(call("books"))


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_page_shows_the_picture_and_the_files(
    browser: Browser, tmp_path: Path, width: int, height: int
) -> None:
    (tmp_path / "agents.toml").write_text(AGENT)
    (tmp_path / "books_tools.py").write_text(TOOLS)
    with run_model(answer) as model:
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_EMBEDDING_MODEL": "",
        }
        agents = str(tmp_path / "agents.toml")
        with run_program(tmp_path, AGENTS_FILE=agents, **settings) as program:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(f"{program.chat_page}/#/{BEN}/{BEN}")
            page.get_by_test_id("composer-input").fill("the books, please")
            page.get_by_test_id("composer-input").press("Enter")

            files = page.get_by_test_id("media-document")
            expect(files).to_have_count(2, timeout=DEADLINE_S * 1000)
            expect(files.nth(0)).to_contain_text("books.csv")
            expect(files.nth(1)).to_contain_text("chart.svg")
            photo = page.get_by_test_id("media-photo").locator("img")
            expect(photo).to_have_js_property("naturalWidth", 320)
            with page.expect_download() as downloading:
                files.nth(0).get_by_role("link").click()
            assert Path(downloading.value.path()).read_bytes() == b"title,pages\r\nEmma,474\r\n"
            page.screenshot(path=tmp_path / "files.png")
            assert model.invalid_requests == []
            page.close()
