"""Reads raw Bot API updates into facts of our own; no shape of JSON makes it fail, unknown fields are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.transport.attachments import Attachment, attachment_in
from bot.transport.contents import SERVICE_FIELDS, note_on
from bot.transport.raw_json import NOTHING, Json, int_in, name_in, object_in, objects_in, str_in
from bot.transport.rich_text import utf16_slice

UNKNOWN = "unknown"
TEXT, CAPTION = "text", "caption"
SERVICE, MEMBERSHIP = "service", "membership"
"""The kinds of messages that nobody has written: what happened in the chat, and with our own standing there."""

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


_ORIGINS = ("sender_user", "sender_chat", "chat")
"""Where the types of MessageOrigin have the sender, but that of hidden people."""


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
    """The message that was replied to, as far as the update tells; `quote` is the part that was picked out.

    `message_id` is 0 for one of another chat or topic. `text` is its text or caption, or the note on what is in it, in
    round brackets.
    """

    message_id: int
    sender_id: int | None
    sender_name: str
    text: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """One message. Its sender is the chat itself for anonymous administrators, and a channel for its posts.

    `thread_id` is set in topics only, and not in "General". `date` is in Unix seconds. `text` is the caption for a
    `kind` of "caption". Other kinds are in MEDIA_KINDS, or "service", or "unknown" for a content that the Bot API
    documentation (10.0) does not name.

    `forwarded_from` is who wrote a forwarded message ("" for one that is not), `media_group_id` the album that it is
    of. `note` is one line for the model on what is in it beside its text: a sticker, a place, who joined.
    `pinned_message_id` is of the message that a service message has words of, 0 for none.
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
    forwarded_from: str = ""
    media_group_id: str = ""
    attachment: Attachment | None = None
    note: str = ""
    pinned_message_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A button that was pressed; `data` is ours, as we gave it to the button."""

    id: str
    data: str
    sender_id: int
    sender_name: str
    language_code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A change of the bot's (or, for chat_member, somebody's) standing in a chat; statuses as in ChatMember.

    Somebody "restricted" who is not in the chat has "left". `date` is in Unix seconds.
    """

    chat_id: int
    chat_type: str
    chat_title: str
    user_id: int
    actor_id: int
    actor_name: str
    old_status: str
    new_status: str
    actor_language: str = ""
    date: int = 0


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
    update_id = int_in(raw, "update_id") or 0
    kind = next((name for name in raw if name in UPDATE_KINDS), UNKNOWN)
    body = object_in(raw, kind)
    if kind in MESSAGE_KINDS:
        return ParsedUpdate(update_id=update_id, kind=kind, message=_message(update_id, body))
    if kind == "callback_query":
        message = _message(update_id, object_in(body, "message"))
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
    chat = object_in(raw, "chat")
    chat_id, message_id = int_in(chat, "id"), int_in(raw, "message_id")
    if chat_id is None or message_id is None:
        return None
    kind = _content_kind(raw)
    person = object_in(raw, "from")
    sender = object_in(raw, "sender_chat") or person
    return IncomingMessage(
        update_id=update_id,
        chat_id=chat_id,
        chat_type=str_in(chat, "type"),
        chat_title=name_in(chat),
        thread_id=int_in(raw, "message_thread_id") if raw.get("is_topic_message") is True else None,
        message_id=message_id,
        date=_time(raw, "date") or 0,
        edit_date=_time(raw, "edit_date"),
        sender_id=int_in(sender, "id"),
        sender_name=name_in(sender),
        sender_username=str_in(sender, "username"),
        is_bot=sender.get("is_bot") is True,
        is_automatic_forward=raw.get("is_automatic_forward") is True,
        language_code=str_in(person, "language_code"),
        kind=kind,
        text=_text(raw),
        entities=_entities(raw, "caption_entities" if kind == CAPTION else "entities"),
        reply_to=_reply_to(raw),
        migrate_to_chat_id=int_in(raw, "migrate_to_chat_id"),
        migrate_from_chat_id=int_in(raw, "migrate_from_chat_id"),
        forwarded_from=_forwarded_from(raw),
        media_group_id=str_in(raw, "media_group_id"),
        attachment=attachment_in(raw),
        note=note_on(raw),
        pinned_message_id=int_in(object_in(raw, "pinned_message"), "message_id") or 0,
    )


def _content_kind(raw: Json) -> str:
    for kind in (TEXT, CAPTION):
        if str_in(raw, kind):
            return kind
    kind = next((kind for kind in MEDIA_KINDS if kind in raw), UNKNOWN)
    return SERVICE if kind == UNKNOWN and SERVICE_FIELDS & raw.keys() else kind


def _text(raw: Json) -> str:
    return str_in(raw, TEXT) or str_in(raw, CAPTION)


def _entities(raw: Json, key: str) -> tuple[MessageEntity, ...]:
    return tuple(
        MessageEntity(
            type=str_in(entity, "type"),
            offset=offset,
            length=length,
            url=str_in(entity, "url") or None,
            language=str_in(entity, "language") or None,
            user_id=int_in(object_in(entity, "user"), "id"),
        )
        for entity in objects_in(raw, key)
        if (offset := int_in(entity, "offset")) is not None
        and (length := int_in(entity, "length")) is not None
    )


def _forwarded_from(raw: Json) -> str:
    """Who wrote a forwarded message first; hidden people by the name that they show."""
    _, name = _origin(object_in(raw, "forward_origin"))
    old = object_in(raw, "forward_from_chat") or object_in(raw, "forward_from")
    name = name or str_in(raw, "forward_sender_name") or name_in(old)
    is_forward = any(key in raw for key in ("forward_origin", "forward_date"))
    return name or ("somebody" if is_forward else "")


def _origin(origin: Json) -> tuple[int | None, str]:
    """The sender's id, where it is told, and name, of a MessageOrigin of any type."""
    party = next((each for key in _ORIGINS if (each := object_in(origin, key))), NOTHING)
    return int_in(party, "id"), name_in(party) or str_in(origin, "sender_user_name")


def _reply_to(raw: Json) -> ReplyTo | None:
    """None also where Telegram only says which topic a message is in: the reply is to the topic's creation."""
    replied = object_in(raw, "reply_to_message")
    message_id = int_in(replied, "message_id")
    quote = str_in(object_in(raw, "quote"), "text")
    external = object_in(raw, "external_reply")
    if message_id is None and external:
        sender_id, name = _origin(object_in(external, "origin"))
        return ReplyTo(
            message_id=0, sender_id=sender_id, sender_name=name, text=_quotable(external), quote=quote
        )
    if message_id is None or "forum_topic_created" in replied:
        return None
    sender = object_in(replied, "sender_chat") or object_in(replied, "from")
    return ReplyTo(
        message_id=message_id,
        sender_id=int_in(sender, "id"),
        sender_name=name_in(sender),
        text=_quotable(replied),
        quote=quote,
    )


def _quotable(replied: Json) -> str:
    note = note_on(replied)
    return _text(replied) or (f"({note})" if note else "")


def _callback(raw: Json) -> Callback:
    sender = object_in(raw, "from")
    return Callback(
        id=str_in(raw, "id"),
        data=str_in(raw, "data"),
        sender_id=int_in(sender, "id") or 0,
        sender_name=name_in(sender),
        language_code=str_in(sender, "language_code"),
    )


def _membership(raw: Json) -> Membership | None:
    chat, actor = object_in(raw, "chat"), object_in(raw, "from")
    old, new = object_in(raw, "old_chat_member"), object_in(raw, "new_chat_member")
    chat_id = int_in(chat, "id")
    if chat_id is None:
        return None
    return Membership(
        chat_id=chat_id,
        chat_type=str_in(chat, "type"),
        chat_title=name_in(chat),
        user_id=int_in(object_in(new, "user"), "id") or 0,
        actor_id=int_in(actor, "id") or 0,
        actor_name=name_in(actor),
        old_status=_standing(old),
        new_status=_standing(new),
        actor_language=str_in(actor, "language_code"),
        date=_time(raw, "date") or 0,
    )


def _time(raw: Json, key: str) -> int | None:
    """Unix seconds that a calendar has."""
    seconds = int_in(raw, key)
    return seconds if seconds is not None and 0 <= seconds < 2**33 else None


def _standing(member: Json) -> str:
    is_outside = str_in(member, "status") == "restricted" and member.get("is_member") is False
    return "left" if is_outside else str_in(member, "status")
