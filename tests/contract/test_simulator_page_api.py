"""The chat page's API: the state, people's actions, and the stream of events."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from simulator.api.world import BEN, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import next_event, served_simulator, simulator

pytestmark = pytest.mark.slow

BOT_ID = 4242


async def test_the_page_and_its_modules_are_served() -> None:
    async with simulator() as sim:
        page, module = await sim.http.get("/"), await sim.http.get("/static/world.js")
        outside = await sim.http.get("/static/../page_api.py")
    assert page.headers["content-type"].startswith("text/html")
    assert "frame-src 'none'" in page.headers["content-security-policy"]
    assert "javascript" in module.headers["content-type"]
    assert outside.status_code == 404


async def test_the_world_has_three_people_and_five_chats() -> None:
    async with simulator(notice="A stand-in answers.") as sim:
        world = await sim.world()
    assert world["bot"] == {
        "id": BOT_ID,
        "first_name": "Mnemogram",
        "username": "mnemogram_bot",
        "has_main_web_app": False,
    }
    assert world["notice"] == "A stand-in answers."
    assert world["deliveries"] == {"mode": "none", "pending": 0}
    assert [(one["username"], one["is_operator"]) for one in world["people"]] == [
        ("olga", True),
        ("ben", False),
        ("chiara", False),
    ]
    assert [(one["id"], one["type"]) for one in world["chats"]][3:] == [
        (WEEKEND_PLANS, "group"),
        (WORKSHOP, "supergroup"),
    ]
    assert world["chats"][4] == {
        "id": WORKSHOP,
        "type": "supergroup",
        "title": "Workshop",
        "is_forum": True,
        "bot_status": "member",
        "can_have_topics": True,
        "migrated_to": None,
        "members": [1001, 1002, 1003, BOT_ID],
        "admins": [1001],
        "topics": [
            {"message_thread_id": None, "name": "General"},
            {"message_thread_id": 2, "name": "Ideas"},
            {"message_thread_id": 3, "name": "Bugs"},
        ],
        "commands": [],
    }


async def test_a_message_gets_its_entities_topic_and_reply() -> None:
    async with simulator() as sim:
        first = await sim.say(WORKSHOP, "an idea", from_id=BEN, message_thread_id=2)
        second = await sim.say(WORKSHOP, "/ok @ben", from_id=OLGA, reply_to_message_id=first["message_id"])
    assert (second["message_thread_id"], second["is_topic_message"]) == (2, True)
    assert second["reply_to_message"]["message_id"] == first["message_id"]
    assert second["entities"] == [
        {"type": "bot_command", "offset": 0, "length": 3},
        {"type": "mention", "offset": 4, "length": 4},
    ]


async def test_the_bot_gets_only_updates_that_privacy_mode_allows() -> None:
    async with simulator() as sim:
        await sim.say(WEEKEND_PLANS, "just us", from_id=BEN)
        await sim.say(WEEKEND_PLANS, "@mnemogram_bot hello", from_id=BEN)
        sent = await sim.result("sendMessage", chat_id=WEEKEND_PLANS, text="hello")
        await sim.say(WEEKEND_PLANS, "thanks", from_id=BEN, reply_to_message_id=sent["message_id"])
        seen = [update["message"]["text"] for update in await sim.result("getUpdates")]
        shown = [message["text"] for message in await sim.messages(WEEKEND_PLANS)]
    assert seen == ["@mnemogram_bot hello", "thanks"]
    assert shown == ["just us", "@mnemogram_bot hello", "hello", "thanks"]


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("messages", {"chat_id": 5, "from_id": OLGA, "text": "x"}, 404, "There is no such chat."),
        ("messages", {"chat_id": BEN, "from_id": OLGA, "text": "x"}, 403, "That person is not in this chat."),
        ("messages", {"chat_id": OLGA, "from_id": OLGA, "text": " "}, 400, "A message needs some text."),
        (
            "messages",
            {"chat_id": OLGA, "from_id": OLGA, "text": "x", "reply_to_message_id": 9},
            404,
            "There is no such message in this chat.",
        ),
        (
            "messages",
            {"chat_id": WORKSHOP, "from_id": OLGA, "text": "x", "message_thread_id": 9},
            404,
            "There is no such topic in this chat.",
        ),
        ("messages", {"chat_id": OLGA, "text": "x"}, 422, "from_id: Field required."),
        (
            "callbacks",
            {"chat_id": WORKSHOP, "from_id": OLGA, "message_id": 2, "data": "x"},
            404,
            "The message has no such button.",
        ),
        (
            "web_apps",
            {"chat_id": OLGA, "from_id": OLGA, "url": "https://bot.example/app/"},
            404,
            "The simulator does not know a Mini App of this bot.",
        ),
        (
            "web_apps",
            {"chat_id": OLGA, "from_id": OLGA, "url": "https://bot.example/app/", "start_param": "m1"},
            422,
            "the request: Value error, a button has no start_param.",
        ),
        ("blocks", {"chat_id": 5, "blocked": True}, 404, "There is no such chat."),
        ("people", {"first_name": "Olga", "username": "OLGA"}, 409, "That username is taken."),
        (
            "chats",
            {"title": "Empty", "type": "group"},
            400,
            "A chat needs members, and each must be one of the people.",
        ),
        (
            "chats",
            {"title": "Odd", "type": "group", "is_forum": True, "members": [OLGA]},
            400,
            "Only a supergroup can have topics.",
        ),
    ],
)
async def test_an_impossible_action_is_refused_in_one_sentence(
    path: str, body: dict[str, Any], status: int, sentence: str
) -> None:
    async with simulator() as sim:
        answer = await sim.http.post(f"/api/{path}", json=body)
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})


async def test_other_origins_forms_and_broken_json_are_refused() -> None:
    async with simulator() as sim:
        form = await sim.http.post("/api/messages", data={"chat_id": OLGA})
        broken = await sim.http.post(
            "/api/messages", content=b"{", headers={"content-type": "application/json"}
        )
    assert (form.status_code, broken.status_code) == (415, 400)
    assert broken.json() == {"error": "The request is not JSON in UTF-8."}


async def test_a_press_of_a_mini_apps_button_returns_its_address_for_the_person() -> None:
    url = "http://127.0.0.1:8080/app/?link=m1"
    keyboard = {"inline_keyboard": [[{"text": "Open", "web_app": {"url": url}}]]}
    async with simulator(mini_app_url="http://127.0.0.1:8080/app/") as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x", reply_markup=keyboard)
        press = {"chat_id": OLGA, "from_id": OLGA, "message_id": sent["message_id"], "url": url}
        opened = await sim.page("web_apps", **press, theme_params={"bg_color": "#17181f"})
    address, _, fragment = opened["url"].partition("#")
    assert address == url
    fields = dict(parse_qsl(fragment))
    assert json.loads(fields["tgWebAppThemeParams"]) == {"bg_color": "#17181f"}
    assert json.loads(dict(parse_qsl(fields["tgWebAppData"]))["user"])["id"] == OLGA


async def test_people_can_edit_only_their_own_messages_and_only_with_a_change() -> None:
    async with simulator() as sim:
        said = await sim.say(WEEKEND_PLANS, "hello", from_id=BEN)
        edit = {"chat_id": WEEKEND_PLANS, "message_id": said["message_id"]}
        others = await sim.http.post("/api/edits", json={**edit, "from_id": OLGA, "text": "x"})
        same = await sim.http.post("/api/edits", json={**edit, "from_id": BEN, "text": "hello"})
        changed = await sim.page("edits", **edit, from_id=BEN, text="/hello")
    assert others.json() == {"error": "Only your own messages can be edited."}
    assert same.json() == {"error": "The text is the same as before."}
    assert (changed["text"], changed["entities"][0]["type"]) == ("/hello", "bot_command")


async def test_a_person_who_blocked_the_bot_must_unblock_it_to_write() -> None:
    async with simulator() as sim:
        await sim.page("blocks", chat_id=BEN, blocked=True)
        refused = await sim.http.post("/api/messages", json={"chat_id": BEN, "from_id": BEN, "text": "x"})
        members = [chat["members"] for chat in (await sim.world())["chats"] if chat["id"] == BEN]
    assert refused.json() == {"error": "Unblock the bot to write to it."}
    assert members == [[BEN]]


async def test_a_removed_bot_gets_that_update_and_then_no_more() -> None:
    async with simulator(privacy_mode=False) as sim:
        await sim.page("blocks", chat_id=WEEKEND_PLANS, blocked=True)
        await sim.say(WEEKEND_PLANS, "alone at last", from_id=BEN)
        await sim.page("blocks", chat_id=WEEKEND_PLANS, blocked=False)
        await sim.say(WEEKEND_PLANS, "welcome", from_id=BEN)
        updates = await sim.result("getUpdates")
    kinds = [update.get("message", {"my_chat_member": 1}).keys() for update in updates]
    assert [
        next(key for key in keys if key in {"left_chat_member", "my_chat_member", "new_chat_members", "text"})
        for keys in kinds
    ] == ["left_chat_member", "my_chat_member", "my_chat_member", "new_chat_members", "text"]


async def test_people_and_chats_can_be_added() -> None:
    async with simulator() as sim:
        person = await sim.page("people", first_name="Dan", username="dan_42", is_operator=True)
        chat = await sim.page(
            "chats",
            title="Lab",
            type="supergroup",
            is_forum=True,
            members=[person["id"]],
            admins=[OLGA],
            topics=["Runs"],
        )
        line = await sim.say(chat["id"], "/start", from_id=person["id"], message_thread_id=2)
        private = await sim.say(person["id"], "hello")
    assert (person["id"], person["is_operator"]) == (1004, True)
    assert (chat["admins"], chat["members"]) == ([OLGA], [OLGA, person["id"], BOT_ID])
    assert chat["topics"][1] == {"message_thread_id": 2, "name": "Runs"}
    assert line["reply_to_message"]["forum_topic_created"]["name"] == "Runs"
    assert private["chat"]["username"] == "dan_42"


async def test_a_thread_of_replies_in_a_plain_supergroup_is_no_topic() -> None:
    async with simulator() as sim:
        chat = await sim.page("chats", title="Plain", type="supergroup", members=[BEN, OLGA])
        first = await sim.say(chat["id"], "one", from_id=BEN)
        reply = await sim.say(chat["id"], "two", from_id=OLGA, reply_to_message_id=first["message_id"])
        third = await sim.say(chat["id"], "three", from_id=BEN, reply_to_message_id=reply["message_id"])
    assert reply["message_thread_id"] == third["message_thread_id"] == first["message_id"]
    assert "is_topic_message" not in reply


async def test_an_unknown_update_is_not_found() -> None:
    async with simulator() as sim:
        answer = await sim.http.get("/api/updates/1")
    assert (answer.status_code, answer.json()) == (404, {"error": "There is no such update."})


async def test_the_page_gets_events_at_once() -> None:
    async with served_simulator() as sim, sim.events() as events:
        said = await sim.say(OLGA, "helo")
        heard = await next_event(events, "message")
        waiting = await next_event(events, "deliveries")
        await sim.page("edits", chat_id=OLGA, from_id=OLGA, message_id=said["message_id"], text="hello")
        edited = await next_event(events, "edit")
        sent = await sim.result("sendMessage", chat_id=OLGA, text="hi")
        await sim.result("deleteMessage", chat_id=OLGA, message_id=sent["message_id"])
        deleted = await next_event(events, "delete")
        await sim.result("setMyCommands", commands=[{"command": "start", "description": "Begin"}])
        commands = await next_event(events, "commands")
        await sim.page("people", first_name="Dan")
        await next_event(events, "world")
    assert heard["message"] == said
    assert (waiting["mode"], waiting["pending"]) == ("none", 1)
    assert edited["message"]["text"] == "hello"
    assert (deleted["chat_id"], deleted["message_id"]) == (OLGA, sent["message_id"])
    assert commands["commands"] == [{"command": "start", "description": "Begin"}]


async def test_a_reconnected_page_gets_missed_events() -> None:
    async with served_simulator() as sim:
        async with sim.events() as events:
            await sim.say(OLGA, "one")
            seen = await next_event(events, "message")
        await sim.say(OLGA, "two")
        async with sim.events(after=seen["id"]) as events:
            missed = await next_event(events, "message")
        async with sim.events(after=3) as events:
            lost = await anext(events)
    assert missed["message"]["text"] == "two"
    assert lost["type"] == "world"


async def test_the_page_shows_the_delivery_of_updates() -> None:
    async with served_simulator() as sim, sim.events() as events:
        await sim.result("getUpdates")
        polling = await next_event(events, "deliveries")
        await sim.say(OLGA, "one")
        waiting = await next_event(events, "deliveries")
        await sim.result("setWebhook", url="http://127.0.0.1:1/hook", drop_pending_updates=True)
        webhook = await next_event(events, "deliveries")
    told = [(one["mode"], one["pending"]) for one in (polling, waiting, webhook)]
    assert told == [("polling", 0), ("polling", 1), ("webhook", 0)]
