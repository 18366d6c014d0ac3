"""Raw Bot API updates as records of our own, and how messages relate: quotations, parts of one long message (pure).

No shape of JSON makes the parser fail; unknown fields are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bot.transport.contents import SENT_SERVICES, VOICE_KINDS, Attachment, content_in, replied_choice
from bot.transport.controls import NO_BUTTONS, ButtonRule, ButtonRules, is_same_menu, word_of
from bot.transport.forms import (
    DIRECT_TOPIC,
    FORMS,
    ChatPlace,
    direct_person_in,
    find_form,
    has_topics,
    topic_in,
)
from bot.transport.json_fields import Json, buttons_in, int_in, name_in, object_in, objects_in, str_in
from bot.transport.received_text import Addition, additions_in, read_text, with_additions
from bot.transport.rich_messages import as_ordinary
from bot.transport.rich_text import Entity, utf16_length, utf16_slice
from memory.codec import Id
from memory.history.message import Continuation, Origin, Quote

UNKNOWN = "unknown"
TEXT, CAPTION = "text", "caption"
MEMBERSHIP = "membership"
"""Kind of a change of the bot's own membership."""

# Kinds of messages and of other updates, from the Bot API documentation (10.0).
_MESSAGES = """
    message edited_message channel_post edited_channel_post business_message edited_business_message guest_message
"""
_OTHER_UPDATES = """
    business_connection callback_query chat_boost chat_join_request chat_member chosen_inline_result
    deleted_business_messages inline_query managed_bot message_reaction message_reaction_count my_chat_member poll
    poll_answer pre_checkout_query purchased_paid_media removed_chat_boost shipping_query
"""
_CAPTIONED = "animation live_photo audio document paid_media photo video voice"
MESSAGE_KINDS = frozenset(_MESSAGES.split())
UPDATE_KINDS = MESSAGE_KINDS | frozenset(_OTHER_UPDATES.split())
INLINE_QUERY, CHOSEN_RESULT = "inline_query", "chosen_inline_result"
CAPTIONED_KINDS = tuple(_CAPTIONED.split())
"""Contents with an optional caption: an edit may remove or add their text."""

_SPOKEN_KINDS = frozenset(["audio", "sticker", "video_note", "voice"])
"""Files that say something without words next to them."""
_REPLY_FIELDS = frozenset(["reply_to_message", "external_reply"])
_FORWARD_FIELDS = frozenset(
    ["forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name"]
)
_ORIGINS = ("sender_user", "sender_chat", "chat")
"""Fields of a MessageOrigin with its sender; a hidden user has none of them."""

QUOTED_CHARACTERS = 600
"""Maximum length of a stored quotation."""
PASTE_UNITS = 3_700
"""Minimum UTF-16 units of the first part of a split text.

Telegram for Android splits at a blank line, a line's end or a blank, and trims the parts. The place is within the
last 300 units before the limit of 4,096.
"""
APART_S = 2
"""Maximum seconds between two parts of one message. Telegram's clock has whole seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTo:
    """The message that a message replies to, as far as the update describes it."""

    message_id: int
    """0 for a message of another chat or topic."""
    sender_id: int | None
    sender_name: str
    text: str
    """Text or caption with its additions, or the note on the content in round brackets."""
    quote: str
    """Part of the text that the sender selected."""
    file: Attachment | None = None
    note: str = ""
    """Note on the content other than text."""
    media_group_id: str = ""
    """Album of the message."""
    date: int = 0
    """Unix seconds; 0 for a message of another chat or topic, and for one that is gone."""
    author_id: int | None = None
    """The person whose words it has, also if it was forwarded; None if hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEvent:
    """Ids that a service message names; 0 for none."""

    migrate_to_chat_id: int = 0
    migrate_from_chat_id: int = 0
    pinned_message_id: int = 0
    pinned_at: int = 0
    """Unix seconds."""
    left_user_id: int = 0
    is_sent: bool = False
    """True for what people send as a message, such as a gift."""


NO_EVENT = ServiceEvent()


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage(ChatPlace):
    """One received message. A change of the bot's membership is a message of kind MEMBERSHIP with the id 0."""

    thread_id: int | None = None
    chat_type: str = ""
    """"private", "group", "supergroup" or "channel"."""
    chat_title: str = ""
    """Title of the chat, or the name of the person in a private chat."""
    is_comment: bool = False
    """True in a thread that is no topic: comments of a channel's post, or replies in a supergroup."""
    refusal: str = ""
    """Reason for refusing it by the form of its chat."""
    direct_person_id: int | None = None
    """The person whose topic it is, in the direct messages of a channel."""
    sender_id: Id | None = None
    """Id of a person, or of a chat for anonymous administrators and channel posts."""
    sender_name: str = ""
    is_from_bot: bool = False
    language_code: str = ""
    """IETF language tag of the person, "" if unknown."""
    message_id: int
    date: int
    """Unix seconds."""
    kind: str
    """TEXT, CAPTION, one of MEDIA_KINDS, SERVICE, MEMBERSHIP, or UNKNOWN for unknown content."""
    text: str = ""
    """Text or caption."""
    entities: tuple[Entity, ...] = ()
    """Marked ranges of the text. They may not fit it."""
    additions: tuple[Addition, ...] = ()
    """Addresses and names that the text hides under words. `full_text` writes them out."""
    reply_to: ReplyTo | None = None
    edit_date: int | None = None
    forwarded_from: str = ""
    """Name of the original author of a forwarded message; "" if it is not forwarded."""
    forwarded_id: int | None = None
    """Id of that author; None if hidden."""
    media_group_id: str = ""
    """Album of the message."""
    attachment: Attachment | None = None
    more_files: tuple[Attachment, ...] = ()
    """The other files of a page."""
    note: str = ""
    """One line for the model on content other than text, such as a sticker or who joined."""
    is_automatic_forward: bool = False
    via_bot_id: int | None = None
    """The bot through whose inline mode it was sent."""
    event: ServiceEvent = NO_EVENT


PressedKind = Literal["menu", "another", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """The press of an inline button. `data` is the text of one of our buttons, or made up by a manipulated app."""

    id: str
    data: str
    sender_id: Id
    rule: ButtonRule | None = None
    """None for data of no button of ours."""
    language_code: str = ""
    under: PressedKind = "menu"
    """The message that is named: a menu with such a button, another message, or one that Telegram does not describe.

    A menu may have changed since the press: any button of the same command and owner makes it one.
    """
    is_topic_unknown: bool = False
    """True if Telegram only tells the chat, which has topics.

    It no longer describes messages of some hours ago, and deleted ones. Source: tdlib/telegram-bot-api#401.
    """


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
    inline_id: str = ""
    """Id of an inline query, or of the message that a chosen result became. `message` has its person and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command such as `/name@mention argument`: the name in lower case, the mention without its @ or empty."""

    name: str
    argument: str
    mention: str


def parse_update(raw: Mapping[str, object], buttons: ButtonRules = NO_BUTTONS) -> ParsedUpdate:
    """Return the facts of one update. Never raises: a missing or wrong field is empty, 0 or None.

    `buttons` are ours; presses of others do nothing.
    """
    update_id = int_in(raw, "update_id") or 0
    for kind in raw:
        if kind in UPDATE_KINDS:
            break
    else:
        return ParsedUpdate(update_id=update_id, kind=UNKNOWN)
    body = object_in(raw, kind)
    if kind in MESSAGE_KINDS:
        return ParsedUpdate(update_id=update_id, kind=kind, message=_message(kind, body))
    if kind == "callback_query":
        is_inline = "inline_message_id" in body
        message = _inline_question(body) if is_inline else _message(kind, object_in(body, "message"))
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, callback=_press(body, buttons))
    if kind in (INLINE_QUERY, CHOSEN_RESULT):
        inline_id = str_in(body, "id" if kind == INLINE_QUERY else "inline_message_id")
        message = _inline_question(body)
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, inline_id=inline_id)
    if kind == "my_chat_member" and (message := _membership_message(body)):
        return ParsedUpdate(update_id=update_id, kind=kind, message=message, membership=_membership(body))
    return ParsedUpdate(update_id=update_id, kind=kind)


def full_text(message: IncomingMessage, start: int = 0) -> str:
    """Return the text from this code point on, with the addresses and names that it hides under words."""
    return with_additions(message.text, message.additions, start)


def parse_command(message: IncomingMessage, start: int = 0) -> Command | None:
    """Return the command at this code point of the text, by its bot_command entity; None without one."""
    offset = utf16_length(message.text[:start])
    for entity in message.entities:
        if entity.type == "bot_command" and entity.offset == offset:
            written = utf16_slice(message.text, offset, entity.length)
            name, _, mention = written.removeprefix("/").partition("@")
            argument = full_text(message, start + len(written)).strip()
            return Command(name=name.lower(), argument=argument, mention=mention) if name else None
    return None


def inline_context_keys(bot_id: int, person_id: int) -> dict[str, object]:
    """Return the keys of the context of a person's inline questions, which keeps nothing."""
    return {"bot_id": bot_id, "inline_of": person_id}


def quote_of(message: IncomingMessage, bot_id: int, *, file: str = "") -> Quote | None:
    """Return the quotation that the message answers: the selected part, else the whole text, caption or note.

    `file` is a note on its file as it was read, which replaces the one of the update. None if the message answers
    nothing, or if the update lacks the text. The sender's name is "" for the bot itself.
    """
    reply = message.reply_to
    text = _cut(reply.quote or reply.text).strip() if reply else ""
    if reply is None or not (text or file):
        return None
    if file and text == f"({reply.note})":
        text = ""
    return Quote(
        telegram_message_id=max(0, reply.message_id),
        sender_name="" if reply.sender_id == bot_id else reply.sender_name or "somebody",
        text=text,
        file=file,
        sender_id=None if reply.sender_id == bot_id else reply.author_id,
    )


def origin_of(message: IncomingMessage) -> Origin:
    """Return whose words the text is, with the transcript of a voice message. A page with files is typed."""
    if message.forwarded_from:
        return "forwarded"
    if message.via_bot_id is not None:
        return "via_bot"
    file = message.attachment
    is_voice = file is not None and file.kind in VOICE_KINDS and not message.more_files
    return "spoken" if is_voice else "typed"


def quotes_message(message: IncomingMessage, telegram_message_id: int) -> bool:
    """Return True if the message carries words or the file of that message of its own chat."""
    reply = message.reply_to
    if reply is None or reply.message_id != telegram_message_id:
        return False
    return bool(reply.quote or reply.text or reply.file)


def without_quotations(
    message: IncomingMessage, *, keeps_quoted: bool, keeps_file: bool = False
) -> IncomingMessage:
    """Return the message with no more words of other messages than `quote_of` needs.

    Without `keeps_quoted` it has none: a command only needs to know which message it answers. `keeps_file` is for
    edits, whose quotation is stored already.
    """
    if message.event.pinned_message_id:
        message = replace(message, note="")
    reply = message.reply_to
    if reply is None:
        return message
    quote = _cut(reply.quote) if keeps_quoted else ""
    text = _cut(reply.text) if keeps_quoted and not quote else ""
    kept = replace(reply, quote=quote, text=text)
    if not (keeps_quoted or keeps_file):
        kept = replace(kept, file=None, note="")
    return replace(message, reply_to=kept)


def without_content(message: IncomingMessage) -> IncomingMessage:
    """Return the message with its place and author only, so that nothing is stored of its content."""
    return replace(
        message,
        text="",
        entities=(),
        additions=(),
        reply_to=None,
        forwarded_from="",
        forwarded_id=None,
        attachment=None,
        more_files=(),
        note="",
        event=NO_EVENT,
    )


def continuation(before: IncomingMessage, after: IncomingMessage) -> Continuation:
    """Return how a message continues the previous one of the same person; "" if it does not."""
    if after.media_group_id and after.media_group_id == before.media_group_id:
        return "bundle"
    if after.date - before.date > APART_S:
        return ""
    if after.forwarded_from:
        return "bundle"
    if before.forwarded_from:
        return ""
    if (is_bare_file(before) and _is_words(after)) or (_is_words(before) and is_bare_file(after)):
        return "bundle"
    return "paste" if after.attachment is None and may_go_on(before) else ""


def is_bare_file(message: IncomingMessage) -> bool:
    """Return True for a picture, document or video without words: the question about it may stand next to it."""
    file = message.attachment
    is_shown = file is not None and file.kind not in _SPOKEN_KINDS
    return is_shown and not message.text and not message.forwarded_from


def _is_words(message: IncomingMessage) -> bool:
    return message.kind == TEXT and message.attachment is None


def may_go_on(message: IncomingMessage) -> bool:
    """Return True if this may be the first part of a text that was too long for one message."""
    return message.attachment is None and utf16_length(message.text) >= PASTE_UNITS


def _message(update: str, raw: Json) -> IncomingMessage | None:
    raw = as_ordinary(raw) if "rich_message" in raw else raw
    message_id, chat = int_in(raw, "message_id"), object_in(raw, "chat")
    chat_id = int_in(chat, "id")
    if chat_id is None or message_id is None:
        return None
    person = object_in(raw, "from")
    sender = object_in(raw, "sender_chat") or person
    text, caption = str_in(raw, TEXT), str_in(raw, CAPTION)
    kind = TEXT if text else CAPTION if caption else ""
    entities = "caption_entities" if kind == CAPTION else "entities"
    content = content_in(raw)
    form = FORMS[find_form(update, raw)]
    return IncomingMessage(
        chat_id=chat_id,
        chat_type=str_in(chat, "type"),
        chat_title=name_in(chat),
        thread_id=topic_in(raw, form),
        is_direct=form.topic == DIRECT_TOPIC,
        is_comment=form.is_comment,
        refusal=form.refusal,
        direct_person_id=direct_person_in(raw) if form.topic == DIRECT_TOPIC else None,
        sender_id=int_in(sender, "id"),
        sender_name=name_in(sender),
        is_from_bot=sender.get("is_bot") is True,
        language_code=str_in(person, "language_code"),
        message_id=message_id,
        date=_time(raw, "date") or 0,
        edit_date=_time(raw, "edit_date"),
        kind=kind or content.kind or UNKNOWN,
        text=text or caption,
        entities=_entities(raw, entities) if entities in raw else (),
        additions=additions_in(raw, kind, entities) if kind else (),
        reply_to=_reply_to(raw) if raw.keys() & _REPLY_FIELDS else None,
        forwarded_from=_forwarded_from(raw) if raw.keys() & _FORWARD_FIELDS else "",
        forwarded_id=_forwarded_id(raw),
        media_group_id=str_in(raw, "media_group_id"),
        attachment=content.file,
        more_files=content.more_files,
        note=content.note,
        is_automatic_forward=raw.get("is_automatic_forward") is True,
        via_bot_id=int_in(object_in(raw, "via_bot"), "id") or 0 if "via_bot" in raw else None,
        event=_event(raw) if content.kind else NO_EVENT,
    )


def _event(raw: Json) -> ServiceEvent:
    return ServiceEvent(
        migrate_to_chat_id=int_in(raw, "migrate_to_chat_id") or 0,
        migrate_from_chat_id=int_in(raw, "migrate_from_chat_id") or 0,
        pinned_message_id=int_in(object_in(raw, "pinned_message"), "message_id") or 0,
        pinned_at=_time(object_in(raw, "pinned_message"), "date") or 0,
        left_user_id=int_in(object_in(raw, "left_chat_member"), "id") or 0,
        is_sent=not SENT_SERVICES.keys().isdisjoint(raw),
    )


def _entities(raw: Json, key: str) -> tuple[Entity, ...]:
    return tuple(
        Entity(
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


def _forwarded_id(raw: Json) -> int | None:
    old = object_in(raw, "forward_from_chat") or object_in(raw, "forward_from")
    return _origin(object_in(raw, "forward_origin"))[0] or int_in(old, "id")


def _origin(origin: Json) -> tuple[int | None, str]:
    """Return the id (None if hidden) and the name of the sender of a MessageOrigin."""
    party = next((each for key in _ORIGINS if (each := object_in(origin, key))), origin)
    return int_in(party, "id"), name_in(party) or str_in(origin, "sender_user_name")


def _reply_to(raw: Json) -> ReplyTo | None:
    """Return None also for a reply to a topic's creation: Telegram only names the topic with it."""
    replied = as_ordinary(object_in(raw, "reply_to_message"))
    message_id = int_in(replied, "message_id")
    if message_id is None:
        replied = as_ordinary(object_in(raw, "external_reply"))
        sender_id, name = _origin(object_in(replied, "origin"))
    else:
        sender = object_in(replied, "sender_chat") or object_in(replied, "from")
        sender_id, name = int_in(sender, "id"), _author(replied) or name_in(sender)
    if not replied or (message_id is not None and "forum_topic_created" in replied):
        return None
    content = content_in(replied)
    return ReplyTo(
        message_id=message_id or 0,
        sender_id=sender_id,
        sender_name=name,
        text=read_text(replied) or (f"({content.note})" if content.note else ""),
        quote=read_text(object_in(raw, "quote")) or replied_choice(raw, replied),
        file=content.file,
        note=content.note,
        media_group_id=str_in(replied, "media_group_id"),
        date=_time(replied, "date") or 0,
        author_id=_forwarded_id(replied) if _author(replied) else sender_id,
    )


def _author(replied: Json) -> str:
    """Return the name of the author of words that the sender has not written; "" if they are the sender's."""
    return _forwarded_from(replied) or name_in(object_in(replied, "via_bot"))


def _inline_question(raw: Json) -> IncomingMessage | None:
    """Return an inline query, or a press under its result, as a private message: no update tells the chat.

    A chosen result has no date. Its id is ours: the Unix seconds of its query.
    """
    person, asked_at = object_in(raw, "from"), str_in(raw, "result_id")
    person_id = int_in(person, "id")
    if person_id is None:
        return None
    date = int(asked_at) if asked_at.isascii() and asked_at.isdecimal() and len(asked_at) < 11 else 0
    return IncomingMessage(
        chat_id=person_id,
        chat_type="private",
        chat_title=name_in(person),
        sender_id=person_id,
        sender_name=name_in(person),
        language_code=str_in(person, "language_code"),
        message_id=0,
        date=date,
        kind=TEXT,
        text=str_in(raw, "query").strip(),
    )


def _press(raw: Json, buttons: ButtonRules) -> Callback:
    """Return the press of a callback query."""
    sender, message, data = object_in(raw, "from"), object_in(raw, "message"), str_in(raw, "data")
    rule = buttons.get(word_of(data))
    return Callback(
        id=str_in(raw, "id"),
        data=data,
        rule=rule,
        sender_id=int_in(sender, "id") or 0,
        language_code=str_in(sender, "language_code"),
        under=_kind_of_pressed(message, data, rule),
        is_topic_unknown=message.get("date") == 0 and has_topics(object_in(message, "chat")),
    )


def _kind_of_pressed(message: Json, data: str, rule: ButtonRule | None) -> PressedKind:
    """Return `Callback.under`. Telegram describes a message with its keyboard, unless it is old or deleted."""
    if message.get("date") == 0:
        return "unknown"
    shown = [str_in(button, "callback_data") for button in buttons_in(message)]
    is_menu = rule is not None and any(is_same_menu(data, each, rule) for each in shown)
    return "menu" if is_menu else "another"


def _membership_message(raw: Json) -> IncomingMessage | None:
    """Return a message from the person who changed the bot's membership, because Telegram sends none."""
    fields = {key: raw[key] for key in ("chat", "from", "date") if key in raw}
    message = _message("my_chat_member", {**fields, "message_id": 0})
    return message and replace(message, kind=MEMBERSHIP, sender_id=message.sender_id or 0, is_from_bot=False)


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


def _cut(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"
