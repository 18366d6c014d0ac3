"""Windows with the memory page of a running program, and everything suspicious that happens in them."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from playwright.sync_api import Browser, BrowserContext, Dialog, Frame, FrameLocator, Locator, Page, expect

from bot.settings import PAGE_PATH, SIMULATOR_TOKEN
from bot.transport.ingest import telegram_ref
from memory.keys import ContextRef
from simulator.api.mini_apps import sign_init_data
from tests.browser.program import DEADLINE_S, Program

OLGA, BEN, CHIARA = 1001, 1002, 1003
PHONE, DESKTOP = (390, 844), (1280, 800)
_BOT_ID = int(SIMULATOR_TOKEN.partition(":")[0])
_WATCH = """
globalThis.attack = (name) => console.error(`ATTACK ${name}`);
addEventListener("securitypolicyviolation", (event) =>
  console.error(`VIOLATION ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""
_ATTACK, _VIOLATION = "ATTACK ", "VIOLATION "


@dataclass(slots=True, kw_only=True)
class Watch:
    """Everything suspicious in the windows of one browser context."""

    hosts: tuple[str, ...]
    """The program's hosts and ports."""
    violations: list[str] = field(default_factory=list[str])
    """Violations of the CSP, as the browser reports them in any frame."""
    attacks: list[str] = field(default_factory=list[str])
    """Calls of `attack(name)`, dialogs, and requests to other hosts."""
    errors: list[str] = field(default_factory=list[str])
    """Errors and warnings on the console, and exceptions."""

    def assert_calm(self, *expected: str) -> None:
        """Fail if anything happened, except console errors that contain one of the expected texts."""
        errors = [line for line in self.errors if not any(each in line for each in expected)]
        assert (self.violations, self.attacks, errors) == ([], [], [])


def program_ref(chat_id: int, thread_id: int | None = None) -> ContextRef:
    """Return the context of a chat of the program."""
    return telegram_ref(_BOT_ID, chat_id, thread_id, partitions=1)


@contextmanager
def watched_context(
    browser: Browser, program: Program, size: tuple[int, int] = DESKTOP, **options: Any
) -> Generator[tuple[BrowserContext, Watch]]:
    """Open a browser context whose windows are watched. At the end nothing may have attacked or been forbidden."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(DEADLINE_S * 1000)
    watch = Watch(hosts=tuple(urlsplit(each).netloc for each in (program.chat_page, program.listening_at)))
    context.add_init_script(_WATCH)
    context.on("request", lambda request: _note_request(watch, request.url))
    context.on("console", lambda line: _note_line(watch, line.type, line.text))
    context.on("weberror", lambda error: watch.errors.append(str(error.error)))
    context.on("dialog", lambda dialog: _refuse(watch, dialog))
    try:
        yield context, watch
        assert (watch.violations, watch.attacks) == ([], [])
    finally:
        context.close()


def page_address(
    program: Program,
    person: int,
    *,
    age_s: float = 0,
    name: str = "Olga",
    language: str = "en",
    token: str = SIMULATOR_TOKEN,
) -> str:
    """Return the address that Telegram opens, with data that were signed with the token `age_s` seconds ago."""
    user = json.dumps({"id": person, "first_name": name, "language_code": language})
    fields = {"user": user, "auth_date": str(int(time.time() - age_s))}
    return f"{program.listening_at}{PAGE_PATH}#tgWebAppData={quote(sign_init_data(fields, token))}"


def newcomer(program: Program, name: str = "Dina") -> int:
    """Create a person in the simulator and return their id."""
    answer = httpx.post(f"{program.chat_page}/api/people", json={"first_name": name}, trust_env=False)
    return int(answer.json()["id"])


def send(page: Page, text: str) -> None:
    """Send a line on the chat page."""
    page.get_by_test_id("composer-input").fill(text)
    page.keyboard.press("Enter")


def say(page: Page, text: str) -> Locator:
    """Send a line on the chat page and return the bubble of the answer."""
    bubbles = page.get_by_test_id("message")
    before = bubbles.count()
    send(page, text)
    expect(bubbles).to_have_count(before + 2)
    return bubbles.last


def panel_of(page: Page) -> FrameLocator:
    """Return the Mini App in the panel of the chat page."""
    return page.frame_locator("[data-testid=mini-app-frame]")


def overflows(frame: Page | Frame) -> list[str]:
    """Return the boxes that scroll sideways, and those that stand out of the window without an ellipsis."""
    return frame.evaluate("""() => {
      const styles = (node) => getComputedStyle(node);
      const scrolls = (node) => node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(styles(node).overflowX);
      const isCut = (node) => node && (styles(node).textOverflow === "ellipsis" || isCut(node.parentElement));
      const standsOut = ({ left, right }) => right > innerWidth + 1 || left < -1;
      return [document.documentElement, ...document.body.querySelectorAll(":not(svg *)")]
        .filter((node) => node.checkVisibility({ visibilityProperty: true }))
        .filter((node) => scrolls(node) || (standsOut(node.getBoundingClientRect()) && !isCut(node)))
        .map((node) => `${node.tagName}.${node.className}`);
    }""")


def _note_request(watch: Watch, url: str) -> None:
    place = urlsplit(url)
    if place.scheme not in {"data", "blob", "about"} and place.netloc not in watch.hosts:
        watch.attacks.append(f"request {url}")


def _note_line(watch: Watch, kind: str, text: str) -> None:
    if text.startswith(_VIOLATION):
        watch.violations.append(text.removeprefix(_VIOLATION))
    elif text.startswith(_ATTACK):
        watch.attacks.append(f"ran {text.removeprefix(_ATTACK)}")
    elif kind in {"error", "warning"}:
        watch.errors.append(f"{kind}: {text}")


def _refuse(watch: Watch, dialog: Dialog) -> None:
    watch.attacks.append(f"dialog {dialog.message}")
    dialog.dismiss()
