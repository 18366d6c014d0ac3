"""The first story, told in a real browser to the real program as `make run` starts it: far memory comes by recall."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bot.settings import Settings

DEADLINE_S = 60.0
BEN, CHIARA = 1002, 1003
TOLD, ASKED = "my sister Anna lives in Lisbon", "where does Anna live?"
WINDOW_MESSAGES = 50
UNRELATED = [
    f"note {n}: the paint on shelf {n} dries in {n + 2} hours" for n in range(1, WINDOW_MESSAGES + 1)
]

_CONSOLE = Path(sys.executable).with_name("mnemogram")
_ENDS_WITHIN_S = 20.0
_SETTINGS = frozenset(name.upper() for name in Settings.model_fields)


@dataclass(slots=True, kw_only=True)
class Program:
    """The running program, seen from outside: its log, its metrics, its console."""

    process: subprocess.Popen[bytes]
    log: Path
    environment: dict[str, str]

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Return once it holds; fails after DEADLINE_S, and when the program ends by itself."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, "it did not come true in time"
            with suppress(subprocess.TimeoutExpired):
                status = self.process.wait(0.05)
                raise AssertionError(f"the program ended with {status}: {self.log.read_text()}")

    def entries(self) -> list[dict[str, Any]]:
        """The log's entries, oldest first; a line that is still being written is left out."""
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def events(self, name: str) -> list[dict[str, Any]]:
        """The entries of that name."""
        return [entry for entry in self.entries() if entry["event"] == name]

    @property
    def chat_page(self) -> str:
        return str(self.events("simulator_ready")[0]["chat_page"])

    def metric(self, sample: str) -> float:
        """The value of one sample, written as the metrics page writes it; 0 before it is there."""
        page = httpx.get(f"{self.events('listening')[0]['at']}/metrics", trust_env=False).text
        found = re.search(rf"^{re.escape(sample)} (\S+)$", page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def history(self, chat_id: int) -> list[dict[str, Any]]:
        """Every message kept of a chat, oldest first, as `mnemogram history` prints it."""
        asked = [str(_CONSOLE), "history", str(chat_id), "--limit", "0", "--json"]
        printed = subprocess.run(
            asked, env=self.environment, cwd=self.log.parent, capture_output=True, check=True
        )
        return json.loads(printed.stdout)["shown"]


@pytest.fixture
def program(tmp_path: Path) -> Generator[Program]:
    """`mnemogram run` without a token and without a key, on ports of its own and an empty DATA_DIR.

    At the end it is asked to stop: it must do so in time, as a success, and with no error in its log.
    """
    log = tmp_path / "log"
    # Without a summarizer the prompt has the newest 50 messages; with one, all of these would stand in it.
    settings = {"DATA_DIR": "data", "HTTP_PORT": "0", "SIMULATOR_PORT": "0", "LOG_FORMAT": "json"}
    settings["OPENAI_SUMMARY_MODEL"] = ""
    environment = {name: value for name, value in os.environ.items() if name not in _SETTINGS} | settings
    with log.open("wb") as stderr:
        process = subprocess.Popen([str(_CONSOLE), "run"], env=environment, cwd=tmp_path, stderr=stderr)
    program = Program(process=process, log=log, environment=environment)
    try:
        program.wait_until(lambda: program.events("ready"))
        yield program
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(_ENDS_WITHIN_S)
        finally:
            process.kill()
    assert status == 0
    assert [entry for entry in program.entries() if entry["level"] in {"error", "critical"}] == []
    assert "Traceback" not in log.read_text()


def test_what_has_left_the_window_is_recalled_and_only_in_its_own_chat(
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
    expect(answer).to_contain_text(f"Lisbon. You told me: “{TOLD}”", timeout=DEADLINE_S * 1000)
    page.screenshot(path=tmp_path / "recalled.png")
    told_id = next(message["id"] for message in program.history(BEN) if message["text"] == TOLD)
    recalled = program.events("recalled")[-1]
    assert told_id not in before[-WINDOW_MESSAGES:]
    assert (recalled["chat"], recalled["messages"][0]) == (BEN, told_id)
    assert TOLD not in program.log.read_text()

    page.goto(f"{program.chat_page}/#/{CHIARA}/{CHIARA}")
    send(page, ASKED)

    expect(bubbles(page)).to_have_count(2, timeout=DEADLINE_S * 1000)
    expect(bubbles(page).last).to_contain_text("I do not know that")
    assert program.events("recalled")[-1] | {"chat": CHIARA, "count": 0} == program.events("recalled")[-1]


def send(page: Page, text: str) -> None:
    page.get_by_test_id("composer-input").fill(text)
    page.keyboard.press("Enter")


def bubbles(page: Page) -> Locator:
    return page.get_by_test_id("message")


def answered(program: Program) -> float:
    return program.metric('mnemogram_updates_finished_total{state="answered"}')
