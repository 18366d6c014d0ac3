"""One case for each form of chat: its context, and the address of what is sent there."""

from typing import Any

import pytest

from bot.features import CONTROLS
from bot.transport.forms import FORMS, context_keys, place_of
from bot.transport.gating import Admission, BotIdentity, admit
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, parse_update
from bot.turn.outbox import blank_part

Json = dict[str, Any]

BOT = BotIdentity(id=4242, username="mnemogram_bot")
PRIVATE: Json = {"id": 7, "type": "private", "first_name": "Anna"}
GROUP: Json = {"id": -5, "type": "group", "title": "Choir"}
SUPERGROUP: Json = {"id": -1005, "type": "supergroup", "title": "Choir"}
FORUM = SUPERGROUP | {"is_forum": True}
DIRECT = SUPERGROUP | {"is_direct_messages": True}
TOPIC: Json = {"message_thread_id": 9, "is_topic_message": True}
ANNAS: Json = {"direct_messages_topic": {"topic_id": 2**40, "user": {"id": 7, "first_name": "Anna"}}}

SERVED: dict[str, tuple[Json, Json, Json, Json, int | None]] = {
    "private chat": (PRIVATE, {}, {"chat_id": 7}, {}, None),
    "topic of a private chat": (
        PRIVATE,
        TOPIC,
        {"chat_id": 7, "message_thread_id": 9},
        {"message_thread_id": 9},
        None,
    ),
    "group": (GROUP, {}, {"chat_id": -5}, {}, 3),
    "supergroup": (SUPERGROUP, {}, {"chat_id": -1005}, {}, 3),
    "General of a forum": (FORUM, {}, {"chat_id": -1005}, {}, 3),
    "topic of a forum": (
        FORUM,
        TOPIC,
        {"chat_id": -1005, "message_thread_id": 9},
        {"message_thread_id": 9},
        3,
    ),
    "comments": (SUPERGROUP, {"message_thread_id": 9}, {"chat_id": -1005}, {}, 3),
    "direct messages of a channel": (
        DIRECT,
        ANNAS,
        {"chat_id": -1005, "direct_messages_topic_id": 2**40},
        {"direct_messages_topic_id": 2**40},
        3,
    ),
}
"""The chat, the fields of the message, the keys of the context besides the bot's, the topic and the reply of sends."""

REFUSED: dict[str, tuple[str, Json, Json, str]] = {
    "direct messages without a topic": ("message", DIRECT, {}, "no_topic"),
    "channel": ("channel_post", {"id": -6, "type": "channel", "title": "News"}, {}, "channel_post"),
    "business chat": ("business_message", PRIVATE, {"business_connection_id": "b"}, "business_chat"),
    "guest chat": ("guest_message", SUPERGROUP, {"guest_query_id": "g"}, "guest_chat"),
    "ephemeral message": ("message", SUPERGROUP, {"ephemeral_message_id": 4}, "ephemeral_message"),
    "unknown type of chat": ("message", SUPERGROUP | {"type": "community"}, {}, "unknown_chat_type"),
    "unknown part of a chat": ("message", SUPERGROUP, {"side_topic": {"id": 1}}, "unknown_chat_part"),
}
"""The kind of the update, the chat, the fields of the message, and the reason in the trace."""


def received(chat: Json, fields: Json, kind: str = "message") -> IncomingMessage:
    person = {"id": 7, "is_bot": False, "first_name": "Anna"}
    body = {"message_id": 3, "date": 1, "chat": chat, "from": person, "text": "hello", **fields}
    message = parse_update({"update_id": 1, kind: body}).message
    assert message is not None
    return message


def test_every_form_of_the_table_has_a_case() -> None:
    assert SERVED.keys() | REFUSED.keys() == FORMS.keys()
    assert {name for name, form in FORMS.items() if form.refusal} == REFUSED.keys()


@pytest.mark.parametrize("form", SERVED)
def test_a_form_has_its_context_and_its_address(form: str) -> None:
    chat, fields, keys, topic, reply_to = SERVED[form]
    message = received(chat, fields)

    own = context_keys(BOT.id, message.chat_id, message.thread_id, is_direct=message.is_direct)
    found = place_of(own)
    admission = Admission(action="turn", reason="mention")
    update = WaitingUpdate(update_id=1, admission=admission, message=message, anchor_id=message.chat_id)
    part = blank_part(update, epoch=0)

    assert message.refusal == ""
    assert own == {"bot_id": BOT.id} | keys
    assert found is not None
    assert (found.chat_id, found.topic) == (message.chat_id, topic)
    assert (part.chat_id, part.topic, part.reply_to) == (message.chat_id, topic, reply_to)
    assert part.is_comment == (form == "comments")


@pytest.mark.parametrize("form", REFUSED)
def test_every_other_form_is_refused_with_its_reason(form: str) -> None:
    kind, chat, fields, reason = REFUSED[form]
    person = {"id": 7, "is_bot": False, "first_name": "Anna"}
    entities = [{"type": "mention", "offset": 0, "length": 14}]
    body = {"message_id": 3, "date": 1, "chat": chat, "from": person, "text": "@mnemogram_bot hi"}
    update = parse_update({"update_id": 1, kind: body | {"entities": entities} | fields})

    admission = admit(update, bot=BOT, is_permitted=True, commands=())

    assert (admission.action, admission.reason) == ("ignore", reason)


@pytest.mark.parametrize(
    ("chat", "fields", "reason"),
    [
        (DIRECT, {"direct_messages_topic": {"user": {"id": 7}}}, "no_topic"),
        (DIRECT, {"direct_messages_topic": "9"}, "no_topic"),
        (DIRECT, TOPIC, "no_topic"),
        (SUPERGROUP, {"receiver_user": {"id": 7}}, "ephemeral_message"),
        (PRIVATE, {"business_connection_id": "b"}, "business_chat"),
        (FORUM | {"is_split": True}, TOPIC, "unknown_chat_part"),
        (SUPERGROUP, {"saved_messages_topic_id": 4}, "unknown_chat_part"),
        ({"id": 7}, {}, "unknown_chat_type"),
    ],
)
def test_a_chat_that_is_split_in_another_way_is_refused(chat: Json, fields: Json, reason: str) -> None:
    assert received(chat, fields).refusal == reason


@pytest.mark.parametrize("service", ["forum_topic_created", "general_forum_topic_hidden"])
def test_events_about_topics_split_nothing(service: str) -> None:
    assert received(FORUM, {service: {}}).refusal == ""


def test_two_topics_with_one_number_are_two_contexts() -> None:
    assert context_keys(1, -5, 9) != context_keys(1, -5, 9, is_direct=True)


def test_a_press_under_a_message_that_telegram_no_longer_describes_is_answered() -> None:
    lost = {"chat": DIRECT, "message_id": 3, "date": 0}
    query = {"id": "1", "from": {"id": 7}, "data": "other", "message": lost}
    update = parse_update({"update_id": 1, "callback_query": query}, CONTROLS.buttons)

    assert admit(update, bot=BOT, is_permitted=True, commands=()).action == "press"
    assert update.callback is not None
    assert update.callback.is_topic_unknown
