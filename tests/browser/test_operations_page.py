"""The operators' page in Chromium: what it asks of the API, and how it shows the answers."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.times import iso

_HOSTILE = "<img src=x onerror=document.title='run'> \u202egnp.exe"

_OPEN = """async (replies) => {
    const { operationsView } = await import("/operations.js");
    window.asked = [];
    window.replies = replies;
    async function answer(path) {
        window.asked.push(path);
        const reply = window.replies[path];
        if (reply !== undefined) return reply;
        throw Object.assign(new Error("Away."), { code: "unavailable", isPassing: true });
    }
    window.view = operationsView({ get: answer, post: answer });
    const box = document.createElement("section");
    box.append(window.view.element);
    document.body.replaceChildren(box);
    window.view.start();
}"""


def _now(**changed: Any) -> dict[str, Any]:
    return {
        "at": time.time(),
        "version": "0.1.0",
        "messages_per_minute": 12.42,
        "waiting": {"contexts": 0, "updates": 0, "oldest_s": None},
        "workers": [{"name": "one", "version": "0.1.0", "seen_s": 0.5}],
        "dead_letters": 0,
        "refusals_429": {"hour": 0, "day": 0},
        "expired": 0,
        "index_work": 0,
        "stores": [{"name": "redis", "is_embedded": True, "is_up": True, "ms": 0.6, "note": ""}],
        **changed,
    }


def _letter(update_id: int) -> dict[str, Any]:
    return {
        "update_id": update_id,
        "chat": "1001",
        "title": _HOSTILE,
        "reason": "gave up",
        "attempts": 5,
        "age_s": 7_400,
    }


def _chat(title: str, *, messages: int, last_at: float | None) -> dict[str, Any]:
    return {
        "context": "ab" * 16,
        "chat_id": 1001,
        "thread_id": None,
        "title": title,
        "kind": "private",
        "messages": messages,
        "tokens_today": 0,
        "last_message_at": iso(last_at),
    }


_REPLIES: dict[str, Any] = {
    "operations/now": _now(),
    "operations/series?hours=24": {"step_s": 600, "from": 0, "points": []},
    "operations/dead-letters": {"dead_letters": [_letter(11)]},
}


@pytest.fixture
def page(browser: Browser, static_url: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.clock.install()
    page.goto(f"{static_url}plots.css")
    yield page
    context.close()
    assert failures == []


def _open(page: Page, tab: str, **replies: Any) -> None:
    page.evaluate(_OPEN, {**_REPLIES, **{f"operations/{path}": reply for path, reply in replies.items()}})
    page.get_by_test_id(f"ops-tab-{tab}").click()


def _asked(page: Page, path: str) -> int:
    return json.loads(page.evaluate("JSON.stringify(window.asked)")).count(f"operations/{path}")


def test_figures_are_asked_for_every_five_seconds_until_the_page_stops(page: Page) -> None:
    _open(page, "now")
    expect(page.get_by_test_id("tile-messages")).to_contain_text("12.4")

    page.clock.run_for(10_500)
    assert _asked(page, "now") == 3

    page.evaluate("window.view.stop()")
    page.clock.run_for(60_000)
    assert _asked(page, "now") == 3


def test_while_the_store_is_away_the_page_says_so_keeps_its_figures_and_tries_again(page: Page) -> None:
    _open(page, "now")
    expect(page.get_by_test_id("tile-messages")).to_contain_text("12.4")

    page.evaluate("delete window.replies['operations/now']")
    page.clock.run_for(5_500)
    expect(page.get_by_test_id("ops-banner")).to_contain_text("The store does not answer. I try again")
    expect(page.get_by_test_id("tile-messages")).to_contain_text("12.4")

    page.evaluate("reply => window.replies['operations/now'] = reply", _now(messages_per_minute=3))
    page.clock.run_for(5_500)
    expect(page.get_by_test_id("ops-banner")).to_be_hidden()
    expect(page.get_by_test_id("tile-messages")).to_contain_text("3")


def test_figures_that_do_not_come_are_told_as_old(page: Page) -> None:
    _open(page, "now")
    expect(page.get_by_test_id("tile-messages")).to_contain_text("12.4")

    page.evaluate("() => { window.replies['operations/now'] = new Promise(() => {}); }")
    page.clock.run_for(9_000)
    expect(page.get_by_test_id("ops-banner")).to_be_hidden()
    page.clock.run_for(2_000)

    expect(page.get_by_test_id("ops-banner")).to_contain_text(
        "No answer for 5 seconds. I keep waiting. These are"
    )


def test_a_list_that_could_not_be_loaded_is_tried_again_while_its_tab_is_open(page: Page) -> None:
    _open(page, "chats")
    expect(page.get_by_test_id("ops-problem")).to_be_visible()

    page.clock.run_for(5_500)
    assert _asked(page, "chats") == 2

    page.get_by_test_id("ops-tab-now").click()
    page.clock.run_for(20_000)
    assert _asked(page, "chats") == 2


def test_trouble_is_told_in_words_beside_its_colour(page: Page) -> None:
    workers = [{"name": name, "version": f"0.{name}.0", "seen_s": 1} for name in "12"]
    index = {"name": "qdrant", "is_embedded": True, "is_up": False, "ms": None, "note": "It is locked."}
    stores = [{"name": "redis", "is_embedded": False, "is_up": True, "ms": 0.6, "note": ""}, index]
    waiting = {"contexts": 2, "updates": 3, "oldest_s": 95}
    _open(page, "now", now=_now(workers=workers, stores=stores, waiting=waiting))

    expect(page.get_by_test_id("tile-workers")).to_contain_text("versions differ0.1.0 / 0.2.0")
    expect(page.get_by_test_id("tile-oldest")).to_contain_text("1 min 35 sa long time")
    expect(page.get_by_test_id("store-redis")).to_have_text("upMemory storeRedis1 ms")
    expect(page.get_by_test_id("store-qdrant")).to_have_text(
        "awaySearch indexembeddedIt is locked.Recall pauses: answers come without it."
    )


def test_a_dead_letter_is_dropped_only_after_a_confirmation(page: Page) -> None:
    _open(page, "updates", **{"dead-letters/11/drop": {"done": True}})

    page.get_by_test_id("drop-letter").click()
    page.get_by_test_id("confirm-no").click()
    expect(page.get_by_test_id("confirm")).to_have_count(0)
    assert _asked(page, "dead-letters/11/drop") == 0

    page.get_by_test_id("drop-letter").click()
    page.evaluate("window.replies['operations/dead-letters'] = {dead_letters: []}")
    page.get_by_test_id("confirm-yes").click()

    expect(page.get_by_test_id("dead-letter-status")).to_have_text("Update 11 was dropped.")
    expect(page.get_by_test_id("dead-letter")).to_have_count(0)
    assert _asked(page, "dead-letters/11/drop") == 1


def test_a_dead_letter_that_somebody_else_settled_is_told_as_gone(page: Page) -> None:
    _open(page, "updates", **{"dead-letters/11/retry": {"done": False}})

    page.get_by_test_id("retry-letter").click()

    expect(page.get_by_test_id("dead-letter-status")).to_have_text("Update 11 is not a dead letter any more.")


def test_titles_of_chats_are_text(page: Page) -> None:
    _open(page, "updates")

    expect(page.get_by_test_id("dead-letter").locator("bdi").first).to_have_text(_HOSTILE)
    assert page.locator("img").count() == 0
    assert page.title() == ""


def test_chats_are_sorted_by_the_column_that_is_pressed_and_then_the_other_way(page: Page) -> None:
    now = time.time()
    chats = [
        _chat("Ben", messages=5, last_at=now - 90),
        _chat("anna", messages=20, last_at=None),
        _chat("Chiara", messages=1, last_at=now - 7_300),
    ]
    _open(page, "chats", chats={"chats": chats})
    titles = page.get_by_test_id("chat-row").locator("bdi")

    page.get_by_test_id("sort-messages").click()
    expect(titles).to_have_text(["anna", "Ben", "Chiara"])
    page.get_by_test_id("sort-messages").click()
    expect(titles).to_have_text(["Chiara", "Ben", "anna"])
    page.get_by_test_id("sort-title").click()
    expect(titles).to_have_text(["anna", "Ben", "Chiara"])
    page.get_by_test_id("sort-idle").click()
    expect(titles).to_have_text(["Ben", "Chiara", "anna"])


def test_arrow_keys_change_the_tab(page: Page) -> None:
    _open(page, "now")

    page.get_by_test_id("ops-tab-now").press("ArrowLeft")

    expect(page.get_by_test_id("ops-tab-service")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_contain_text("Run doctor")


def _costs(month: str, *, money: float) -> dict[str, Any]:
    used = {"tokens": 4_000, "money": money}
    return {
        "month": month,
        "months": ["2026-11", "2026-10"],
        "total": {"tokens": 9_000, "money": 8.0},
        "memory": {"tokens": 1_000, "money": 0.1},
        "people": [{"id": 1002, "title": _HOSTILE, **used}, {"id": 1003, "title": "", **used}],
        "chats": [{"id": -2001, "title": "Weekend", **used}],
        "budget": 10,
        "has_prices": True,
    }


def test_the_costs_of_a_chosen_month_are_a_table_of_people_and_chats(page: Page) -> None:
    november, october = _costs("2026-11", money=7.9), _costs("2026-10", money=0.25)
    _open(page, "costs", **{"costs": november, "costs?month=2026-10": october})

    expect(page.get_by_test_id("costs-total")).to_have_text(
        "9,000 tokens, cost 8, 80% of the budget of 10. Summaries and facts took 1,000 of them. Months are of UTC."
    )
    people = page.get_by_test_id("costs-person")
    expect(people).to_have_count(2)
    expect(people.nth(0)).to_contain_text("<img src=x")
    expect(people.nth(1)).to_contain_text("person 1003")
    expect(page.get_by_test_id("costs-chat")).to_have_text("Weekend-20014,0007.9")

    page.get_by_test_id("costs-month").select_option("2026-10")

    expect(page.get_by_test_id("costs-chat")).to_have_text("Weekend-20014,0000.25")
    expect(page.get_by_test_id("costs-month")).to_have_value("2026-10")


def test_a_month_without_use_and_a_bot_without_prices_have_no_costs(page: Page) -> None:
    nothing = {"tokens": 0, "money": 0}
    empty: dict[str, Any] = {"total": nothing, "memory": nothing, "people": [], "chats": [], "budget": 0}
    costs = _costs("2026-11", money=0) | {"has_prices": False, "budget": 0}
    _open(page, "costs", **{"costs": costs, "costs?month=2026-10": costs | empty | {"month": "2026-10"}})
    expect(page.get_by_test_id("costs-chat")).to_have_text("Weekend-20014,000")

    page.get_by_test_id("costs-month").select_option("2026-10")

    expect(page.get_by_test_id("costs")).to_contain_text("Nothing was used in this month (UTC).")
