"""Raw Bot API updates as records of our own. No shape of JSON makes the parser fail; unknown fields are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.transport.contents import (
    NOTHING,
    SERVICE_FIELDS,
    Attachment,
    Json,
    attachment_in,
    int_in,
    name_in,
    note_on,
    object_in,
    objects_in,
    str_in,
)
from bot.transport.rich_text import utf16_slice

UNKNOWN = "unknown"
TEXT, CAPTION = "text", "caption"
SERVICE, MEMBERSHIP = "service", "membership"
"""Kinds of messages without an author: an event in the chat, and a change of the bot's own membership."""

# Kinds of messages, of other updates and of contents, from the Bot API documentation (10.0).
_MESSAGES = """
    message edited_message channel_post edited_channel_post business_message edited_business_message guest_message
"""
_OTHER_UPDATES = """
    business_connection callback_query chat_boost chat_join_request chat_member chosen_inline_result
    deleted_business_messages inline_query managed_bot message_reaction message_reaction_count my_chat_member poll
    poll_answer pre_checkout_query purchased_paid_media removed_chat_boost shipping_query
"""
# Order matters: an animation also has a document, a venue a location, a live photo a photo.
_MEDIA = """
    animation live_photo audio document paid_media photo sticker story video video_note voice checklist contact dice
    game poll venue location
"""
_CAPTIONED = "animation live_photo audio document paid_media photo video voice"
MESSAGE_KINDS = frozenset(_MESSAGES.split())
UPDATE_KINDS = MESSAGE_KINDS | frozenset(_OTHER_UPDATES.split())
MEDIA_KINDS = tuple(_MEDIA.split())
"""Contents that people send."""
CAPTIONED_KINDS = tuple(_CAPTIONED.split())
"""Contents with an optional caption: an edit may remove or add their text."""

_ORIGINS = ("sender_user", "sender_chat", "chat")
"""Fields of a MessageOrigin with its sender; a hidden user has none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntity:
    """A marked range of a received text, in UTF-16 code units. The range may not fit the text."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None
    user_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTo:
    """The message that a message replies to, as far as the update describes it."""

    message_id: int
    """0 for a message of another chat or topic."""
    sender_id: int | None
    sender_name: str
    text: str
    """Text or caption, or the note on the content in round brackets."""
    quote: str
    """Part of the text that the sender selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The chat of a message."""

    id: int
    type: str = ""
    title: str = ""
    thread_id: int | None = None
    """Topic of the message; None outside of topics and in "General"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Sender of a message: a person, or a chat for anonymous administrators and channel posts."""

    id: int | None = None
    name: str = ""
    is_bot: bool = False
    language_code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEvent:
    """Ids that a service message names; 0 for none."""

    migrate_to_chat_id: int = 0
    migrate_from_chat_id: int = 0
    pinned_message_id: int = 0
    left_user_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """One received message. A change of the bot's membership is a message of kind MEMBERSHIP with the id 0."""

    chat: Chat
    author: Author
    message_id: int
    date: int
    """Unix seconds."""
    kind: str
    """TEXT, CAPTION, one of MEDIA_KINDS, SERVICE, MEMBERSHIP, or UNKNOWN for unknown content."""
    text: str = ""
    """Text or caption."""
    entities: tuple[MessageEntity, ...] = ()
    reply_to: ReplyTo | None = None
    edit_date: int | None = None
    forwarded_from: str = ""
    """Name of the original author of a forwarded message; "" if it is not forwarded."""
    media_group_id: str = ""
    """Album of the message."""
    attachment: Attachment | None = None
    note: str = ""
    """One line for the model on content other than text, such as a sticker or who joined."""
    is_automatic_forward: bool = False
    event: ServiceEvent = ServiceEvent()

    @property
    def chat_id(self) -> int:
        """Id of the chat."""
        return self.chat.id

    @property
    def chat_type(self) -> str:
        """Type of the chat: "private", "group", "supergroup" or "channel"."""
        return self.chat.type

    @property
    def chat_title(self) -> str:
        """Title of the chat, or the name of the person in a private chat."""
        return self.chat.title

    @property
    def thread_id(self) -> int | None:
        """Topic of the message."""
        return self.chat.thread_id

    @property
    def sender_id(self) -> int | None:
        """Id of the author."""
        return self.author.id

    @property
    def sender_name(self) -> str:
        """Name of the author."""
        return self.author.name

    @property
    def language_code(self) -> str:
        """IETF language tag of the author, "" if unknown."""
        return self.author.language_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """The press of an inline button; `data` is our own text from the button."""

    id: str
    data: str
    sender_id: int
    language_code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A change of the bot's own membership, with statuses as in ChatMember.

    The status is "left" also for a "restricted" member who is not in the chat.
    """

    old_status: str
    new_status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedUpdate:
    """One update."""

    update_id: int
    """0 if the update has none."""
    kind: str
    """One of UPDATE_KINDS, or UNKNOWN."""
    message: IncomingMessage | None = None
    """The message, or the message under a pressed button; None if its chat or id is missing."""
    callback: Callback | None = None
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command such as `/name@mention argument`: the name in lower case, the mention without its @ or empty."""

    name: str
    argument: str
    mention: str


def parse_update(raw: Mapping[str, object]) -> ParsedUpdate:
    """Return the facts of one update. Never raises: a missing or wrong field is empty, 0 or None."""
    update_id = int_in(raw, "update_id") or 0
    kind = next((name for name in raw if name in UPDATE_KINDS), UNKNOWN)
    body = object_in(raw, kind)
    if kind in MESSAGE_KINDS:
        return ParsedUpdate(update_id=update_id, kind=kind, message=_message(body))
    if kind == "callback_query":
        message = _message(object_in(body, "message"))
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, callback=_callback(body))
    if kind == "my_chat_member" and (message := _membership_message(body)):
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, membership=_membership(body))
    return ParsedUpdate(update_id=update_id, kind=kind)


def parse_command(message: IncomingMessage) -> Command | None:
    """Return the command at the beginning of the message, by its bot_command entity; None without one."""
    for entity in message.entities:
        if entity.type == "bot_command" and entity.offset == 0:
            written = utf16_slice(message.text, 0, entity.length)
            name, _, mention = written.removeprefix("/").partition("@")
            argument = message.text[len(written) :].strip()
            return Command(name=name.lower(), argument=argument, mention=mention) if name else None
    return None


def context_keys(bot_id: int, chat_id: int, thread_id: int | None) -> dict[str, object]:
    """Return the keys of the context that a chat, or one of its topics, has with this bot."""
    keys: dict[str, object] = {"bot_id": bot_id, "chat_id": chat_id}
    return keys if thread_id is None else keys | {"message_thread_id": thread_id}


def _message(raw: Json) -> IncomingMessage | None:
    message_id, chat = int_in(raw, "message_id"), _chat(raw)
    if chat is None or message_id is None:
        return None
    kind = _content_kind(raw)
    return IncomingMessage(
        chat=chat,
        author=_author(
            object_in(raw, "sender_chat") or object_in(raw, "from"), person=object_in(raw, "from")
        ),
        message_id=message_id,
        date=_time(raw, "date") or 0,
        edit_date=_time(raw, "edit_date"),
        kind=kind,
        text=_text(raw),
        entities=_entities(raw, "caption_entities" if kind == CAPTION else "entities"),
        reply_to=_reply_to(raw),
        forwarded_from=_forwarded_from(raw),
        media_group_id=str_in(raw, "media_group_id"),
        attachment=attachment_in(raw),
        note=note_on(raw),
        is_automatic_forward=raw.get("is_automatic_forward") is True,
        event=_event(raw),
    )


def _chat(raw: Json) -> Chat | None:
    chat = object_in(raw, "chat")
    chat_id = int_in(chat, "id")
    if chat_id is None:
        return None
    thread_id = int_in(raw, "message_thread_id") if raw.get("is_topic_message") is True else None
    return Chat(id=chat_id, type=str_in(chat, "type"), title=name_in(chat), thread_id=thread_id)


def _author(sender: Json, *, person: Json) -> Author:
    return Author(
        id=int_in(sender, "id"),
        name=name_in(sender),
        is_bot=sender.get("is_bot") is True,
        language_code=str_in(person, "language_code"),
    )


def _event(raw: Json) -> ServiceEvent:
    if not SERVICE_FIELDS & raw.keys():
        return ServiceEvent()
    return ServiceEvent(
        migrate_to_chat_id=int_in(raw, "migrate_to_chat_id") or 0,
        migrate_from_chat_id=int_in(raw, "migrate_from_chat_id") or 0,
        pinned_message_id=int_in(object_in(raw, "pinned_message"), "message_id") or 0,
        left_user_id=int_in(object_in(raw, "left_chat_member"), "id") or 0,
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
    """Return the name of the original author; a hidden user has the name that they show."""
    _, name = _origin(object_in(raw, "forward_origin"))
    old = object_in(raw, "forward_from_chat") or object_in(raw, "forward_from")
    name = name or str_in(raw, "forward_sender_name") or name_in(old)
    is_forward = any(key in raw for key in ("forward_origin", "forward_date"))
    return name or ("somebody" if is_forward else "")


def _origin(origin: Json) -> tuple[int | None, str]:
    """Return the id (None if hidden) and the name of the sender of a MessageOrigin."""
    party = next((each for key in _ORIGINS if (each := object_in(origin, key))), NOTHING)
    return int_in(party, "id"), name_in(party) or str_in(origin, "sender_user_name")


def _reply_to(raw: Json) -> ReplyTo | None:
    """Return None also for a reply to a topic's creation: Telegram only names the topic with it."""
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
        language_code=str_in(sender, "language_code"),
    )


def _membership_message(raw: Json) -> IncomingMessage | None:
    """Return a message from the person who changed the bot's membership, because Telegram sends none."""
    chat, actor = _chat(raw), object_in(raw, "from")
    if chat is None:
        return None
    author = Author(
        id=int_in(actor, "id") or 0, name=name_in(actor), language_code=str_in(actor, "language_code")
    )
    return IncomingMessage(
        chat=chat, author=author, message_id=0, date=_time(raw, "date") or 0, kind=MEMBERSHIP
    )


def _membership(raw: Json) -> Membership:
    old, new = object_in(raw, "old_chat_member"), object_in(raw, "new_chat_member")
    return Membership(old_status=_standing(old), new_status=_standing(new))


def _time(raw: Json, key: str) -> int | None:
    """Return Unix seconds, None outside of the calendar."""
    seconds = int_in(raw, key)
    return seconds if seconds is not None and 0 <= seconds < 2**33 else None


def _standing(member: Json) -> str:
    is_outside = str_in(member, "status") == "restricted" and member.get("is_member") is False
    return "left" if is_outside else str_in(member, "status")
