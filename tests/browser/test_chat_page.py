"""The chat page in a real browser and the real simulator. The tests are the bot, over HTTP."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from simulator.api.config import SimulatorConfig
from tests.browser.conftest import OpenWindow, SimulatorSite, run_simulator

OLGA, BEN, CHIARA = 1001, 1002, 1003
GROUP, FORUM = -2001, -1003001
IDEAS, BUGS = 2, 3
COUNT_EMPTY_MOMENTS = """() => {
    const list = document.querySelector("[data-testid=messages]");
    const isEmpty = () => list.querySelector("[data-testid=draft], [data-testid=message]") === null;
    window.emptyMoments = 0;
    new MutationObserver(() => { window.emptyMoments += isEmpty() ? 1 : 0; }).observe(list, {childList: true});
}"""
EVERYONE = [(OLGA, "Olga Marin"), (BEN, "Ben Hart"), (CHIARA, "Chiara Rossi")]


def become(page: Page, person_id: int) -> None:
    page.get_by_test_id("person-switch").click()
    page.locator(f"[data-testid=person-option][data-person-id='{person_id}']").click()


def open_chat(page: Page, chat_id: int) -> None:
    chat_item(page, chat_id).click()


def chat_item(page: Page, chat_id: int) -> Locator:
    return page.locator(f"[data-testid=chat-list-item][data-chat-id='{chat_id}']")


def send(page: Page, text: str) -> None:
    page.get_by_test_id("composer-input").fill(text)
    page.keyboard.press("Enter")


def message(page: Page, text: str) -> Locator:
    return page.get_by_test_id("message").filter(
        has=page.get_by_test_id("message-text").filter(has_text=text)
    )


def entity(text: str, part: str, kind: str, **more: Any) -> dict[str, Any]:
    """Return the entity of `part` in `text`, in UTF-16 code units, as the Bot API counts."""
    before = text[: text.index(part)]
    return {"type": kind, "offset": _units(before), "length": _units(part), **more}


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(("person_id", "name"), EVERYONE)
def test_each_person_sends_in_their_own_private_chat(
    site: SimulatorSite, open_window: OpenWindow, person_id: int, name: str
) -> None:
    page = open_window().page
    become(page, person_id)
    open_chat(page, person_id)

    send(page, f"I am {name}")

    expect(message(page, f"I am {name}")).to_contain_class("own")
    expect(page.get_by_test_id("person-switch")).to_contain_text(name)
    sent = [(one["from"]["id"], one["text"]) for one in site.messages(person_id)]
    assert sent == [(person_id, f"I am {name}")]


def test_the_operator_is_marked_and_only_the_operator(open_window: OpenWindow) -> None:
    page = open_window().page

    page.get_by_test_id("person-switch").click()

    options = page.get_by_test_id("person-option")
    expect(options).to_have_count(3)
    expect(options.filter(has_text="operator")).to_have_text(["OMOlga Marin@olgaoperator"])


def test_a_mention_is_completed_and_everyone_in_the_group_sees_it(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{BEN}/{GROUP}").page
    page.get_by_test_id("composer-input").press_sequentially("hello @mne")

    page.get_by_test_id("suggestion-option").filter(has_text="Mnemogram").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("are you there?")
    page.keyboard.press("Enter")

    expect(message(page, "are you there?").locator(".mention")).to_have_text("@mnemogram_bot")
    assert site.messages(GROUP)[-1]["entities"] == [{"type": "mention", "offset": 6, "length": 14}]
    become(page, CHIARA)
    expect(message(page, "are you there?").locator(".sender")).to_have_text("Ben Hart")


def test_a_command_is_completed_from_the_chats_commands(site: SimulatorSite, open_window: OpenWindow) -> None:
    commands = [
        {"command": "memory", "description": "What I keep"},
        {"command": "new", "description": "Afresh"},
    ]
    site.call("setMyCommands", commands=commands)
    page = open_window().page

    page.get_by_test_id("composer-input").press_sequentially("/m")

    expect(page.get_by_test_id("suggestion-option")).to_have_text(["/memoryWhat I keep"])
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("composer-input")).to_have_value("/memory ")


def test_a_reply_quotes_the_message_and_jumps_to_it(site: SimulatorSite, open_window: OpenWindow) -> None:
    asked = site.say(GROUP, BEN, "Who brings the tent?")
    for number in range(40):
        site.say(GROUP, CHIARA, f"line {number}")
    page = open_window(f"#/{OLGA}/{GROUP}").page
    first = message(page, "Who brings the tent?")
    first.scroll_into_view_if_needed()
    first.hover()
    first.get_by_test_id("reply-button").click()
    expect(page.get_by_test_id("composer-strip")).to_contain_text("Reply to Ben Hart")

    page.keyboard.type("I do")
    page.keyboard.press("Enter")

    mine = message(page, "I do")
    expect(mine.get_by_test_id("reply-quote")).to_have_text("Ben HartWho brings the tent?")
    assert site.messages(GROUP)[-1]["reply_to_message"]["message_id"] == asked["message_id"]
    expect(first).not_to_be_in_viewport()
    mine.get_by_test_id("reply-quote").click()
    expect(first).to_be_in_viewport()


def test_typing_is_shown_in_the_head_and_the_list_until_the_answer(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window().page

    site.call("sendChatAction", chat_id=OLGA, action="typing")

    expect(page.get_by_test_id("typing")).to_have_text("typing")
    expect(chat_item(page, OLGA).get_by_test_id("typing-in-list")).to_have_text("typing")
    site.call("sendMessage", chat_id=OLGA, text="Here I am")
    expect(message(page, "Here I am")).to_be_visible()
    expect(page.get_by_test_id("typing")).to_have_count(0)


def test_a_draft_grows_live_and_the_message_takes_its_place(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window().page
    draft = page.get_by_test_id("draft")

    site.call("sendMessageDraft", chat_id=OLGA, draft_id=7, text="")
    expect(draft).to_have_text("Thinking…")
    for text in ("Anna", "Anna lives", "Anna lives in Lisbon"):
        site.call(
            "sendMessageDraft", chat_id=OLGA, draft_id=7, text=text, entities=[entity(text, "Anna", "bold")]
        )
        expect(draft).to_have_text(text)
        expect(draft.locator("strong")).to_have_text("Anna")
    page.evaluate(COUNT_EMPTY_MOMENTS)
    site.call("sendMessage", chat_id=OLGA, text="Anna lives in Lisbon.")

    expect(message(page, "Anna lives in Lisbon.")).to_be_visible()
    expect(draft).to_have_count(0)
    assert page.evaluate("window.emptyMoments") == 0


def test_entities_are_rendered_at_utf16_offsets_and_nested(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    text = "👋🏽 bold and italic, secret, the docs, code\nprint(1)\nquoted"
    entities = [
        entity(text, "bold and italic", "bold"),
        entity(text, "italic", "italic"),
        entity(text, "secret", "spoiler"),
        entity(text, "the docs", "text_link", url="https://example.org/docs"),
        entity(text, "code", "code"),
        entity(text, "print(1)", "pre", language="python"),
        entity(text, "quoted", "blockquote"),
    ]
    page = open_window().page

    site.call("sendMessage", chat_id=OLGA, text=text, entities=entities)

    shown = message(page, "bold and italic")
    expect(shown.locator("strong")).to_have_text(["bold and ", "italic"])
    expect(shown.locator("strong > em")).to_have_text("italic")
    expect(shown.locator(":not(pre) > code")).to_have_text("code")
    expect(shown.locator(".code-block")).to_contain_text("pythonCopyprint(1)")
    expect(shown.locator("blockquote")).to_have_text("quoted")
    link = shown.locator("a")
    expect(link).to_have_attribute("href", "https://example.org/docs")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(chat_item(page, OLGA)).not_to_contain_text("secret")
    spoiler = shown.locator(".spoiler")
    expect(spoiler).to_have_attribute("role", "button")
    spoiler.click()
    expect(spoiler).to_have_class("spoiler revealed")


def test_markup_in_a_text_stays_text(site: SimulatorSite, open_window: OpenWindow) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> &amp;"
    page = open_window().page

    send(page, hostile)
    site.call("sendMessage", chat_id=OLGA, text=f"You said {hostile}")

    expect(message(page, "You said").get_by_test_id("message-text")).to_contain_text(hostile)
    assert page.locator("main img, main script").count() == 0


def test_only_safe_addresses_can_be_followed(open_window: OpenWindow) -> None:
    page = open_window().page

    followed = page.evaluate(
        """async () => {
            const { safeHref } = await import("/static/render_text.js");
            const tried = ["https://a.org/", "http://a.org/", "mailto:a@b.org", "tg://user?id=1",
                "javascript:alert(1)", "JAVA\\nscript:alert(1)", "data:text/html,x", "file:///etc/passwd", "a b"];
            return tried.map(safeHref);
        }"""
    )

    assert followed == ["https://a.org/", "http://a.org/", "mailto:a@b.org", "tg://user?id=1", *[None] * 5]


def test_crossing_and_outlying_entities_lose_no_text(open_window: OpenWindow) -> None:
    page = open_window().page

    rendered = page.evaluate(
        """async () => {
            const { renderText } = await import("/static/render_text.js");
            const entities = [{type: "bold", offset: 0, length: 4}, {type: "italic", offset: 2, length: 4},
                {type: "code", offset: 5, length: 99}, {type: "bold", offset: 40, length: 2}];
            const box = document.createElement("div");
            box.append(...renderText("abcdefgh", entities, null));
            return box.innerHTML;
        }"""
    )

    assert rendered == "<strong>ab<em>cd</em></strong><em>e<code>f</code></em><code>gh</code>"


def test_a_command_in_a_text_fills_the_composer(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page
    site.call("sendMessage", chat_id=OLGA, text="Send /help to begin")

    message(page, "to begin").get_by_test_id("command").click()

    expect(page.get_by_test_id("composer-input")).to_have_value("/help")
    expect(page.get_by_test_id("composer-input")).to_be_focused()
    assert [one["text"] for one in site.messages(OLGA)] == ["Send /help to begin"]


def test_edits_deletions_and_reactions_are_shown_live(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page
    kept = site.call("sendMessage", chat_id=OLGA, text="first wording")["message_id"]
    gone = site.call("sendMessage", chat_id=OLGA, text="to be deleted")["message_id"]
    expect(page.get_by_test_id("message")).to_have_count(2)

    site.call("editMessageText", chat_id=OLGA, message_id=kept, text="second wording")
    site.call("deleteMessage", chat_id=OLGA, message_id=gone)
    site.call(
        "setMessageReaction", chat_id=OLGA, message_id=kept, reaction=[{"type": "emoji", "emoji": "👍"}]
    )

    expect(page.get_by_test_id("message")).to_have_count(1)
    expect(message(page, "second wording").locator(".edited")).to_have_text("edited")
    expect(page.get_by_test_id("reaction")).to_have_text("👍")


def test_people_edit_their_own_messages_in_the_composer(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page
    send(page, "I live in Porto")
    expect(message(page, "I live in Porto")).to_be_visible()

    page.keyboard.press("ArrowUp")
    expect(page.get_by_test_id("composer-strip")).to_contain_text("Edit message")
    send(page, "I live in Braga")

    expect(message(page, "I live in Braga").locator(".edited")).to_be_visible()
    expect(page.get_by_test_id("composer-input")).to_have_value("")
    assert [one["text"] for one in site.messages(OLGA)] == ["I live in Braga"]


def test_a_pressed_button_reaches_the_bot_and_the_answer_reaches_the_person(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window().page
    keyboard = {"inline_keyboard": [[{"text": "Forget it", "callback_data": "forget:1"}]]}
    site.call("sendMessage", chat_id=OLGA, text="Shall I?", reply_markup=keyboard)

    page.get_by_test_id("inline-button").click()

    query = site.call("getUpdates", timeout=5)[-1]["callback_query"]
    assert (query["from"]["id"], query["data"]) == (OLGA, "forget:1")
    expect(page.get_by_test_id("inline-button")).to_have_attribute("aria-busy", "true")
    site.call("answerCallbackQuery", callback_query_id=query["id"], text="Forgotten", show_alert=True)
    expect(page.get_by_test_id("alert")).to_contain_text("Forgotten")
    expect(page.get_by_test_id("inline-button")).to_have_attribute("aria-busy", "false")


def test_topics_keep_their_messages_apart(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{OLGA}/{FORUM}").page
    expect(page.get_by_test_id("topic-tab")).to_have_text(["#General", "#Ideas", "#Bugs"])

    page.get_by_test_id("topic-tab").filter(has_text="Ideas").click()
    send(page, "a dark map")
    site.call("sendMessage", chat_id=FORUM, message_thread_id=BUGS, text="a bug of the bot")

    expect(message(page, "a dark map")).to_be_visible()
    expect(message(page, "a bug of the bot")).to_have_count(0)
    assert site.messages(FORUM)[-2]["message_thread_id"] == IDEAS
    bugs = page.get_by_test_id("topic-tab").filter(has_text="Bugs")
    expect(bugs.locator(".badge")).to_have_text("1")
    bugs.click()
    expect(message(page, "a bug of the bot")).to_be_visible()
    expect(bugs.locator(".badge")).to_have_count(0)
    page.get_by_test_id("topic-tab").filter(has_text="General").click()
    send(page, "for everyone")
    expect(message(page, "for everyone")).to_be_visible()
    assert "message_thread_id" not in site.messages(FORUM)[-1]


def test_unread_messages_are_counted_per_person_until_read(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{OLGA}/{OLGA}").page

    site.say(GROUP, BEN, "one")
    site.say(GROUP, BEN, "two")

    group = chat_item(page, GROUP)
    expect(group.get_by_test_id("unread")).to_have_text("2")
    expect(group.get_by_test_id("last-line")).to_have_text("Ben: two")
    open_chat(page, GROUP)
    expect(page.get_by_test_id("unread-divider")).to_be_visible()
    expect(group.get_by_test_id("unread")).to_have_count(0)
    become(page, BEN)
    open_chat(page, BEN)
    expect(group.get_by_test_id("unread")).to_have_count(0)
    become(page, CHIARA)
    open_chat(page, CHIARA)
    expect(group.get_by_test_id("unread")).to_have_text("2")


def test_a_reader_who_scrolled_up_stays_there_and_sees_the_number_of_new_messages(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    for number in range(40):
        site.say(GROUP, BEN, f"line {number}.")  # the dot keeps "line 3" and 9 o'clock apart
    page = open_window(f"#/{OLGA}/{GROUP}").page
    expect(message(page, "line 39.")).to_be_in_viewport()
    page.get_by_test_id("scroller").evaluate("(node) => { node.scrollTop = 100; }")
    expect(page.get_by_test_id("to-bottom")).to_be_visible()

    site.say(GROUP, BEN, "something new")

    expect(page.get_by_test_id("to-bottom")).to_have_text("1")
    assert page.get_by_test_id("scroller").evaluate("(node) => node.scrollTop") == 100
    page.get_by_test_id("to-bottom").click()
    expect(message(page, "something new")).to_be_in_viewport()
    expect(page.get_by_test_id("to-bottom")).to_be_hidden()


def test_shift_enter_makes_a_line_and_the_field_grows(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page
    field = page.get_by_test_id("composer-input")
    field.fill("first")
    height = field.bounding_box()

    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second")

    grown = field.bounding_box()
    assert height is not None
    assert grown is not None
    assert grown["height"] > height["height"]
    page.get_by_test_id("send").click()
    expect(message(page, "second")).to_be_visible()
    assert [one["text"] for one in site.messages(OLGA)] == ["first\nsecond"]


def test_an_unsent_message_survives_a_reload_and_is_sent_by_retry(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    window = open_window()
    page = window.page
    page.route("**/api/messages", lambda route: route.abort())
    send(page, "do not lose me")
    expect(page.get_by_test_id("send-error")).to_contain_text("Not sent. The simulator cannot be reached.")
    page.unroute("**/api/messages")
    page.reload()
    expect(page.get_by_test_id("outgoing")).to_contain_text("do not lose me")

    page.get_by_test_id("retry").click()

    expect(message(page, "do not lose me")).to_be_visible()
    expect(page.get_by_test_id("outgoing")).to_have_count(0)
    assert [one["text"] for one in site.messages(OLGA)] == ["do not lose me"]
    assert [one for one in window.complaints if "ERR_FAILED" not in one] == []
    window.complaints.clear()


def test_an_unfinished_message_survives_a_change_of_chat_and_a_reload(open_window: OpenWindow) -> None:
    page = open_window().page
    page.get_by_test_id("composer-input").fill("half a thought")
    open_chat(page, GROUP)
    expect(page.get_by_test_id("composer-input")).to_have_value("")
    expect(chat_item(page, OLGA)).to_contain_text("Draft: half a thought")

    page.reload()
    open_chat(page, OLGA)

    expect(page.get_by_test_id("composer-input")).to_have_value("half a thought")


def test_the_page_reports_a_lost_connection_and_reconnects(
    open_window: OpenWindow, site: SimulatorSite
) -> None:
    window = open_window()
    page = window.page
    with run_simulator(SimulatorConfig()) as other:
        page.goto(other.url)
        page.get_by_test_id("chat-list-item").first.wait_for()
        port = int(other.url.rpartition(":")[2])
    expect(page.get_by_test_id("connection-banner")).to_be_visible()
    expect(page.get_by_test_id("bot-status")).to_contain_text("out of sight")

    with run_simulator(SimulatorConfig(), port=port) as back:
        back.say(OLGA, OLGA, "said while the page was away")
        expect(page.get_by_test_id("connection-banner")).to_have_count(0)
        expect(message(page, "said while the page was away")).to_be_visible()
        page.goto(site.url)
    assert [one for one in window.complaints if "ERR_" not in one] == []
    window.complaints.clear()


def test_an_empty_chat_offers_first_lines_and_the_notice_can_be_hidden(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window().page
    expect(page.get_by_test_id("notice")).to_contain_text("The offline model answers: a stand-in.")

    page.get_by_test_id("suggestion").filter(has_text="My sister Anna").click()
    expect(page.get_by_test_id("composer-input")).to_have_value("My sister Anna lives in Lisbon")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Hide this notice").click()

    expect(message(page, "My sister Anna lives in Lisbon")).to_be_visible()
    expect(page.get_by_test_id("empty-place")).to_have_count(0)
    page.reload()
    expect(message(page, "My sister Anna lives in Lisbon")).to_be_visible()
    expect(page.get_by_test_id("notice")).to_have_count(0)


def test_a_private_message_gets_two_ticks_after_the_bot_took_it(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window().page
    send(page, "tick")
    ticks = message(page, "tick").get_by_test_id("ticks")
    expect(ticks).to_have_attribute("aria-label", "Sent")

    updates = site.call("getUpdates")
    site.call("getUpdates", offset=updates[-1]["update_id"] + 1)

    expect(ticks).to_have_attribute("aria-label", "Delivered to the bot")


def test_nobody_can_write_to_a_blocked_bot_until_they_unblock_it(open_window: OpenWindow) -> None:
    page = open_window().page
    page.get_by_test_id("chat-menu").click()
    page.get_by_test_id("block").click()
    expect(page.get_by_test_id("composer-input")).to_be_hidden()

    page.get_by_test_id("unblock").click()

    expect(page.get_by_test_id("composer-input")).to_be_visible()
    send(page, "friends again")
    expect(message(page, "friends again")).to_be_visible()


def test_messages_can_be_reached_and_answered_with_the_keyboard(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    site.say(GROUP, BEN, "the first")
    site.say(GROUP, BEN, "the second")
    page = open_window(f"#/{OLGA}/{GROUP}").page
    message(page, "the second").focus()

    page.keyboard.press("ArrowUp")
    expect(message(page, "the first")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_test_id("composer-strip")).to_contain_text("the first")
    expect(page.get_by_test_id("composer-input")).to_be_focused()


def test_new_messages_are_announced_to_screen_readers(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window().page

    site.call("sendMessage", chat_id=OLGA, text="I remember")

    expect(page.locator("#announcer[aria-live=polite]")).to_have_text("Mnemogram: I remember")


@pytest.mark.parametrize("width", [360, 390, 430])
def test_a_phone_shows_list_and_chat_as_two_screens(
    site: SimulatorSite, open_window: OpenWindow, width: int
) -> None:
    long = "https://example.org/" + "a" * 300 + "\n" + "x" * 400
    site.call(
        "sendMessage", chat_id=OLGA, text=long, entities=[entity(long, "x" * 400, "pre", language="text")]
    )
    window = open_window(f"#/{OLGA}", width=width, height=800, has_touch=True, is_mobile=True)
    page = window.page
    expect(page.get_by_test_id("composer-input")).to_be_hidden()
    assert not window.overflows

    chat_item(page, OLGA).tap()
    expect(page.get_by_test_id("composer-input")).to_be_in_viewport()
    expect(chat_item(page, OLGA)).to_be_hidden()
    assert not window.overflows
    send(page, "from a phone")
    expect(message(page, "from a phone")).to_be_in_viewport()
    message(page, "from a phone").locator(".bubble").tap()
    message(page, "from a phone").get_by_test_id("reply-button").tap()
    expect(page.get_by_test_id("composer-strip")).to_be_in_viewport()
    assert not window.overflows

    page.get_by_test_id("back").tap()
    expect(chat_item(page, OLGA)).to_be_in_viewport()
    expect(page.get_by_test_id("composer-input")).to_be_hidden()


def test_the_page_loads_everything_from_the_simulator(site: SimulatorSite, open_window: OpenWindow) -> None:
    window = open_window()
    page = window.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.reload()
    open_chat(page, FORUM)
    expect(page.get_by_test_id("topic-tab")).to_have_count(3)

    assert asked
    assert [url for url in asked if not url.startswith((site.url, "data:"))] == []
    assert not window.overflows
