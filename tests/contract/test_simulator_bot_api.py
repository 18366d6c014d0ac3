"""The simulated Bot API over HTTP: tokens, parameters, answers and each method's rules."""

import json
from typing import Any

import httpx
import pytest

from simulator.api.config import DEFAULT_TOKEN
from simulator.api.world import BEN, CHIARA, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import next_event, served_simulator, simulator

pytestmark = pytest.mark.slow

UNKNOWN = 999_999
BOT_ID = 4242


def one_button(**action: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": "a", **action}]]}


@pytest.mark.parametrize(
    ("path", "status", "description"),
    [
        (f"/bot{DEFAULT_TOKEN}/getMoon", 404, "Not Found"),
        ("/bot4242:another-token/getMe", 401, "Unauthorized"),
        ("/botnonsense/getMe", 404, "Not Found"),
        (f"/bot{DEFAULT_TOKEN}", 404, "Not Found"),
        (f"/file/bot{DEFAULT_TOKEN}/documents/1.pdf", 404, "Not Found"),
        ("/file/bot4242:another-token/documents/1.pdf", 401, "Unauthorized"),
    ],
)
async def test_a_wrong_path_gets_telegrams_answer(path: str, status: int, description: str) -> None:
    async with simulator() as sim:
        answer = await sim.http.get(path)
    assert answer.status_code == status
    assert answer.json() == {"ok": False, "error_code": status, "description": description}


async def test_query_form_multipart_and_json_parameters_are_equal() -> None:
    entities = [{"type": "bold", "offset": 0, "length": 2}]
    plain = {"chat_id": str(OLGA), "text": "hi", "entities": json.dumps(entities)}
    path = f"/bot{DEFAULT_TOKEN}/SENDmessage"
    async with simulator() as sim:
        answers = [
            await sim.http.get(path, params=plain),
            await sim.http.post(path, data=plain),
            await sim.http.post(path, data=plain, files={"extra": ("a.txt", b"\xff\x00")}),
            await sim.http.post(path, json={"chat_id": OLGA, "text": "hi", "entities": entities}),
            await sim.http.post(
                path, params={"chat_id": OLGA}, data={"text": "hi", "entities": plain["entities"]}
            ),
        ]
    assert [answer.json()["result"]["entities"] for answer in answers] == [entities] * 5


@pytest.mark.parametrize(
    ("content", "content_type", "description"),
    [
        (b"{", "application/json", "Bad Request: can't parse JSON object"),
        (b"[]", "application/json", "Bad Request: can't parse JSON object: expected an Object"),
        (b'{"text": "\\ud83d"}', "application/json", "Bad Request: strings must be encoded in UTF-8"),
        (b'{"chat_id": 1e999}', "application/json", "Bad Request: can't parse JSON object"),
        (
            b"chat_id=1001&text=x&link_preview_options=%7B%22url%22%3A+NaN%7D",
            "application/x-www-form-urlencoded",
            "Bad Request: can't parse link preview options JSON object",
        ),
        (b"\xff\xfe", "application/json", "Bad Request: strings must be encoded in UTF-8"),
        (b"text=%ff", "application/x-www-form-urlencoded", "Bad Request: strings must be encoded in UTF-8"),
    ],
)
async def test_an_unreadable_body_is_refused(content: bytes, content_type: str, description: str) -> None:
    async with simulator() as sim:
        answer = await sim.http.post(
            f"/bot{DEFAULT_TOKEN}/sendMessage", content=content, headers={"content-type": content_type}
        )
    assert (answer.status_code, answer.json()["description"]) == (400, description)


async def test_get_me_shows_the_privacy_mode() -> None:
    async with simulator() as sim, simulator(privacy_mode=False) as open_sim:
        me, open_me = await sim.result("getMe"), await open_sim.result("getMe")
    assert (me["id"], me["username"], me["is_bot"]) == (BOT_ID, "mnemogram_bot", True)
    assert (me["can_read_all_group_messages"], open_me["can_read_all_group_messages"]) == (False, True)


async def test_get_me_tells_if_there_is_a_main_mini_app() -> None:
    async with simulator() as sim, simulator(mini_app_url="https://bot.example/app/") as with_app:
        told = [(await one.result("getMe"))["has_main_web_app"] for one in (sim, with_app)]
        shown = [(await one.world())["bot"]["has_main_web_app"] for one in (sim, with_app)]
    assert told == shown == [False, True]


async def test_a_sent_message_is_returned_and_shown() -> None:
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with simulator() as sim:
        asked = await sim.say(OLGA, "hello")
        sent = await sim.result(
            "sendMessage",
            chat_id=OLGA,
            text="  see example.com ",
            entities=[{"type": "italic", "offset": 2, "length": 3}],
            reply_parameters={"message_id": asked["message_id"]},
            reply_markup=keyboard,
            link_preview_options={"is_disabled": True},
        )
        (_, shown) = await sim.messages(OLGA)
    assert sent == shown
    assert sent["message_id"] == asked["message_id"] + 1
    assert sent["from"]["id"] == BOT_ID
    assert (sent["text"], sent["reply_markup"]) == ("see example.com", keyboard)
    assert sent["entities"] == [
        {"type": "italic", "offset": 0, "length": 3},
        {"type": "url", "offset": 4, "length": 11},
    ]
    assert sent["link_preview_options"] == {"is_disabled": True}
    assert sent["reply_to_message"]["text"] == "hello"


@pytest.mark.parametrize(
    ("parameters", "description"),
    [
        ({"chat_id": OLGA}, "message text is empty"),
        ({"chat_id": None, "text": "x"}, "chat_id is empty"),
        ({"chat_id": OLGA, "text": ""}, "message text is empty"),
        ({"chat_id": OLGA, "text": " \n "}, "text must be non-empty"),
        ({"chat_id": OLGA, "text": "x" * 4097}, "message is too long"),
        ({"chat_id": OLGA, "text": "😀" * 2049}, "message is too long"),
        ({"chat_id": OLGA, "text": "x" * 40_000}, "text is too long"),
        ({"text": "x"}, "chat_id is empty"),
        ({"chat_id": UNKNOWN, "text": "x"}, "chat not found"),
        ({"chat_id": "@nobody_here", "text": "x"}, "chat not found"),
        ({"chat_id": OLGA, "text": "x", "message_thread_id": 2}, "message thread not found"),
        ({"chat_id": WORKSHOP, "text": "x", "message_thread_id": 1}, "message thread not found"),
        (
            {"chat_id": OLGA, "text": "x", "reply_parameters": {"message_id": UNKNOWN}},
            "message to be replied not found",
        ),
        ({"chat_id": OLGA, "text": "x", "entities": "[{"}, "can't parse entities JSON object"),
        (
            {"chat_id": OLGA, "text": "x", "entities": [{"type": "shiny", "offset": 0, "length": 1}]},
            "can't parse MessageEntity: Unsupported type specified",
        ),
        (
            {"chat_id": OLGA, "text": "x", "entities": [{"type": "bold", "offset": 0, "length": 2}]},
            "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 2",
        ),
        (
            {
                "chat_id": OLGA,
                "text": "x",
                "entities": [{"type": "text_mention", "offset": 0, "length": 1, "user": {"id": UNKNOWN}}],
            },
            "user not found",
        ),
        (
            {"chat_id": OLGA, "text": "<b>x</b>", "parse_mode": "HTML"},
            "parse_mode is not supported by the simulator, send entities instead",
        ),
        ({"chat_id": OLGA, "text": "x", "reply_markup": "[]"}, "object expected as reply markup"),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": {"inline_keyboard": [[{"text": "a"}]]}},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": {"inline_keyboard": 1}},
            'field "inline_keyboard" of the InlineKeyboardMarkup must be of type Array',
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": {"inline_keyboard": [1]}},
            "can't parse inline keyboard button: InlineKeyboardButton row must be an Array",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": {"inline_keyboard": [[1]]}},
            "can't parse inline keyboard button: InlineKeyboardButton must be an Object",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": {"inline_keyboard": [[{"url": "x"}]]}},
            'can\'t parse inline keyboard button: Field "text" must be non-empty',
        ),
        (
            {
                "chat_id": OLGA,
                "text": "x",
                "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "d" * 65}]]},
            },
            "BUTTON_DATA_INVALID",
        ),
        (
            {
                "chat_id": OLGA,
                "text": "x",
                "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "d"}]] * 101},
            },
            "reply markup is too long",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": one_button(url="localhost")},
            "inline keyboard button URL 'localhost' is invalid: Wrong HTTP URL",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": one_button(web_app={"url": "tg://resolve"})},
            "inline keyboard button Web App URL 'tg://resolve' is invalid: Only HTTP links are allowed",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": one_button(web_app={})},
            "can't parse inline keyboard button: Can't find field \"url\"",
        ),
        (
            {"chat_id": OLGA, "text": "x", "reply_markup": one_button(web_app="https://bot.example")},
            'can\'t parse inline keyboard button: Field "web_app" must be of type Object',
        ),
    ],
)
async def test_a_message_that_cannot_be_sent_is_refused(parameters: dict[str, Any], description: str) -> None:
    async with simulator() as sim:
        assert await sim.refusal("sendMessage", **parameters) == f"Bad Request: {description}"
        assert await sim.messages(OLGA) == []


async def test_a_web_app_button_is_sent_in_private_chats_and_refused_in_groups() -> None:
    keyboard = one_button(web_app={"url": "HTTP://127.0.0.1:8080/app/?link=m1"})
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x", reply_markup=keyboard)
        refusals = [
            await sim.refusal("sendMessage", chat_id=chat, text="x", reply_markup=keyboard)
            for chat in (WEEKEND_PLANS, WORKSHOP)
        ]
        plain = await sim.result("sendMessage", chat_id=WEEKEND_PLANS, text="x")
        edit = {"chat_id": WEEKEND_PLANS, "message_id": plain["message_id"], "reply_markup": keyboard}
        refusals.append(await sim.refusal("editMessageReplyMarkup", **edit))
    stored = one_button(web_app={"url": "http://127.0.0.1:8080/app/?link=m1"})
    assert sent["reply_markup"] == stored
    assert refusals == ["Bad Request: BUTTON_TYPE_INVALID"] * 3


async def test_a_link_button_is_sent_in_any_chat() -> None:
    keyboard = one_button(url="https://t.me/mnemogram_bot?startapp=m1")
    async with simulator() as sim:
        sent = [
            await sim.result("sendMessage", chat_id=chat, text="x", reply_markup=keyboard)
            for chat in (OLGA, WEEKEND_PLANS)
        ]
    stored = one_button(url="https://t.me/mnemogram_bot?startapp=m1")
    assert [message["reply_markup"] for message in sent] == [stored, stored]


async def test_the_longest_text_is_counted_after_trimming() -> None:
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="  " + "😀" * 2048 + "  ")
    assert len(sent["text"]) == 2048


async def test_a_message_may_be_sent_without_its_missing_reply_target() -> None:
    async with simulator() as sim:
        reply = {"message_id": UNKNOWN, "allow_sending_without_reply": True}
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x", reply_parameters=reply)
    assert "reply_to_message" not in sent


async def test_topics_are_kept_apart_and_general_has_no_thread() -> None:
    async with simulator() as sim:
        general = await sim.result("sendMessage", chat_id=WORKSHOP, text="to all")
        ideas = await sim.result("sendMessage", chat_id=WORKSHOP, text="idea", message_thread_id=2)
        reply = {"message_id": ideas["message_id"]}
        answer = await sim.result("sendMessage", chat_id=WORKSHOP, text="more", reply_parameters=reply)
    assert not {"message_thread_id", "is_topic_message"} & general.keys()
    assert (ideas["message_thread_id"], ideas["is_topic_message"]) == (2, True)
    assert ideas["reply_to_message"]["forum_topic_created"]["name"] == "Ideas"
    assert (answer["message_thread_id"], answer["reply_to_message"]["text"]) == (2, "idea")


async def test_an_edit_replaces_text_and_buttons_and_is_refused_without_a_change() -> None:
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one", reply_markup=keyboard)
        where = {"chat_id": OLGA, "message_id": sent["message_id"]}
        same = await sim.refusal("editMessageText", **where, text=" one ", reply_markup=keyboard)
        edited = await sim.result("editMessageText", **where, text="two")
    assert same == (
        "Bad Request: message is not modified: specified new message content and reply markup are exactly"
        " the same as a current content and reply markup of the message"
    )
    assert edited["text"] == "two"
    assert "edit_date" in edited
    assert "reply_markup" not in edited


async def test_a_change_of_entities_alone_is_a_change() -> None:
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one")
        bold = [{"type": "bold", "offset": 0, "length": 3}]
        edited = await sim.result(
            "editMessageText", chat_id=OLGA, message_id=sent["message_id"], text="one", entities=bold
        )
    assert edited["entities"] == bold


async def test_an_uneditable_message_is_refused() -> None:
    async with simulator() as sim:
        asked = await sim.say(OLGA, "hello")
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one")
        refusals = [
            await sim.refusal("editMessageText", chat_id=OLGA, text="x"),
            await sim.refusal("editMessageText", chat_id=OLGA, message_id=UNKNOWN, text="x"),
            await sim.refusal("editMessageText", chat_id=OLGA, message_id=asked["message_id"], text="x"),
            await sim.refusal(
                "editMessageText", chat_id=OLGA, message_id=sent["message_id"], text="x" * 4097
            ),
            await sim.refusal("editMessageText", chat_id=OLGA, message_id=sent["message_id"]),
        ]
    assert refusals == [
        "Bad Request: message identifier is not specified",
        "Bad Request: message to edit not found",
        "Bad Request: message can't be edited",
        "Bad Request: MESSAGE_TOO_LONG",
        "Bad Request: message text is empty",
    ]


async def test_a_deleted_message_is_gone() -> None:
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one")
        where = {"chat_id": OLGA, "message_id": sent["message_id"]}
        assert await sim.result("deleteMessage", **where) is True
        assert await sim.refusal("deleteMessage", **where) == "Bad Request: message to delete not found"
        assert (
            await sim.refusal("editMessageText", **where, text="x")
            == "Bad Request: message to edit not found"
        )


async def test_messages_of_others_are_deleted_in_private_chats_and_by_administrators_only() -> None:
    async with simulator() as sim:
        private = await sim.say(OLGA, "mine")
        group = await sim.say(WEEKEND_PLANS, "ours", from_id=BEN)
        led = await sim.page("chats", title="Led", type="supergroup", members=[BEN], admins=[OLGA, BOT_ID])
        line = await sim.say(led["id"], "theirs", from_id=BEN)
        assert await sim.result("deleteMessage", chat_id=OLGA, message_id=private["message_id"])
        assert await sim.result("deleteMessage", chat_id=led["id"], message_id=line["message_id"])
        refusal = await sim.refusal("deleteMessage", chat_id=WEEKEND_PLANS, message_id=group["message_id"])
    assert refusal == "Bad Request: message can't be deleted"


async def test_a_message_older_than_two_days_cannot_be_deleted() -> None:
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one")
        sim.clock.ahead_s = 48 * 3600 + 1
        refusal = await sim.refusal("deleteMessage", chat_id=OLGA, message_id=sent["message_id"])
    assert refusal == "Bad Request: message can't be deleted for everyone"


async def test_a_chat_action_is_shown_for_five_seconds() -> None:
    async with served_simulator() as sim, sim.events() as events:
        assert await sim.result("sendChatAction", chat_id=WORKSHOP, action="typing", message_thread_id=3)
        shown = await next_event(events, "action")
        refusal = await sim.refusal("sendChatAction", chat_id=OLGA, action="dancing")
    del shown["id"]
    assert shown == {
        "type": "action",
        "chat_id": WORKSHOP,
        "message_thread_id": 3,
        "action": "typing",
        "expires_in": 5,
    }
    assert refusal == "Bad Request: wrong parameter action in request"


async def test_a_draft_is_shown_until_a_message_is_sent() -> None:
    async with served_simulator() as sim, sim.events() as events:
        bold = [{"type": "bold", "offset": 0, "length": 2}]
        assert await sim.result("sendMessageDraft", chat_id=OLGA, draft_id=7, text="so", entities=bold)
        shown = await next_event(events, "draft")
        await sim.result("sendMessage", chat_id=OLGA, text="so it is")
        ended = await next_event(events, "draft")
    assert (shown["draft_id"], shown["text"], shown["entities"], shown["expires_in"]) == (7, "so", bold, 30)
    assert (ended["draft_id"], ended["expires_in"]) == (7, 0)


async def test_an_empty_draft_is_a_placeholder_and_drafts_expire() -> None:
    async with served_simulator() as sim, sim.events() as events:
        assert await sim.result("sendMessageDraft", chat_id=OLGA, draft_id=7)
        shown = await next_event(events, "draft")
        sim.clock.ahead_s = 31
        await sim.result("sendMessage", chat_id=OLGA, text="late")
        assert (await anext(events))["type"] == "message"
    assert (shown["text"], "entities" in shown) == ("", False)


@pytest.mark.parametrize(
    ("parameters", "description"),
    [
        ({"chat_id": WEEKEND_PLANS, "draft_id": 1, "text": "x"}, "TEXTDRAFT_PEER_INVALID"),
        ({"chat_id": OLGA, "draft_id": 0, "text": "x"}, "invalid draft identifier specified"),
        ({"chat_id": OLGA, "text": "x"}, "invalid draft identifier specified"),
        ({"chat_id": OLGA, "draft_id": 1, "text": "x" * 4097}, "message is too long"),
    ],
)
async def test_an_invalid_draft_is_refused(parameters: dict[str, Any], description: str) -> None:
    async with simulator() as sim:
        assert await sim.refusal("sendMessageDraft", **parameters) == f"Bad Request: {description}"


async def test_a_blocked_or_removed_bot_may_not_write() -> None:
    async with simulator() as sim:
        for chat_id in (BEN, WEEKEND_PLANS, WORKSHOP):
            await sim.page("blocks", chat_id=chat_id, blocked=True)
        refusals = [
            await sim.refusal("sendMessage", chat_id=BEN, text="x"),
            await sim.refusal("sendChatAction", chat_id=WEEKEND_PLANS, action="typing"),
            await sim.refusal("sendMessage", chat_id=WORKSHOP, text="x"),
            await sim.refusal("getChat", chat_id=WORKSHOP),
        ]
        assert (await sim.result("getChat", chat_id=BEN))["first_name"] == "Ben"
        await sim.page("blocks", chat_id=BEN, blocked=False)
        assert await sim.result("sendMessage", chat_id=BEN, text="x")
    assert refusals == [
        "Forbidden: bot was blocked by the user",
        "Forbidden: bot was kicked from the group chat",
        "Forbidden: bot was kicked from the supergroup chat",
        "Forbidden: bot was kicked from the supergroup chat",
    ]


async def test_a_migrated_group_names_its_new_id() -> None:
    async with simulator() as sim:
        old = await sim.page("chats", title="Old", type="group", members=[BEN], migrate_to_chat_id=WORKSHOP)
        answer = await sim.call("sendMessage", chat_id=old["id"], text="x")
    assert answer == {
        "ok": False,
        "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": WORKSHOP},
    }


async def test_get_chat_and_get_chat_member_answer() -> None:
    async with simulator() as sim:
        forum = await sim.result("getChat", chat_id=WORKSHOP)
        private = await sim.result("getChat", chat_id="@CHIARA")
        statuses = [
            (await sim.result("getChatMember", chat_id=WEEKEND_PLANS, user_id=user))["status"]
            for user in (OLGA, BEN, BOT_ID)
        ]
        admins = await sim.result("getChatAdministrators", chat_id=WEEKEND_PLANS)
        count = await sim.result("getChatMemberCount", chat_id=WEEKEND_PLANS)
        stranger = await sim.result("getChatMember", chat_id=BEN, user_id=CHIARA)
    assert (forum["is_forum"], forum["title"], forum["type"]) == (True, "Workshop", "supergroup")
    assert (private["id"], private["type"]) == (CHIARA, "private")
    assert statuses == ["creator", "member", "member"]
    assert [admin["user"]["id"] for admin in admins] == [OLGA]
    assert (count, stranger["status"]) == (4, "left")


async def test_a_promotion_and_a_demotion_change_the_administrators_at_once() -> None:
    change = {"chat_id": WEEKEND_PLANS, "from_id": OLGA, "user_id": BEN}
    async with simulator() as sim:
        seen: list[tuple[list[int], str]] = []
        for action in ("promote", "demote"):
            await sim.page("members", action=action, **change)
            admins = await sim.result("getChatAdministrators", chat_id=WEEKEND_PLANS)
            member = await sim.result("getChatMember", chat_id=WEEKEND_PLANS, user_id=BEN)
            seen.append(([one["user"]["id"] for one in admins], member["status"]))
    assert seen == [([OLGA, BEN], "administrator"), ([OLGA], "member")]


async def test_unanswerable_requests_are_refused() -> None:
    async with simulator() as sim:
        refusals = [
            await sim.refusal("getChat"),
            await sim.refusal("getChat", chat_id=UNKNOWN),
            await sim.refusal("getChatMember", chat_id=WEEKEND_PLANS, user_id=UNKNOWN),
            await sim.refusal("getChatMember", chat_id=WEEKEND_PLANS),
            await sim.refusal("getChatAdministrators", chat_id=OLGA),
            await sim.refusal("getFile", file_id="abc"),
            await sim.refusal("getFile"),
        ]
    assert refusals == [
        "Bad Request: chat_id is empty",
        "Bad Request: chat not found",
        "Bad Request: user not found",
        "Bad Request: invalid user_id specified",
        "Bad Request: there are no administrators in the private chat",
        "Bad Request: invalid file_id",
        "Bad Request: file_id not specified",
    ]


async def test_commands_are_kept_per_scope_and_language_and_shown_in_the_chats() -> None:
    start, reset = ({"command": name, "description": name.title()} for name in ("start", "reset"))
    async with simulator() as sim:
        group_scope = {"type": "all_group_chats"}
        await sim.result("setMyCommands", commands=[start])
        await sim.result("setMyCommands", commands=[start, reset], scope=group_scope)
        await sim.result("setMyCommands", commands=[reset], language_code="de")
        listed = [
            await sim.result("getMyCommands"),
            await sim.result("getMyCommands", scope=group_scope),
            await sim.result("getMyCommands", language_code="de"),
            await sim.result("getMyCommands", scope={"type": "chat", "chat_id": OLGA}),
        ]
        shown = {chat["id"]: chat["commands"] for chat in (await sim.world())["chats"]}
        await sim.result("deleteMyCommands", scope=group_scope)
        after = {chat["id"]: chat["commands"] for chat in (await sim.world())["chats"]}
    assert listed == [[start], [start, reset], [reset], []]
    assert (shown[OLGA], shown[WORKSHOP], after[WORKSHOP]) == ([start], [start, reset], [start])


@pytest.mark.parametrize(
    ("parameters", "description"),
    [
        ({"commands": [{"command": "Start!", "description": "x"}]}, "BOT_COMMAND_INVALID"),
        ({"commands": [{"command": "start", "description": ""}]}, "BOT_COMMAND_DESCRIPTION_INVALID"),
        ({"commands": [{"command": "a", "description": "x"}] * 101}, "BOT_COMMANDS_TOO_MUCH"),
        ({"commands": "["}, "can't parse commands JSON object"),
        ({"commands": ["start"]}, "can't parse BotCommand: expected an Object"),
        (
            {"commands": [], "scope": {"type": "moon"}},
            "can't parse BotCommandScope: Unsupported type specified",
        ),
        ({"commands": [], "scope": {"type": "chat", "chat_id": UNKNOWN}}, "chat not found"),
        (
            {"commands": [], "scope": {"type": "chat_administrators", "chat_id": OLGA}},
            "can't use the specified scope in the private chat",
        ),
        (
            {"commands": [], "scope": {"type": "chat_member", "chat_id": WORKSHOP, "user_id": UNKNOWN}},
            "user not found",
        ),
        ({"commands": [], "language_code": "english"}, "invalid language code specified"),
    ],
)
async def test_an_invalid_command_list_is_refused(parameters: dict[str, Any], description: str) -> None:
    async with simulator() as sim:
        assert await sim.refusal("setMyCommands", **parameters) == f"Bad Request: {description}"


async def test_a_reaction_is_shown_and_removed() -> None:
    async with served_simulator() as sim, sim.events() as events:
        asked = await sim.say(OLGA, "hello")
        where = {"chat_id": OLGA, "message_id": asked["message_id"]}
        thumb = [{"type": "emoji", "emoji": "👍"}]
        assert await sim.result("setMessageReaction", **where, reaction=thumb)
        assert await sim.result("setMessageReaction", **where)
        shown, gone = await next_event(events, "reaction"), await next_event(events, "reaction")
        refusals = [
            await sim.refusal("setMessageReaction", **where, reaction=[{"type": "emoji", "emoji": "🧇"}]),
            await sim.refusal("setMessageReaction", **where, reaction=thumb * 2),
            await sim.refusal("setMessageReaction", chat_id=OLGA, message_id=UNKNOWN, reaction=thumb),
        ]
    assert (shown["user_id"], shown["reactions"], gone["reactions"]) == (BOT_ID, thumb, [])
    assert refusals == [
        "Bad Request: REACTION_INVALID",
        "Bad Request: REACTIONS_TOO_MANY",
        "Bad Request: message to react not found",
    ]


async def test_a_pressed_button_is_answered_once_and_in_time() -> None:
    too_late = "Bad Request: query is too old and response timeout expired or query ID is invalid"
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with served_simulator() as sim, sim.events() as events:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="one", reply_markup=keyboard)
        press = {"chat_id": OLGA, "from_id": OLGA, "message_id": sent["message_id"], "data": "stop"}
        await sim.page("callbacks", **press)
        await sim.page("callbacks", **press)
        first, second = [update["callback_query"] for update in await sim.result("getUpdates")]
        assert await sim.result("answerCallbackQuery", callback_query_id=first["id"], text="Done")
        shown = await next_event(events, "callback_answer")
        again = await sim.refusal("answerCallbackQuery", callback_query_id=first["id"])
        sim.clock.ahead_s = 151
        late = await sim.refusal("answerCallbackQuery", callback_query_id=second["id"])
    assert (first["data"], first["from"]["id"], first["message"]) == ("stop", OLGA, sent)
    assert (shown["user_id"], shown["text"], shown["show_alert"]) == (OLGA, "Done", False)
    assert (again, late) == (too_late, too_late)


async def test_ordered_faults_hit_the_next_matching_calls() -> None:
    async with simulator() as sim:
        await sim.page("faults", method="sendMessage", chat_id=OLGA, error="429", retry_after=7, times=1)
        await sim.page("faults", method="getMe", error="500", times=2)
        other = await sim.call("sendMessage", chat_id=BEN, text="x")
        flooded = await sim.call("sendMessage", chat_id=OLGA, text="x")
        after = await sim.call("sendMessage", chat_id=OLGA, text="x")
        failed = [await sim.call("getMe") for _ in range(3)]
    assert (other["ok"], after["ok"]) == (True, True)
    assert flooded == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 7",
        "parameters": {"retry_after": 7},
    }
    assert [answer.get("description") for answer in failed] == [
        "Internal Server Error",
        "Internal Server Error",
        None,
    ]


async def test_a_cut_call_takes_effect_without_a_response() -> None:
    async with served_simulator() as sim:
        await sim.page("faults", method="sendMessage", error="cut", times=1)
        with pytest.raises(httpx.RemoteProtocolError):
            await sim.call("sendMessage", chat_id=OLGA, text="did it arrive?")
        assert [one["text"] for one in await sim.messages(OLGA)] == ["did it arrive?"]


async def test_a_silent_call_takes_no_effect() -> None:
    async with served_simulator() as sim:
        await sim.page("faults", method="sendMessage", error="timeout", times=1)
        with pytest.raises(httpx.ReadTimeout):
            await sim.http.post(
                f"/bot{DEFAULT_TOKEN}/sendMessage", json={"chat_id": OLGA, "text": "x"}, timeout=0.2
            )
        assert await sim.messages(OLGA) == []


async def test_preview_options_count_as_a_change_only_with_a_link() -> None:
    async with simulator() as sim:
        plain = await sim.result("sendMessage", chat_id=OLGA, text="plain")
        link = await sim.result("sendMessage", chat_id=OLGA, text="example.com")
        no_preview = {"chat_id": OLGA, "link_preview_options": {"is_disabled": True}}
        refusal = await sim.refusal(
            "editMessageText", **no_preview, message_id=plain["message_id"], text="plain"
        )
        edited = await sim.result(
            "editMessageText", **no_preview, message_id=link["message_id"], text="example.com"
        )
    assert refusal.startswith("Bad Request: message is not modified")
    assert edited["link_preview_options"] == {"is_disabled": True}


async def test_a_mentioned_person_is_named_in_the_message() -> None:
    mention = {"type": "text_mention", "offset": 0, "length": 3, "user": {"id": BEN}}
    async with simulator() as sim:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="Ben", entities=[mention])
    assert sent["entities"][0]["user"]["username"] == "ben"
