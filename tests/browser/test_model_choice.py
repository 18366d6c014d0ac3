"""/model in a real browser, with the real program: a pressed button changes the window and price of the next prompt."""

import re
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser.memory_page import newcomer, panel_of, say, watched_context
from tests.browser.program import run_program

DEFAULT, OTHER = "gpt-5.4-mini", "small"
MODELS = f"{DEFAULT}:1000000:0,{OTHER}:3000000:0:6000"
"""An answer costs 1 a token that the default reads, and 3 a token that the other reads."""
ROOMS = {DEFAULT: 267_904, OTHER: 4_500}
"""The window without the room for the answer."""


def test_a_pressed_model_gives_the_next_prompt_its_window_and_its_price(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        run_program(tmp_path, MODELS=MODELS, OPENAI_MODEL=DEFAULT) as program,
        watched_context(browser, program, locale="en-US") as (context, watch),
    ):
        page, person = context.new_page(), newcomer(program)
        page.goto(f"{program.chat_page}/#/{person}/{person}")
        say(page, "one")
        shown = say(page, "/model")
        buttons = shown.get_by_test_id("inline-button")
        expect(buttons).to_have_text([f"✓ {DEFAULT}", OTHER])

        buttons.last.click()

        expect(buttons).to_have_text([DEFAULT, f"✓ {OTHER}"])
        page.screenshot(path=tmp_path / "chosen.png")
        say(page, "two")
        say(page, "/memory")
        page.get_by_test_id("inline-button").last.click()
        memory = panel_of(page)
        expect(memory.get_by_test_id("message")).to_have_count(4)
        for at, (model, price) in enumerate(((DEFAULT, 1), (OTHER, 3))):
            receipt = open_receipt(memory, at)
            read = re.search(rf"{model} · ([\d,]+) tokens read", receipt)
            cost = re.search(r"Cost\s*([\d,]+)", receipt)
            assert read, receipt
            assert cost, receipt
            assert as_number(cost[1]) == price * as_number(read[1])
            assert f"of {ROOMS[model]:,} tokens" in receipt
        page.screenshot(path=tmp_path / "receipts.png")
        watch.assert_calm()


def open_receipt(memory: FrameLocator, at: int) -> str:
    """Open the receipt of an answer of the timeline and return its text."""
    memory.get_by_test_id("why-button").nth(at).click()
    receipt = memory.get_by_test_id("receipt").nth(at)
    expect(receipt).to_contain_text("Cost")
    return receipt.inner_text()


def as_number(text: str) -> int:
    return int(text.replace(",", ""))
