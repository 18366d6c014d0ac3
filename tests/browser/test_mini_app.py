"""The panel of a Mini App in a real browser. A small page on another port is the Mini App."""

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from simulator.api.config import SimulatorConfig
from tests.browser.conftest import OpenWindow, SimulatorSite, run_simulator

OLGA, BEN = 1001, 1002
GROUP = -2001
PHONE = {"width": 390, "height": 844}
APP = """<!doctype html><html lang="en"><title>App</title>
<p id="address"></p><p id="data"></p><p id="theme"></p><p id="told"></p><p id="referrer"></p>
<button>Close</button><button>Show back</button><button>Hide back</button>
<script>
  const send = (eventType, eventData) => parent.postMessage(JSON.stringify({eventType, eventData}), "*");
  const show = (id, text) => (document.getElementById(id).textContent = text);
  const fields = new URLSearchParams(location.hash.slice(1));
  show("address", location.pathname + location.search);
  show("data", fields.get("tgWebAppData"));
  show("theme", fields.get("tgWebAppThemeParams"));
  show("referrer", `from ${document.referrer || "nowhere"}`);
  const [close, showBack, hideBack] = document.querySelectorAll("button");
  close.onclick = () => send("web_app_close", {});
  showBack.onclick = () => send("web_app_setup_back_button", {is_visible: true});
  hideBack.onclick = () => send("web_app_setup_back_button", {is_visible: false});
  addEventListener("message", ({data}) => show("told", data));
  send("web_app_ready", {});
  send("web_app_expand", {});
</script>"""


class _App(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = APP.encode() if self.path.startswith("/app/") else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: the output belongs to the tests."""


@contextmanager
def run_app() -> Generator[str]:
    """Serve the Mini App on a free port; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _App)
    thread = threading.Thread(target=server.serve_forever, name="mini-app")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/app/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def app_url() -> Iterator[str]:
    with run_app() as url:
        yield url


@pytest.fixture
def site(app_url: str) -> Iterator[SimulatorSite]:
    with run_simulator(SimulatorConfig(mini_app_url=app_url)) as site:
        yield site


def send_button(site: SimulatorSite, chat_id: int, **action: Any) -> None:
    keyboard = {"inline_keyboard": [[{"text": "Open it", **action}]]}
    site.call("sendMessage", chat_id=chat_id, text="Here", reply_markup=keyboard)


def app_in(page: Page) -> FrameLocator:
    return page.frame_locator("[data-testid=mini-app-frame]")


def panel(page: Page) -> Locator:
    return page.get_by_test_id("mini-app")


def data_in(page: Page) -> dict[str, str]:
    """Return the signed fields that the Mini App got."""
    shown = app_in(page).locator("#data")
    expect(shown).to_contain_text("hash=")
    return dict(parse_qsl(shown.text_content() or ""))


def become(page: Page, person_id: int) -> None:
    page.get_by_test_id("person-switch").click()
    page.locator(f"[data-testid=person-option][data-person-id='{person_id}']").click()


def test_a_button_opens_its_address_beside_the_chat_for_the_person_who_presses(
    site: SimulatorSite, open_window: OpenWindow, app_url: str
) -> None:
    send_button(site, BEN, web_app={"url": f"{app_url}?link=m1"})
    window = open_window(f"#/{BEN}/{BEN}")

    window.page.get_by_test_id("inline-button").click()

    expect(app_in(window.page).locator("#address")).to_have_text("/app/?link=m1")
    expect(app_in(window.page).locator("#referrer")).to_have_text("from nowhere")
    assert json.loads(data_in(window.page)["user"])["id"] == BEN
    expect(panel(window.page)).to_contain_text("Ben Hart")
    expect(window.page.get_by_test_id("composer-input")).to_be_visible()
    assert not window.overflows


def test_the_header_of_the_private_chat_opens_the_main_mini_app_and_that_of_a_group_does_not(
    open_window: OpenWindow,
) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page

    page.get_by_test_id("open-app").click()

    expect(app_in(page).locator("#address")).to_have_text("/app/")
    page.locator(f"[data-testid=chat-list-item][data-chat-id='{GROUP}']").click()
    expect(page.get_by_test_id("open-app")).to_be_hidden()


def test_a_startapp_link_in_a_group_opens_the_mini_app_with_its_parameter(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    send_button(site, GROUP, url="https://t.me/mnemogram_bot?startapp=m-A_9")
    page = open_window(f"#/{BEN}/{GROUP}").page

    page.get_by_test_id("inline-button").click()

    data = data_in(page)
    assert (data["start_param"], data["chat_type"]) == ("m-A_9", "group")
    assert json.loads(data["user"])["id"] == BEN


def test_a_start_link_in_a_text_opens_the_private_chat_and_sends_start(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    site.call("sendMessage", chat_id=GROUP, text="See https://t.me/mnemogram_bot?start=m-A_9")
    page = open_window(f"#/{BEN}/{GROUP}").page

    page.get_by_role("link", name="https://t.me/mnemogram_bot?start=m-A_9").click()

    expect(page.get_by_test_id("message-text")).to_contain_text("/start m-A_9")
    assert [message["text"] for message in site.messages(BEN)] == ["/start m-A_9"]


def test_the_panel_closes_by_its_button_by_escape_and_by_the_app_and_gives_the_focus_back(
    open_window: OpenWindow,
) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page
    opener = page.get_by_test_id("open-app")
    for close in (
        lambda: page.get_by_test_id("mini-app-close").click(),
        lambda: page.keyboard.press("Escape"),
        lambda: app_in(page).get_by_role("button", name="Close").click(),
    ):
        opener.click()
        expect(app_in(page).locator("#data")).to_contain_text("hash=")
        close()
        expect(panel(page)).to_be_hidden()
        expect(page.get_by_test_id("mini-app-frame")).to_have_count(0)
        expect(opener).to_be_focused()


def test_the_panel_closes_when_another_person_is_chosen(open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page
    page.get_by_test_id("open-app").click()
    expect(panel(page)).to_be_visible()

    become(page, BEN)
    expect(panel(page)).to_be_hidden()

    become(page, OLGA)
    expect(page.get_by_test_id("open-app")).to_be_visible()
    expect(panel(page)).to_be_hidden()


def test_the_app_shows_and_hides_a_back_button_and_hears_its_press(open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page
    page.get_by_test_id("open-app").click()
    back = page.get_by_test_id("mini-app-back")
    expect(app_in(page).locator("#data")).to_contain_text("hash=")
    expect(back).to_be_hidden()

    app_in(page).get_by_role("button", name="Show back").click()
    back.click()

    expect(app_in(page).locator("#told")).to_contain_text("back_button_pressed")
    app_in(page).get_by_role("button", name="Hide back").click()
    expect(back).to_be_hidden()


def test_other_windows_cannot_close_the_panel(open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page
    page.get_by_test_id("open-app").click()
    expect(app_in(page).locator("#data")).to_contain_text("hash=")

    page.evaluate("postMessage(JSON.stringify({eventType: 'web_app_close'}), '*')")
    app_in(page).get_by_role("button", name="Show back").click()

    # The app's message came after the other one and was obeyed.
    expect(page.get_by_test_id("mini-app-back")).to_be_visible()
    expect(panel(page)).to_be_visible()


@pytest.mark.parametrize(
    ("scheme", "background", "other"), [("light", "#ffffff", "dark"), ("dark", "#17181f", "light")]
)
def test_the_app_gets_the_colours_of_the_chat_page_and_hears_of_others(
    open_window: OpenWindow, scheme: str, background: str, other: Any
) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}", color_scheme=scheme).page
    page.get_by_test_id("open-app").click()

    expect(app_in(page).locator("#theme")).to_contain_text(f'"bg_color":"{background}"')

    page.emulate_media(color_scheme=other)
    expect(app_in(page).locator("#told")).to_contain_text("theme_changed")
    expect(app_in(page).locator("#told")).not_to_contain_text(f'"bg_color":"{background}"')


def test_on_a_phone_the_panel_covers_the_chat_and_the_keyboard_cannot_leave_it(
    open_window: OpenWindow,
) -> None:
    window = open_window(f"#/{OLGA}/{OLGA}", **PHONE)
    page = window.page
    page.get_by_test_id("open-app").click()
    expect(app_in(page).locator("#data")).to_contain_text("hash=")

    assert panel(page).bounding_box() == {"x": 0, "y": 0, **PHONE}
    expect(page.get_by_test_id("composer-input")).to_be_hidden()
    assert not window.overflows

    page.get_by_test_id("mini-app-close").click()
    expect(page.get_by_test_id("open-app")).to_be_focused()


def test_the_newest_message_stays_in_sight_when_the_panel_makes_the_chat_narrower(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    for number in range(20):
        site.call(
            "sendMessage", chat_id=OLGA, text=f"Line {number} " + "takes more lines in a narrow chat " * 4
        )
    page = open_window(f"#/{OLGA}/{OLGA}").page
    newest = page.get_by_test_id("message").last
    expect(newest).to_be_in_viewport(ratio=1)

    page.get_by_test_id("open-app").click()

    expect(app_in(page).locator("#data")).to_contain_text("hash=")
    expect(newest).to_be_in_viewport(ratio=1)


def test_back_on_a_phone_leaves_the_panel(open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}", **PHONE).page
    page.locator(f"[data-testid=chat-list-item][data-chat-id='{OLGA}']").click()
    page.get_by_test_id("open-app").click()
    expect(app_in(page).locator("#data")).to_contain_text("hash=")

    page.go_back()

    expect(panel(page)).to_be_hidden()


def test_a_simulator_without_a_mini_app_offers_none(browser: Browser) -> None:
    with run_simulator(SimulatorConfig()) as other:
        page = browser.new_page()
        page.goto(f"{other.url}/#/{OLGA}/{OLGA}")
        expect(page.get_by_test_id("chat-title")).to_be_visible()
        expect(page.get_by_test_id("open-app")).to_be_hidden()
        page.context.close()


def test_a_phone_and_a_header_beside_the_app_show_the_whole_name_of_the_bot(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    wide, phone = (
        open_window(f"#/{BEN}/{BEN}", width=width, height=844).page.locator("body") for width in (1280, 390)
    )
    wide.get_by_test_id("open-app").click()
    expect(wide.get_by_test_id("mini-app-frame")).to_be_visible()
    fits = "node => node.scrollWidth <= node.clientWidth"

    for body in (wide, phone):
        subtitle = body.locator(".header-subtitle")
        expect(subtitle).to_contain_text("@mnemogram_bot")
        assert subtitle.evaluate(fits)
        site.call("sendChatAction", chat_id=BEN, action="typing")
        expect(body.get_by_test_id("typing")).to_have_text("typing")
        assert subtitle.evaluate(fits)
