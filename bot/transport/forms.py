"""Forms of chats: the context of a message, and the address of what we send there (pure).

Telegram splits some chats into parts that not everybody sees. A field that splits a chat belongs to the keys of the
context and to everything that is sent. A message in a form that is not in FORMS is refused at the door.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bot.transport.json_fields import Json, int_in, object_in, str_in

THREAD, DIRECT_TOPIC = "message_thread_id", "direct_messages_topic_id"
"""Names of a topic's id, in the keys of contexts and as parameters of sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of chat."""

    topic: Literal["", "message_thread_id", "direct_messages_topic_id"] = ""
    """The name of the topic's id if the message stands in a topic. Each topic is a context of its own."""
    is_comment: bool = False
    """True if only replies are shown there."""
    refusal: str = ""
    """Constant in the trace if nothing is read and sent there."""


FORMS: Mapping[str, Form] = {
    "private chat": Form(),
    "topic of a private chat": Form(topic=THREAD),
    "group": Form(),
    "supergroup": Form(),
    "General of a forum": Form(),
    "topic of a forum": Form(topic=THREAD),
    "comments": Form(is_comment=True),
    "direct messages of a channel": Form(topic=DIRECT_TOPIC),
    "direct messages without a topic": Form(refusal="no_topic"),
    "channel": Form(refusal="channel_post"),
    "business chat": Form(refusal="business_chat"),
    "guest chat": Form(refusal="guest_chat"),
    "ephemeral message": Form(refusal="ephemeral_message"),
    "unknown type of chat": Form(refusal="unknown_chat_type"),
    "unknown part of a chat": Form(refusal="unknown_chat_part"),
}
"""All forms in which Telegram delivers messages (Bot API 10.2)."""

_SPLITTING = re.compile(r"(?:^|_)(?:topic|thread|connection)(?:_|$)|^(?:ephemeral|receiver)_")
"""Names of fields by which Telegram splits a chat, or would."""
_KNOWN_FIELDS = frozenset(
    [
        "message_thread_id",
        "is_topic_message",
        "direct_messages_topic",
        "forum_topic_created",
        "forum_topic_edited",
        "forum_topic_closed",
        "forum_topic_reopened",
        "general_forum_topic_hidden",
        "general_forum_topic_unhidden",
    ]
)
_SPECIAL: Mapping[str, frozenset[str]] = {
    "channel": frozenset(["channel_post", "edited_channel_post"]),
    "business chat": frozenset(["business_message", "edited_business_message", "business_connection_id"]),
    "guest chat": frozenset(["guest_message", "guest_query_id"]),
    "ephemeral message": frozenset(["ephemeral_message_id", "receiver_user"]),
}
"""Forms with the kinds of updates and the fields of messages that only they have."""
_KNOWN_MARKS = frozenset(["is_forum", "is_direct_messages"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPlace:
    """A chat, or the topic of it in which a message stands. What is sent there stays there."""

    chat_id: int
    thread_id: int | None
    """Id of the topic; None outside of topics and in "General"."""
    is_direct: bool = False
    """True in the direct messages of a channel: each person has a topic there, and sees no other one."""

    @property
    def topic(self) -> dict[str, Any]:
        """The topic as a part of a context's keys, and as the parameter of a send; {} outside of topics."""
        if self.thread_id is None:
            return {}
        return {DIRECT_TOPIC if self.is_direct else THREAD: self.thread_id}

    @property
    def name(self) -> str:
        """The name that operators use: `-1001234`, or `-1001234/7` for a topic."""
        return str(self.chat_id) if self.thread_id is None else f"{self.chat_id}/{self.thread_id}"


def context_keys(
    bot_id: int, chat_id: int, thread_id: int | None, *, is_direct: bool = False
) -> dict[str, object]:
    """Return the keys of the context that a chat, or one of its topics, has with this bot."""
    place = ChatPlace(chat_id=chat_id, thread_id=thread_id, is_direct=is_direct)
    return {"bot_id": bot_id, "chat_id": chat_id, **place.topic}


def place_of(keys: Mapping[str, Any]) -> ChatPlace | None:
    """Return the place of a context with these keys; None if it belongs to no chat."""
    chat_id = keys.get("chat_id")
    if not isinstance(chat_id, int):
        return None
    is_direct = DIRECT_TOPIC in keys
    thread_id = keys.get(DIRECT_TOPIC if is_direct else THREAD)
    return ChatPlace(
        chat_id=chat_id, thread_id=None if thread_id is None else int(thread_id), is_direct=is_direct
    )


def find_form(kind: str, message: Json) -> str:
    """Return the form of the chat of a message, or of another object with a `chat`. `kind` is that of the update."""
    chat = object_in(message, "chat")
    if special := next((name for name, marks in _SPECIAL.items() if marks & {kind, *message}), None):
        return special
    if _is_split_otherwise(message, chat):
        return "unknown part of a chat"
    if chat.get("is_direct_messages") is True or "direct_messages_topic" in message:
        has_topic = direct_topic_in(message) is not None
        return "direct messages of a channel" if has_topic else "direct messages without a topic"
    match str_in(chat, "type"):
        case "private":
            return "topic of a private chat" if _is_in_topic(message) else "private chat"
        case "group" | "supergroup" as group:
            return _form_in_group(group, message, chat)
        case "channel":
            return "channel"
        case _:
            return "unknown type of chat"


def topic_in(message: Json, form: Form) -> int | None:
    """Return the id of the topic of a message; None if the form has no topics."""
    if form.topic == DIRECT_TOPIC:
        return direct_topic_in(message)
    return int_in(message, THREAD) if form.topic else None


def has_topics(chat: Json) -> bool:
    """Return True for a chat whose messages may stand in topics."""
    return any(chat.get(mark) is True for mark in _KNOWN_MARKS)


def direct_person_in(message: Json) -> int | None:
    """Return the person whose topic it is, in the direct messages of a channel. Everybody else there answers them."""
    return int_in(object_in(object_in(message, "direct_messages_topic"), "user"), "id")


def direct_topic_in(message: Json) -> int | None:
    """Return the id of the topic in the direct messages of a channel."""
    return int_in(object_in(message, "direct_messages_topic"), "topic_id")


def _form_in_group(group: str, message: Json, chat: Json) -> str:
    if _is_in_topic(message):
        return "topic of a forum"
    if int_in(message, THREAD) is not None:
        return "comments"
    return "General of a forum" if chat.get("is_forum") is True else group


def _is_in_topic(message: Json) -> bool:
    return message.get("is_topic_message") is True and int_in(message, THREAD) is not None


def _is_split_otherwise(message: Json, chat: Json) -> bool:
    """Return True for a field that may split the chat among people and that we do not know."""
    marks = {name for name, value in chat.items() if name.startswith("is_") and value is True}
    return bool(marks - _KNOWN_MARKS) or any(
        name not in _KNOWN_FIELDS and _SPLITTING.search(name) for name in message
    )
