"""People's actions on messages: quote, paste, edit, forward, react, press."""

from typing import Any

import pytest

from simulator.api.world import BEN, CHIARA, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import Rig, next_event, served_simulator, simulator

pytestmark = pytest.mark.slow

BOT_ID = 4242
KEYBOARD = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}


async def _refused(sim: Rig, path: str, **body: Any) -> str:
    answer = await sim.http.post(f"/api/{path}", json=body)
    assert 400 <= answer.status_code < 500
    return answer.json()["error"]


async def test_a_quote_is_part_of_the_replied_message() -> None:
    async with simulator() as sim:
        bold = [{"type": "bold", "offset": 5, "length": 4}]
        asked = await sim.result("sendMessage", chat_id=OLGA, text="😀 a bold word", entities=bold)
        where = {"chat_id": OLGA, "from_id": OLGA, "reply_to_message_id": asked["message_id"]}
        reply = await sim.page("messages", **where, text="why?", quote="bold word")
        refusals = [
            await _refused(sim, "messages", **where, text="why?", quote="cold"),
            await _refused(sim, "messages", **where, text="why?", quote=" "),
            await _refused(sim, "messages", chat_id=OLGA, from_id=OLGA, text="x", quote="bold"),
        ]
        (update,) = await sim.updates()
    assert reply["quote"] == {
        "text": "bold word",
        "entities": [{"type": "bold", "offset": 0, "length": 4}],
        "position": 5,
        "is_manual": True,
    }
    assert update["message"] == reply
    assert "quote" not in reply["reply_to_message"]
    assert refusals == ["A quote is a part of the message that you reply to."] * 3


async def test_the_bot_can_quote_only_existing_text() -> None:
    async with simulator() as sim:
        asked = await sim.say(OLGA, "one two three")
        reply = {"message_id": asked["message_id"], "quote": "two"}
        sent = await sim.result("sendMessage", chat_id=OLGA, text="2", reply_parameters=reply)
        refusal = await sim.refusal(
            "sendMessage", chat_id=OLGA, text="2", reply_parameters=reply | {"quote": "four"}
        )
    assert (sent["quote"]["text"], sent["reply_to_message"]["text"]) == ("two", "one two three")
    assert refusal == "Bad Request: QUOTE_TEXT_INVALID"


async def test_a_long_paste_becomes_several_messages() -> None:
    async with simulator() as sim:
        first = await sim.say(OLGA, "word " * 2000)
        messages = [update["message"] for update in await sim.updates()]
    assert messages[0] == first
    assert [len(message["text"]) for message in messages] == [4094, 4094, 1809]


async def test_a_person_formats_a_message() -> None:
    async with simulator() as sim:
        link = [{"type": "text_link", "offset": 0, "length": 4, "url": "https://example.com/"}]
        said = await sim.say(OLGA, "here", entities=link)
        refusal = await _refused(
            sim,
            "messages",
            chat_id=OLGA,
            from_id=OLGA,
            text="x",
            entities=[{"type": "bold", "offset": 5, "length": 1}],
        )
    assert said["entities"] == link
    assert refusal.startswith("The formatting does not fit the text")


async def test_a_caption_can_be_edited_like_a_text() -> None:
    async with simulator() as sim:
        photo = await sim.people.photo(OLGA, "a catt")
        edited = await sim.people.edit(photo, "a cat")
        update = (await sim.updates())[-1]
    assert update["edited_message"] == edited
    assert (edited["caption"], edited["photo"]) == ("a cat", photo["photo"])
    assert edited["edit_date"] >= edited["date"]


async def test_messages_are_forwarded_together_in_order_with_their_authors() -> None:
    async with simulator(privacy_mode=False) as sim:
        by_ben = await sim.say(WEEKEND_PLANS, "the lake?", from_id=BEN)
        by_bot = await sim.result("sendMessage", chat_id=WEEKEND_PLANS, text="22 degrees")
        photo = await sim.people.photo(CHIARA, "this one", chat=WEEKEND_PLANS)
        sent = await sim.people.forward(OLGA, [photo, by_bot, by_ben], comment="read this")
        updates = [update["message"] for update in await sim.updates()][-4:]
    assert updates == sent
    comment, *forwarded = sent
    assert (comment["text"], "forward_origin" in comment) == ("read this", False)
    origins = [message["forward_origin"] for message in forwarded]
    assert [origin["type"] for origin in origins] == ["user"] * 3
    assert [origin["sender_user"]["id"] for origin in origins] == [BEN, BOT_ID, CHIARA]
    assert forwarded[2]["photo"] == photo["photo"]
    assert [message["from"]["id"] for message in forwarded] == [OLGA] * 3


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ("hidden_user", {"sender_user_name": "Ben Hart"}),
        ("chat", {"sender_chat": {"id": WEEKEND_PLANS, "title": "Weekend plans", "type": "group"}}),
        ("channel", {"chat": {"id": -1009999999999, "title": "News", "type": "channel"}}),
    ],
)
async def test_a_forward_may_hide_its_author(origin: str, told: dict[str, Any]) -> None:
    async with simulator() as sim:
        said = await sim.say(WEEKEND_PLANS, "hm", from_id=BEN)
        (sent,) = await sim.people.forward(OLGA, [said], origin=origin, channel_title="News")
        (again,) = await sim.people.forward(OLGA, [sent])
    assert sent["forward_origin"]["type"] == origin
    assert sent["forward_origin"].items() >= told.items()
    assert again["forward_origin"] == sent["forward_origin"]


async def test_only_visible_messages_can_be_forwarded() -> None:
    async with simulator() as sim:
        secret = await sim.say(BEN, "for the bot alone")
        service = (await sim.page("chats", title="New", type="group", members=[OLGA]))["id"]
        announced = (await sim.updates())[-1]["message"]
        refusals = [
            await _refused(
                sim,
                "forwards",
                chat_id=OLGA,
                from_id=OLGA,
                from_chat_id=BEN,
                message_ids=[secret["message_id"]],
            ),
            await _refused(
                sim,
                "forwards",
                chat_id=OLGA,
                from_id=OLGA,
                from_chat_id=service,
                message_ids=[announced["message_id"]],
            ),
        ]
    assert refusals == ["That person is not in this chat.", "Only messages can be forwarded."]


async def test_the_bot_gets_reactions_if_it_asked_for_them_and_may_see_them() -> None:
    async with simulator() as sim:
        sent = [await sim.result("sendMessage", chat_id=chat, text="x") for chat in (OLGA, WEEKEND_PLANS)]
        await sim.people.react(OLGA, sent[0], "🔥")
        assert await sim.pending() == 0
        await sim.updates()
        await sim.people.react(OLGA, sent[0], "👍")
        await sim.people.react(OLGA, sent[1], "👍")
        await sim.people.react(OLGA, sent[0], None)
        kinds = [update["message_reaction"] for update in await sim.updates()]
        world = await sim.world()
        refusal = await _refused(
            sim, "reactions", chat_id=OLGA, from_id=OLGA, message_id=sent[0]["message_id"], emoji="🧇"
        )
    thumb, fire = {"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "🔥"}
    assert [(one["old_reaction"], one["new_reaction"]) for one in kinds] == [([fire], [thumb]), ([thumb], [])]
    assert [(one["chat_id"], one["user_id"]) for one in world["reactions"]] == [(WEEKEND_PLANS, OLGA)]
    assert refusal == "There is no such reaction."


async def test_a_modified_app_can_press_a_button_that_does_not_exist() -> None:
    async with served_simulator() as sim, sim.events() as events:
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x", reply_markup=KEYBOARD)
        pressed = await sim.people.press(OLGA, sent, "stop")
        await sim.result("deleteMessage", chat_id=OLGA, message_id=sent["message_id"])
        await sim.people.press(OLGA, sent, "stop:1:2\n💥" * 9, any_data=True)
        first, second = [update["callback_query"] for update in await sim.updates()]
        await sim.result("answerCallbackQuery", callback_query_id=pressed, text="Stopped.", show_alert=True)
        answer = await next_event(events, "callback_answer")
        refusal = await _refused(
            sim, "callbacks", chat_id=OLGA, from_id=OLGA, message_id=sent["message_id"], data="stop"
        )
    assert (first["id"], first["message"]["text"]) == (pressed, "x")
    assert second["message"] == {
        "chat": first["message"]["chat"],
        "message_id": sent["message_id"],
        "date": 0,
    }
    assert (answer["callback_query_id"], answer["show_alert"]) == (pressed, True)
    assert refusal == "There is no such message in this chat."


async def test_a_message_of_a_forum_with_a_photo_stays_in_its_topic() -> None:
    async with simulator() as sim:
        photo = await sim.people.photo(BEN, chat=WORKSHOP, message_thread_id=2)
        reply = await sim.people.photo(OLGA, chat=WORKSHOP, reply_to_message_id=photo["message_id"])
    assert (photo["message_thread_id"], reply["message_thread_id"]) == (2, 2)
    assert "caption" not in photo


async def test_people_see_the_commands_of_their_language() -> None:
    async with simulator() as sim:
        person = await sim.people.new_person("Дора", language_code="ru")
        for language, description in (("", "Begin"), ("ru", "Начать")):
            commands = [{"command": "start", "description": description}]
            await sim.result("setMyCommands", commands=commands, language_code=language)
        shown = {chat["id"]: chat["commands"] for chat in (await sim.world())["chats"]}
    assert [shown[chat][0]["description"] for chat in (person, OLGA, WEEKEND_PLANS)] == [
        "Начать",
        "Begin",
        "Begin",
    ]


async def test_a_deletion_by_a_person_sends_no_update() -> None:
    async with simulator() as sim:
        said = await sim.say(WEEKEND_PLANS, "@mnemogram_bot hm", from_id=BEN)
        sent = await sim.result("sendMessage", chat_id=OLGA, text="x")
        place = {"chat_id": WEEKEND_PLANS, "message_id": said["message_id"]}
        refused = await _refused(sim, "deletions", **place, from_id=CHIARA)
        before = await sim.updates()
        await sim.people.delete(OLGA, said)
        await sim.people.delete(OLGA, sent)
        assert await sim.updates() == before
        refusals = [
            await sim.refusal("editMessageText", chat_id=OLGA, message_id=sent["message_id"], text="y"),
            await sim.refusal(
                "sendMessage",
                chat_id=WEEKEND_PLANS,
                text="y",
                reply_parameters={"message_id": said["message_id"]},
            ),
        ]
    assert refused == "Only your own messages can be deleted."
    assert refusals == [
        "Bad Request: message to edit not found",
        "Bad Request: message to be replied not found",
    ]


async def test_an_administrator_writes_as_the_group() -> None:
    async with simulator() as sim:
        said = await sim.say(WEEKEND_PLANS, "/reset", from_id=OLGA, anonymous=True)
        edited = await sim.page(
            "edits", chat_id=WEEKEND_PLANS, from_id=OLGA, message_id=said["message_id"], text="/new"
        )
        refused = await _refused(
            sim, "messages", chat_id=WEEKEND_PLANS, from_id=BEN, text="/reset", anonymous=True
        )
    assert said["from"]["username"] == "GroupAnonymousBot"
    assert (said["sender_chat"], edited["sender_chat"]) == (said["chat"], said["chat"])
    assert refused == "Only an administrator can write as the group."
