"""Fixtures of the browser tests: headless Chromium, and a real simulator on a free port for each test."""

import asyncio
import shutil
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from simulator.api.config import SimulatorConfig
from simulator.service import serve
from tests.browser.static_files import serve_static

DEADLINE_S = 10.0
_CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    # A microphone that beeps, for those who are granted one.
    "--use-fake-device-for-media-stream",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSite:
    """A running simulator. Tests use the page's API and the Bot API over HTTP."""

    url: str
    token: str

    def call(self, method: str, **params: Any) -> Any:
        """Call the Bot API as a bot does. The test fails if the answer is not ok."""
        answer = httpx.post(f"{self.url}/bot{self.token}/{method}", json=params, timeout=DEADLINE_S)
        body = answer.json()
        assert body["ok"], body
        return body["result"]

    def post(self, path: str, **body: Any) -> Any:
        answer = httpx.post(f"{self.url}/api/{path}", json=body, timeout=DEADLINE_S)
        answer.raise_for_status()
        return answer.json()

    def say(self, chat_id: int, person_id: int, text: str, **more: Any) -> Any:
        """Send a line from another device than the page."""
        return self.post("messages", chat_id=chat_id, from_id=person_id, text=text, **more)

    def messages(self, chat_id: int) -> list[Any]:
        """Return the messages of people and the bot in a chat, oldest first."""
        world = httpx.get(f"{self.url}/api/world", timeout=DEADLINE_S).json()
        return [one for one in world["messages"] if one["chat"]["id"] == chat_id and "text" in one]


@dataclass(slots=True, kw_only=True)
class Window:
    """One browser window on the chat page, with the errors that occurred in it."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])

    @property
    def overflows(self) -> bool:
        """Return True if the page or the list of messages scrolls sideways."""
        return bool(
            self.page.evaluate(
                "[document.documentElement, document.body, ...document.querySelectorAll('.scroller, .chat-list')]"
                ".some((node) => node.scrollWidth > node.clientWidth)"
            )
        )


OpenWindow = Callable[..., Window]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Open one browser for a module.

    While it runs, this thread has a running event loop, and async tests of other modules fail with one.
    """
    with sync_playwright() as playwright:
        expect.set_options(timeout=3 * DEADLINE_S * 1000)  # a loaded machine is slow, not wrong
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=list(_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def site() -> Iterator[SimulatorSite]:
    with run_simulator(SimulatorConfig(notice="The offline model answers: a stand-in.")) as site:
        yield site


@pytest.fixture
def open_window(browser: Browser, site: SimulatorSite) -> Iterator[OpenWindow]:
    """Open the page.

    `path` may name a person, a chat and a topic; other arguments go to the browser context. At the end
    the window must not have written an error to its console. A test that makes requests fail on purpose
    removes their errors from `complaints`.
    """
    windows: list[Window] = []

    def open_one(path: str = "", *, width: int = 1280, height: int = 800, **context: Any) -> Window:
        page = browser.new_context(viewport={"width": width, "height": height}, **context).new_page()
        page.set_default_timeout(DEADLINE_S * 1000)
        window = Window(page=page)
        page.on("console", lambda line: _note(window, line.type, line.text))
        page.on("pageerror", lambda error: window.complaints.append(str(error)))
        page.goto(f"{site.url}/{path}")
        page.get_by_test_id("chat-list-item").first.wait_for(state="attached")
        windows.append(window)
        return window

    yield open_one
    for window in windows:
        window.page.context.close()
    assert [line for window in windows for line in window.complaints] == []


@contextmanager
def run_simulator(config: SimulatorConfig, *, port: int = 0) -> Generator[SimulatorSite, None, None]:
    """Run the real simulator in a thread, on a free port unless one is given."""
    started = threading.Event()
    urls: list[str] = []
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def run() -> None:
        async with serve(config, port=port) as served:
            urls.append(served.url)
            started.set()
            await ended.wait()

    def run_loop() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(run())

    thread = threading.Thread(target=run_loop, name="simulator")
    thread.start()
    try:
        assert started.wait(DEADLINE_S), "the simulator did not start"
        yield SimulatorSite(url=urls[0], token=config.token)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(DEADLINE_S)
        assert not thread.is_alive(), "the simulator did not end"


def _note(window: Window, kind: str, text: str) -> None:
    if kind in {"error", "warning"}:
        window.complaints.append(f"{kind}: {text}")


@pytest.fixture(scope="module")
def static_url() -> Iterator[str]:
    """Yield the address of the memory page's files, without a service behind them."""
    with serve_static() as url:
        yield url
