"""Tests of files, reactions and changes of messages and chats on the chat page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from simulator.api.config import SimulatorConfig
from tests.browser.conftest import DEADLINE_S, OpenWindow, SimulatorSite, run_simulator
from tests.sent_files import make_picture, make_voice_note

OLGA, BEN, CHIARA = 1001, 1002, 1003
BOT_CHAT, GROUP, FORUM = BEN, -2001, -1003001
IDEAS = 2
PICTURE: FilePayload = {"name": "garden.png", "mimeType": "image/png", "buffer": make_picture(320, 200)}
NOTES: FilePayload = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Notes\n"}
VOICE: FilePayload = {"name": "memo.oga", "mimeType": "audio/ogg", "buffer": make_voice_note(3)}


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[SimulatorSite]:
    """Run the simulator, with topics in private chats if the test asks for them."""
    with run_simulator(SimulatorConfig(private_topics=getattr(request, "param", False))) as site:
        yield site


def sent(site: SimulatorSite, chat_id: int) -> list[Any]:
    world = httpx.get(f"{site.url}/api/world", timeout=DEADLINE_S).json()
    return [one for one in world["messages"] if one["chat"]["id"] == chat_id]


def chat(site: SimulatorSite, chat_id: int) -> Any:
    world = httpx.get(f"{site.url}/api/world", timeout=DEADLINE_S).json()
    return next(one for one in world["chats"] if one["id"] == chat_id)


def bubbles(page: Page) -> Locator:
    return page.get_by_test_id("message")


def tool(page: Page, row: Locator, name: str) -> Locator:
    row.hover()
    return row.get_by_test_id(f"{name}-button")


def choose_in_menu(page: Page, name: str) -> None:
    page.get_by_test_id("chat-menu").click()
    page.get_by_test_id(name).click()


def test_a_photo_is_sent_with_its_caption_and_shown(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page
    page.get_by_test_id("choose-photo").set_input_files([PICTURE])
    expect(page.get_by_test_id("tile")).to_have_count(1)
    page.get_by_test_id("composer-input").fill("my garden")

    page.keyboard.press("Enter")

    picture = bubbles(page).get_by_test_id("media-photo").locator("img")
    expect(picture).to_have_js_property("naturalWidth", 320)
    expect(bubbles(page)).to_contain_text("my garden")
    expect(page.get_by_test_id("tile")).to_have_count(0)
    message = sent(site, BEN)[-1]
    assert (message["caption"], message["photo"][-1]["width"]) == ("my garden", 320)


def test_several_photos_are_one_album(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page

    page.get_by_test_id("choose-photo").set_input_files([PICTURE, PICTURE, PICTURE])
    page.get_by_test_id("detach").last.click()
    page.get_by_test_id("send").click()

    expect(bubbles(page).get_by_test_id("media-photo")).to_have_count(2)
    groups = {message["media_group_id"] for message in sent(site, BEN)}
    assert len(groups) == 1


def test_a_document_is_sent_and_can_be_downloaded(
    site: SimulatorSite, open_window: OpenWindow, tmp_path: Path
) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page
    page.get_by_test_id("attach").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("attach-file").click()
    chooser.value.set_files([NOTES])
    page.get_by_test_id("send").click()

    with page.expect_download() as download:
        bubbles(page).get_by_test_id("media-document").locator("a").click()

    assert download.value.suggested_filename == "notes.md"
    assert Path(download.value.path()).read_bytes() == b"# Notes\n"
    assert sent(site, BEN)[-1]["document"]["mime_type"] == "text/markdown"


def test_a_voice_message_is_recorded_sent_and_played(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}", permissions=["microphone"]).page
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("recording").get_by_role("timer")).to_have_text("0:01")

    page.get_by_test_id("record-send").click()

    player = bubbles(page).get_by_test_id("media-voice").locator("audio")
    expect(player).to_have_js_property("error", None)
    expect(player).not_to_have_js_property("readyState", 0)
    voice = sent(site, BEN)[-1]["voice"]
    assert voice["duration"] in (1, 2)
    assert voice["file_size"] > 1000


def test_a_discarded_recording_is_not_sent(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}", permissions=["microphone"]).page
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("recording").get_by_role("timer")).to_have_text("0:01")

    page.keyboard.press("Escape")

    expect(page.get_by_test_id("recording")).to_be_hidden()
    expect(page.get_by_test_id("record")).to_be_visible()
    assert sent(site, BEN) == []


def test_without_a_microphone_the_page_asks_for_a_recorded_file(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page

    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("record").click()
    chooser.value.set_files([VOICE])
    page.get_by_test_id("send").click()

    expect(bubbles(page).get_by_test_id("media-voice")).to_contain_text("Voice message")
    assert "voice" in sent(site, BEN)[-1]


def test_the_selected_text_is_quoted_in_the_reply(site: SimulatorSite, open_window: OpenWindow) -> None:
    asked = site.say(GROUP, OLGA, "we need a tent, a lamp and some bread")
    page = open_window(f"#/{BEN}/{GROUP}").page
    row = bubbles(page).first
    page.evaluate(
        """() => {
            const text = document.querySelector("[data-testid=message-text]").firstChild;
            getSelection().setBaseAndExtent(text, 16, text, 22);
        }"""
    )

    tool(page, row, "reply").click()
    expect(page.get_by_test_id("composer-strip")).to_contain_text("Quote Olga Marina lamp")
    page.keyboard.type("I have one")
    page.keyboard.press("Enter")

    expect(bubbles(page).last.get_by_test_id("reply-quote")).to_have_text("Olga Marina lamp")
    message = sent(site, GROUP)[-1]
    assert message["reply_to_message"]["message_id"] == asked["message_id"]
    assert (message["quote"]["text"], message["quote"]["position"]) == ("a lamp", 16)


def test_a_message_is_forwarded_to_another_chat(site: SimulatorSite, open_window: OpenWindow) -> None:
    site.say(GROUP, OLGA, "the train leaves at 9:30")
    page = open_window(f"#/{BEN}/{GROUP}").page

    tool(page, bubbles(page).first, "forward").click()
    page.locator(f"[data-testid=place-option][data-chat-id='{BEN}']").click()

    expect(bubbles(page)).to_contain_text("Forwarded from Olga Marin")
    expect(page.get_by_test_id("chat-title")).to_have_text("Mnemogram")
    message = sent(site, BEN)[-1]
    assert message["text"] == "the train leaves at 9:30"
    assert message["forward_origin"]["sender_user"]["id"] == OLGA


def test_a_reaction_is_given_and_taken_back(site: SimulatorSite, open_window: OpenWindow) -> None:
    site.say(GROUP, OLGA, "tickets are bought")
    page = open_window(f"#/{BEN}/{GROUP}").page
    row = bubbles(page).first

    tool(page, row, "react").click()
    page.get_by_test_id("palette-choice").filter(has_text="👍").click()

    chip = bubbles(page).first.get_by_test_id("reaction")
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(chip).to_have_text("👍")
    chip.click()
    expect(chip).to_have_count(0)


def test_the_caption_of_a_photo_is_edited(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page
    page.get_by_test_id("choose-photo").set_input_files([PICTURE])
    page.get_by_test_id("composer-input").fill("my gardn")
    page.keyboard.press("Enter")
    expect(bubbles(page)).to_have_count(1)

    tool(page, bubbles(page), "edit").click()
    page.get_by_test_id("composer-input").fill("my garden")
    page.keyboard.press("Enter")

    expect(bubbles(page)).to_contain_text("edited")
    assert [message["caption"] for message in sent(site, BEN)] == ["my garden"]


def test_a_deleted_message_vanishes_for_everyone(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{GROUP}").page
    other = open_window(f"#/{OLGA}/{GROUP}").page
    page.get_by_test_id("composer-input").fill("not meant for here")
    page.keyboard.press("Enter")
    expect(bubbles(other)).to_have_count(1)

    tool(page, bubbles(page), "delete").click()

    expect(bubbles(page)).to_have_count(0)
    expect(bubbles(other)).to_have_count(0)
    assert [one for one in sent(site, GROUP) if "text" in one] == []


def test_a_draft_grows_with_its_stop_button_until_the_answer_replaces_it(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page
    site.say(BEN, BEN, "tell me a story")
    site.call("sendMessageDraft", chat_id=BEN, draft_id=4, text="Once")
    keys = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop:1"}]]}
    stop = site.call("sendMessage", chat_id=BEN, text="Writing…", reply_markup=keys)
    site.call("sendMessageDraft", chat_id=BEN, draft_id=4, text="Once upon")
    draft = page.get_by_test_id("draft")
    expect(draft).to_have_text("Once upon")

    page.get_by_test_id("inline-button").click()

    pressed = next(
        update["callback_query"] for update in site.call("getUpdates") if "callback_query" in update
    )
    assert pressed["data"] == "stop:1"
    site.call("answerCallbackQuery", callback_query_id=pressed["id"], text="Stopped.")
    expect(page.get_by_test_id("toast")).to_have_text("Stopped.")
    site.call("sendMessage", chat_id=BEN, text="Once upon a")
    site.call("deleteMessage", chat_id=BEN, message_id=stop["message_id"])
    expect(bubbles(page)).to_have_count(2)
    expect(bubbles(page).last).to_contain_text("Once upon a")
    expect(draft).to_have_count(0)


@pytest.mark.parametrize("site", [True], indirect=True)
def test_a_private_chat_has_topics_if_the_bot_allows_them(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page
    expect(page.get_by_role("tablist")).to_be_hidden()
    choose_in_menu(page, "start-topic")
    page.get_by_label("Name").fill("Recipes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", selected=True)).to_contain_text("Recipes")

    page.get_by_test_id("composer-input").fill("bread needs time")
    page.keyboard.press("Enter")

    expect(bubbles(page)).to_contain_text("bread needs time")
    message = sent(site, BEN)[-1]
    assert message["is_topic_message"]
    page.get_by_role("tab", name="General").click()
    expect(bubbles(page)).to_have_count(0)
    expect(page.get_by_test_id("new-topic")).to_be_visible()


def test_an_administrator_promotes_the_bot_and_upgrades_the_group(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{OLGA}/{GROUP}").page
    choose_in_menu(page, "promote")
    expect(page.get_by_test_id("chat-menu")).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_test_id("promote")).to_contain_text("no longer")

    choose_in_menu(page, "upgrade")

    expect(page.get_by_test_id("toast")).to_contain_text("supergroup")
    expect(page).not_to_have_url(re.compile(rf"/{GROUP}$"))
    expect(page.get_by_test_id("service")).to_contain_text("supergroup")
    assert chat(site, GROUP)["bot_status"] == "administrator"
    new_id = chat(site, GROUP)["migrated_to"]
    page.goto(f"{site.url}/#/{OLGA}/{GROUP}")
    page.get_by_test_id("unblock").click()
    expect(page).to_have_url(re.compile(rf"/{new_id}$"))


def test_a_person_who_leaves_a_group_does_not_see_it_until_added_again(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    page = open_window(f"#/{BEN}/{GROUP}").page

    choose_in_menu(page, "leave")

    expect(page.locator(f"[data-testid=chat-list-item][data-chat-id='{GROUP}']")).to_have_count(0)
    page.goto(f"{site.url}/#/{OLGA}/{GROUP}")
    choose_in_menu(page, "add-person")
    expect(page.get_by_test_id("service").last).to_have_text("Olga Marin added Ben Hart")


def test_a_flood_wait_can_be_ordered_and_cancelled(site: SimulatorSite, open_window: OpenWindow) -> None:
    page = open_window(f"#/{BEN}/{BEN}").page

    choose_in_menu(page, "fault-flood")
    expect(page.get_by_test_id("toast")).to_contain_text("429")

    refused = httpx.post(
        f"{site.url}/bot{site.token}/sendMessage",
        json={"chat_id": BEN, "text": "too soon"},
        timeout=DEADLINE_S,
    )
    assert refused.status_code == 429
    assert 0 < refused.json()["parameters"]["retry_after"] <= 10
    choose_in_menu(page, "fault-clear")
    expect(page.get_by_test_id("toast").last).to_contain_text("as usual")
    site.call("sendMessage", chat_id=BEN, text="now")
    expect(bubbles(page)).to_contain_text("now")


def test_on_a_phone_the_tools_of_a_message_do_not_cover_its_text(
    site: SimulatorSite, open_window: OpenWindow
) -> None:
    site.call(
        "sendMessage", chat_id=BEN, text="A long answer that takes a few lines on a phone's narrow width."
    )
    window = open_window(f"#/{BEN}/{BEN}", width=390, height=844, has_touch=True, is_mobile=True)
    row = bubbles(window.page)
    row.get_by_test_id("message-text").tap()

    tools = row.locator(".tools")
    expect(tools).to_be_visible()
    text, buttons = row.locator(".bubble").bounding_box(), tools.bounding_box()
    assert text is not None
    assert buttons is not None
    assert buttons["y"] >= text["y"] + text["height"]
    assert not window.overflows
