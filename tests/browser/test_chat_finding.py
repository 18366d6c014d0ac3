"""What helps people find their way on the chat page: the bot's chat first, a language, search, a short notice."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.app.simulation import OFFLINE_NOTICE
from simulator.api.config import SimulatorConfig
from tests.browser.conftest import OpenWindow, SimulatorSite, run_simulator
from tests.browser.test_chat_page import BUGS, FORUM, GROUP, IDEAS, OLGA, become, message, send

PHONE: dict[str, Any] = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
NOTICE = (
    "I'm running on the offline model, a stand-in for a language model. For real answers, set OPENAI_API_KEY."
)


@pytest.fixture
def site() -> Iterator[SimulatorSite]:
    with run_simulator(SimulatorConfig(notice=NOTICE)) as site:
        yield site


def search_for(page: Page, words: str) -> None:
    page.get_by_test_id("search-open").click()
    page.get_by_test_id("search-input").fill(words)


def test_the_bots_chat_stays_first_in_the_list(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}/{GROUP}").page

    send(page, "the newest message of all")

    expect(message(page, "the newest message of all")).to_be_visible()
    expect(page.get_by_test_id("chat-list-item").first).to_have_attribute("data-chat-id", str(OLGA))


def test_a_phone_opens_with_the_bots_chat_and_back_leads_to_the_list(open_window: OpenWindow) -> None:
    page = open_window(**PHONE).page
    expect(page.get_by_test_id("composer-input")).to_be_in_viewport()

    page.get_by_test_id("back").tap()

    expect(page.get_by_test_id("chat-list-item").first).to_be_in_viewport()
    page.reload()
    expect(page.get_by_test_id("chat-list-item").first).to_be_in_viewport()
    page.get_by_test_id("chat-list-item").first.tap()
    page.go_back()
    expect(page.get_by_test_id("chat-list-item").first).to_be_in_viewport()


def test_the_bot_gets_the_language_that_a_person_chose(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page
    expect(page.get_by_test_id("language")).to_have_value("en")

    page.get_by_test_id("language").select_option("es")
    expect(page.locator(".language > span")).to_have_text("es")
    send(page, "hola")

    expect(message(page, "hola")).to_be_visible()
    (update,) = [one for one in site.call("getUpdates") if one["message"]["text"] == "hola"]
    assert update["message"]["from"]["language_code"] == "es"
    become(page, 1002)
    expect(page.get_by_test_id("language")).to_have_value("en")
    page.reload()
    become(page, OLGA)
    expect(page.get_by_test_id("language")).to_have_value("es")


def test_a_search_goes_from_the_newest_hit_to_older_ones(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    site.say(OLGA, OLGA, "The red bike needs a lock")
    for number in range(60):
        site.call("sendMessage", chat_id=OLGA, text=f"line {number}")
    site.call("sendMessage", chat_id=OLGA, text="A lock for your bike costs 40 euros")
    site.call("sendMessage", chat_id=OLGA, text="Anything else?")
    page = open_window().page

    search_for(page, "BIKE lock")

    count = page.get_by_test_id("search-count")
    expect(count).to_have_text("1 of 2")
    expect(message(page, "costs 40 euros")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(count).to_have_text("2 of 2")
    expect(message(page, "The red bike needs a lock")).to_be_in_viewport()
    page.get_by_role("button", name="Older hit").click()
    expect(count).to_have_text("1 of 2")
    page.get_by_test_id("search-input").fill("boat")
    expect(count).to_have_text("No hits")
    page.get_by_test_id("search-input").press("Escape")
    expect(page.get_by_test_id("search-input")).to_be_hidden()
    expect(page.get_by_test_id("search-open")).to_be_focused()


def test_a_search_covers_the_open_topic_and_ends_with_it(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    for topic in (IDEAS, BUGS):
        site.say(FORUM, OLGA, "blue paint", message_thread_id=topic)
    page = open_window(f"#/{OLGA}/{FORUM}/{IDEAS}").page

    search_for(page, "paint")
    expect(page.get_by_test_id("search-count")).to_have_text("1 of 1")
    page.locator(f"[data-testid=topic-tab][data-topic-id='{BUGS}']").click()

    expect(page.get_by_test_id("search-input")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 390])
def test_the_notice_without_a_key_names_the_setting_before_it_is_cut(browser: Browser, width: int) -> None:
    with run_simulator(SimulatorConfig(notice=OFFLINE_NOTICE)) as site:
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(site.url)

        text = page.get_by_test_id("notice").locator(".banner-text")

        expect(text).to_contain_text("OPENAI_API_KEY")
        left_px = text.evaluate(
            """(node) => {
              const range = document.createRange();
              range.setStart(node.firstChild, 0);
              range.setEnd(node.firstChild, node.textContent.indexOf("OPENAI_API_KEY") + "OPENAI_API_KEY".length);
              return node.getBoundingClientRect().right - range.getBoundingClientRect().right;
            }"""
        )
        assert left_px > 20  # room for the ellipsis
        page.close()


@pytest.mark.parametrize("screen", ["list", "chat"])
def test_the_notice_takes_one_line_on_a_phone_until_it_is_pressed(
    open_window: OpenWindow, screen: str
) -> None:
    window = open_window(f"#/{OLGA}" if screen == "list" else f"#/{OLGA}/{OLGA}", **PHONE)
    notice = window.page.get_by_test_id("notice")

    assert (notice.bounding_box() or {})["height"] < 44
    assert not window.overflows
    notice.get_by_text("offline model").tap()

    expect(notice.locator(".banner-text")).to_have_attribute("aria-expanded", "true")
    assert (notice.bounding_box() or {})["height"] > 44
