"""Reads raw Bot API updates into facts of our own; no shape of JSON makes it fail, unknown fields are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from bot.transport.rich_text import utf16_slice

Json: TypeAlias = Mapping[str, object]

UNKNOWN = "unknown"
TEXT, CAPTION = "text", "caption"

# The kinds of update and their fields, from the Bot API documentation (10.0).
MESSAGE_KINDS = frozenset(
    {
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "business_message",
        "edited_business_message",
        "guest_message",
    }
)
UPDATE_KINDS = MESSAGE_KINDS | {
    "business_connection",
    "callback_query",
    "chat_boost",
    "chat_join_request",
    "chat_member",
    "chosen_inline_result",
    "deleted_business_messages",
    "inline_query",
    "managed_bot",
    "message_reaction",
    "message_reaction_count",
    "my_chat_member",
    "poll",
    "poll_answer",
    "pre_checkout_query",
    "purchased_paid_media",
    "removed_chat_boost",
    "shipping_query",
}
# What a person sends. An animation also has a document, a venue a location, a live photo a photo: those come first.
MEDIA_KINDS = (
    "animation",
    "live_photo",
    "audio",
    "document",
    "paid_media",
    "photo",
    "sticker",
    "story",
    "video",
    "video_note",
    "voice",
    "checklist",
    "contact",
    "dice",
    "game",
    "poll",
    "venue",
    "location",
)
# Those that may have a caption: an edit may take the last of their text away, or make one of a text.
CAPTIONED_KINDS = (
    "animation",
    "live_photo",
    "audio",
    "document",
    "paid_media",
    "photo",
    "video",
    "voice",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntity:
    """A marked range of a received text; offset and length are UTF-16 code units and may not fit the text."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTo:
    """The message that was replied to, as far as the update tells; `quote` is the part that was picked out."""

    message_id: int
    sender_id: int | None
    sender_name: str
    text: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """One message. Its sender is the chat itself for anonymous administrators, and a channel for its posts.

    `thread_id` is set in topics only, and not in "General". `date` is in Unix seconds. `text` is the caption for a
    `kind` of "caption". Other kinds are in MEDIA_KINDS, or "service".
    """

    update_id: int
    chat_id: int
    chat_type: str
    chat_title: str
    thread_id: int | None
    message_id: int
    date: int
    edit_date: int | None
    sender_id: int | None
    sender_name: str
    sender_username: str
    is_bot: bool
    is_automatic_forward: bool
    language_code: str
    kind: str
    text: str
    entities: tuple[MessageEntity, ...]
    reply_to: ReplyTo | None
    migrate_to_chat_id: int | None
    migrate_from_chat_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A button that was pressed; `data` is ours, as we gave it to the button."""

    id: str
    data: str
    sender_id: int
    sender_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A change of the bot's (or, for chat_member, somebody's) standing in a chat; statuses as in ChatMember."""

    chat_id: int
    chat_type: str
    chat_title: str
    user_id: int
    actor_id: int
    actor_name: str
    old_status: str
    new_status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedUpdate:
    """One update: its kind, "unknown" for one that the Bot API documentation (10.0) does not name.

    `message` is there for the MESSAGE_KINDS and, as the message under the button, for callback_query;
    it is None where the update's own message lacks a chat or an id. `update_id` is 0 where there is none.
    """

    update_id: int
    kind: str
    message: IncomingMessage | None = None
    callback: Callback | None = None
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`/name@mention argument`; the name is in lower case, the mention without its @ and empty if there is none."""

    name: str
    argument: str
    mention: str


def parse_update(raw: Mapping[str, object]) -> ParsedUpdate:
    """The facts of one update. Never raises: what is missing or of a wrong type is empty, 0 or None."""
    update_id = _int(raw, "update_id") or 0
    kind = next((name for name in raw if name in UPDATE_KINDS), UNKNOWN)
    body = _object(raw, kind)
    if kind in MESSAGE_KINDS:
        return ParsedUpdate(update_id=update_id, kind=kind, message=_message(update_id, body))
    if kind == "callback_query":
        message = _message(update_id, _object(body, "message"))
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, callback=_callback(body))
    if kind in {"my_chat_member", "chat_member"}:
        return ParsedUpdate(update_id=update_id, kind=kind, membership=_membership(body))
    return ParsedUpdate(update_id=update_id, kind=kind)


def parse_command(message: IncomingMessage) -> Command | None:
    """The command that the message begins with, by its bot_command entity; None for any other message."""
    for entity in message.entities:
        if entity.type == "bot_command" and entity.offset == 0:
            written = utf16_slice(message.text, 0, entity.length)
            name, _, mention = written.removeprefix("/").partition("@")
            argument = message.text[len(written) :].strip()
            return Command(name=name.lower(), argument=argument, mention=mention) if name else None
    return None


def context_keys(bot_id: int, chat_id: int, thread_id: int | None) -> dict[str, object]:
    """The keys of the context that a chat, or one topic of it, has with this bot."""
    keys: dict[str, object] = {"bot_id": bot_id, "chat_id": chat_id}
    return keys if thread_id is None else keys | {"message_thread_id": thread_id}


def _message(update_id: int, raw: Json) -> IncomingMessage | None:
    chat = _object(raw, "chat")
    chat_id, message_id = _int(chat, "id"), _int(raw, "message_id")
    if chat_id is None or message_id is None:
        return None
    kind = _content_kind(raw)
    person = _object(raw, "from")
    sender = _object(raw, "sender_chat") or person
    return IncomingMessage(
        update_id=update_id,
        chat_id=chat_id,
        chat_type=_str(chat, "type"),
        chat_title=_name(chat),
        thread_id=_int(raw, "message_thread_id") if raw.get("is_topic_message") is True else None,
        message_id=message_id,
        date=_int(raw, "date") or 0,
        edit_date=_int(raw, "edit_date"),
        sender_id=_int(sender, "id"),
        sender_name=_name(sender),
        sender_username=_str(sender, "username"),
        is_bot=sender.get("is_bot") is True,
        is_automatic_forward=raw.get("is_automatic_forward") is True,
        language_code=_str(person, "language_code"),
        kind=kind,
        text=_text(raw),
        entities=_entities(raw, "caption_entities" if kind == CAPTION else "entities"),
        reply_to=_reply_to(raw),
        migrate_to_chat_id=_int(raw, "migrate_to_chat_id"),
        migrate_from_chat_id=_int(raw, "migrate_from_chat_id"),
    )


def _content_kind(raw: Json) -> str:
    for kind in (TEXT, CAPTION):
        if _str(raw, kind):
            return kind
    return next((kind for kind in MEDIA_KINDS if kind in raw), "service")


def _text(raw: Json) -> str:
    return _str(raw, TEXT) or _str(raw, CAPTION)


def _entities(raw: Json, key: str) -> tuple[MessageEntity, ...]:
    listed = raw.get(key)
    if not isinstance(listed, list):
        return ()
    objects = [_as_object(item) for item in cast("list[object]", listed)]
    return tuple(
        MessageEntity(
            type=_str(entity, "type"),
            offset=offset,
            length=length,
            url=_str(entity, "url") or None,
            language=_str(entity, "language") or None,
            user_id=_int(_object(entity, "user"), "id"),
        )
        for entity in objects
        if (offset := _int(entity, "offset")) is not None and (length := _int(entity, "length")) is not None
    )


def _reply_to(raw: Json) -> ReplyTo | None:
    """None also where Telegram only says which topic a message is in: the reply is to the topic's creation."""
    replied = _object(raw, "reply_to_message")
    message_id = _int(replied, "message_id")
    if message_id is None or "forum_topic_created" in replied:
        return None
    sender = _object(replied, "sender_chat") or _object(replied, "from")
    return ReplyTo(
        message_id=message_id,
        sender_id=_int(sender, "id"),
        sender_name=_name(sender),
        text=_text(replied),
        quote=_str(_object(raw, "quote"), "text"),
    )


def _callback(raw: Json) -> Callback:
    sender = _object(raw, "from")
    return Callback(
        id=_str(raw, "id"),
        data=_str(raw, "data"),
        sender_id=_int(sender, "id") or 0,
        sender_name=_name(sender),
    )


def _membership(raw: Json) -> Membership | None:
    chat, actor = _object(raw, "chat"), _object(raw, "from")
    old, new = _object(raw, "old_chat_member"), _object(raw, "new_chat_member")
    chat_id = _int(chat, "id")
    if chat_id is None:
        return None
    return Membership(
        chat_id=chat_id,
        chat_type=_str(chat, "type"),
        chat_title=_name(chat),
        user_id=_int(_object(new, "user"), "id") or 0,
        actor_id=_int(actor, "id") or 0,
        actor_name=_name(actor),
        old_status=_str(old, "status"),
        new_status=_str(new, "status"),
    )


def _name(party: Json) -> str:
    """How a user or chat is called: title, first and last name, else the username, else the id."""
    full = " ".join(filter(None, (_str(party, "first_name"), _str(party, "last_name"))))
    number = _int(party, "id")
    return _str(party, "title") or full or _str(party, "username") or ("" if number is None else str(number))


def _int(raw: Json, key: str) -> int | None:
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _str(raw: Json, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _object(raw: Json, key: str) -> Json:
    return _as_object(raw.get(key))


def _as_object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
