"""Actions of people on messages: write, edit, delete, react, press a button, forward, send an album."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from simulator.api.api_objects import chat_json, entity_json, message_json, user_json
from simulator.api.contents import ALBUM_KINDS
from simulator.api.entities import Entity
from simulator.api.errors import ApiError, PageError
from simulator.api.formatted_text import MAX_CAPTION, MAX_TEXT, FormattedText, format_text
from simulator.api.methods.messages import thread_of
from simulator.api.posts import buttons_of, chat_of, find_chat, find_shown, open_chat_of, post, tell_bot
from simulator.api.simulation import Simulation
from simulator.api.updates import CALLBACK_LIFE_S, MESSAGE_LIFE_S
from simulator.api.utf16 import split_paste, utf16_length
from simulator.api.world import ANONYMOUS, Chat, Message, Topic, direct_topic_of, read_reaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message that a person sends."""

    chat_id: int
    from_id: int
    text: str = ""  # the caption, if there is `content`
    entities: tuple[Entity, ...] = ()  # formatting by the Telegram app
    content: dict[str, Any] | None = None  # Bot API fields of a photo, a poll and so on
    reply_to_message_id: int | None = None
    quote: str | None = None  # a part of the message that this one replies to
    message_thread_id: int | None = None
    media_group_id: str | None = None
    anonymous: bool = False  # an administrator writes as the group
    as_channel: int | None = None  # the channel that its administrator writes as


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A press of an inline button. With `any_data` a manipulated app sends data that no button has.

    Such an app can also name a message that does not exist any more.
    """

    chat_id: int
    from_id: int
    message_id: int
    data: str
    any_data: bool = False


def write_line(sim: Simulation, line: Line) -> Message:
    """Send a message. A text that is too long is sent as several messages; return the first.

    Raises PageError if a Telegram app would not allow it.
    """
    chat = open_chat_of(sim, line.chat_id, line.from_id)
    texts = [_read_text(sim, line, one) for one in _texts_of(line)]
    topic_id = _topic_of(sim, chat, line.from_id, line.message_thread_id)
    as_channel = _channel_of(sim, chat, line)
    replied = (
        find_shown(sim, chat, line.reply_to_message_id) if line.reply_to_message_id is not None else None
    )
    first = Message(
        chat_id=chat.id,
        sender_id=_sender_of(chat, line) if as_channel is None else as_channel,
        date=sim.now(),
        content=line.content,
        thread_id=thread_of(chat, topic_id, replied),
        reply_to=replied.id if replied else None,
        quote=_read_quote(sim, replied, line.quote) if line.quote is not None else None,
        media_group_id=line.media_group_id,
    )
    drafts = [first, *(replace(first, reply_to=None, quote=None) for _ in texts[1:])]
    posted = [
        post(sim, replace(draft, text=text.text, entities=text.entities))
        for draft, text in zip(drafts, texts, strict=True)
    ]
    return posted[0]


def edit_line(sim: Simulation, line: Line, message_id: int) -> Message:
    """Change the text or caption of an own message. Raises PageError for other messages, and without a change."""
    chat = chat_of(sim, line.chat_id, line.from_id)
    message = find_shown(sim, chat, message_id)
    if (
        message.sender_id not in _senders_of(chat, line.from_id)
        or message.service is not None
        or message.forward_origin is not None
    ):
        raise PageError("Only your own messages can be edited.", status=403)
    formatted = _read_text(sim, replace(line, content=message.content), line.text)
    if (formatted.text, formatted.entities) == (message.text, message.entities):
        raise PageError("The text is the same as before.")
    edited = sim.world.put_message(
        replace(message, text=formatted.text, entities=formatted.entities, edit_date=sim.now())
    )
    sim.publish_message("edit", edited)
    tell_bot(sim, "edited_message", edited)
    return edited


def delete_line(sim: Simulation, *, chat_id: int, from_id: int, message_id: int) -> None:
    """Delete a message for everyone. In groups only administrators can delete messages of others.

    Telegram sends no update about it.
    """
    chat = chat_of(sim, chat_id, from_id)
    message = find_shown(sim, chat, message_id)
    is_own = message.sender_id == from_id
    if not (is_own or chat.type == "private" or from_id in chat.admins):
        raise PageError("Only your own messages can be deleted.", status=403)
    sim.world.delete_message(chat.id, message.id)
    sim.feed.publish("delete", chat_id=chat.id, message_id=message.id)


def press_button(sim: Simulation, press: ButtonPress) -> str:
    """Press an inline button; return the id of the callback query. Raises PageError if there is no such button."""
    chat = chat_of(sim, press.chat_id, press.from_id)
    message = sim.world.message(chat.id, press.message_id)
    if not press.any_data and not _has_button(find_shown(sim, chat, press.message_id), press.data):
        raise PageError("The message has no such button.", status=404)
    inaccessible = {"chat": chat_json(sim.world, chat), "message_id": press.message_id, "date": 0}
    query = {
        "id": sim.callbacks.open(press.from_id),
        "from": user_json(sim.world.people[press.from_id]),
        "message": inaccessible if message is None else message_json(sim.world, message),
        "chat_instance": str(chat.id),
        "data": press.data,
    }
    sim.queue.add("callback_query", query, lane=f"user {press.from_id}", life_s=CALLBACK_LIFE_S)
    return str(query["id"])


def react(sim: Simulation, *, chat_id: int, from_id: int, message_id: int, emoji: str | None) -> None:
    """Set a reaction, or remove it with None.

    A bot that allows `message_reaction` gets an update in private chats and as an administrator.
    """
    chat = open_chat_of(sim, chat_id, from_id)
    message = find_shown(sim, chat, message_id)
    try:
        new = [] if emoji is None else [read_reaction({"type": "emoji", "emoji": emoji})]
    except ApiError:
        raise PageError("There is no such reaction.") from None
    old = sim.world.reactions.put(chat.id, message.id, from_id, new)
    if old == new:
        return
    sim.feed.publish("reaction", chat_id=chat.id, message_id=message.id, user_id=from_id, reactions=new)
    if chat.type == "private" or chat.bot_status == "administrator":
        update = {
            "chat": chat_json(sim.world, chat),
            "message_id": message.id,
            "user": user_json(sim.world.people[from_id]),
            "date": sim.now(),
            "old_reaction": old,
            "new_reaction": new,
        }
        sim.queue.add("message_reaction", update, lane=f"chat {chat.id}", life_s=MESSAGE_LIFE_S)


def _topic_of(sim: Simulation, chat: Chat, person_id: int, topic_id: int | None) -> int | None:
    """Return the topic to write to. In the direct messages of a channel people only have their own, from the start.

    Raises PageError for any other topic.
    """
    if chat.is_direct and person_id not in chat.admins:
        own = direct_topic_of(person_id)
        if topic_id not in (None, own):
            raise PageError("That is the topic of another person.", status=403)
        if not chat.has_thread(own):
            topic = Topic(thread_id=own, name=sim.world.people[person_id].first_name)
            sim.world.put_chat(replace(chat, topics=(*chat.topics, topic)))
            sim.feed.publish("world")
        return own
    if (topic_id is None and chat.is_direct) or (topic_id is not None and not chat.has_thread(topic_id)):
        raise PageError("There is no such topic in this chat.", status=404)
    return topic_id


def _channel_of(sim: Simulation, chat: Chat, line: Line) -> int | None:
    """Return the channel as which a line is written: in a channel, and by administrators in its direct messages."""
    own = chat.id if chat.type == "channel" else chat.parent_id if line.from_id in chat.admins else None
    channel_id = own if line.as_channel is None else line.as_channel
    if channel_id is not None and line.from_id not in find_chat(sim, channel_id).admins:
        raise PageError("Only an administrator can write as the channel.", status=403)
    return channel_id


def _senders_of(chat: Chat, person_id: int) -> set[int]:
    """Return the sender ids that a person may write with."""
    return {person_id, ANONYMOUS.id} if person_id in chat.admins else {person_id}


def _sender_of(chat: Chat, line: Line) -> int:
    if line.anonymous and line.from_id not in chat.admins:
        raise PageError("Only an administrator can write as the group.", status=403)
    return ANONYMOUS.id if line.anonymous else line.from_id


def _texts_of(line: Line) -> list[str]:
    """Return the text in the parts that a Telegram app sends. A formatted text is not split."""
    if line.content is not None or line.entities or utf16_length(line.text) <= MAX_TEXT:
        return [line.text]
    return split_paste(line.text, MAX_TEXT) or [""]


def _read_text(sim: Simulation, line: Line, text: str) -> FormattedText:
    try:
        formatted = format_text(text, line.entities)
    except ApiError as error:
        raise PageError(f"The formatting does not fit the text: {error}.") from None
    if line.content is not None:
        is_premium = sim.world.people[line.from_id].is_premium
        most, name = (MAX_TEXT if is_premium else MAX_CAPTION), "caption"
    else:
        most, name = MAX_TEXT, "text"
    if not formatted.text and line.content is None:
        raise PageError("A message needs some text.")
    if formatted.length > most:
        raise PageError(f"The {name} is longer than {most} characters.")
    return formatted


def _read_quote(sim: Simulation, replied: Message | None, quote: str) -> dict[str, Any]:
    """Return a TextQuote: a part of the text or caption of the other message."""
    place = -1 if replied is None else replied.text.find(quote)
    if replied is None or place < 0 or not quote.strip():
        raise PageError("A quote is a part of the message that you reply to.")
    if utf16_length(quote) > MAX_CAPTION:
        raise PageError(f"The quote is longer than {MAX_CAPTION} characters.")
    position = utf16_length(replied.text[:place])
    size = utf16_length(quote)
    inside = [
        entity_json(sim.world, replace(one, offset=one.offset - position))
        for one in replied.entities
        if position <= one.offset and one.end <= position + size
    ]
    return {
        "text": quote,
        **({"entities": inside} if inside else {}),
        "position": position,
        "is_manual": True,
    }


def _has_button(message: Message, data: str) -> bool:
    return any(button.get("callback_data") == data for button in buttons_of(message))


Origin: TypeAlias = Literal["user", "hidden_user", "chat", "channel"]

MAX_FORWARDED = 100
MAX_ALBUM = 10
# Ids of channels begin with -100, as those of supergroups do. No chat of the simulator has this id.
_CHANNEL_ID = -1_009_999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """Messages to forward.

    `origin` decides how the author is shown: as an account, by name only (people can hide their account), as the group,
    or as an invented channel.
    """

    chat_id: int
    from_id: int
    from_chat_id: int
    message_ids: tuple[int, ...]
    message_thread_id: int | None = None
    origin: Origin = "user"
    channel_title: str = "A channel"
    comment: str = ""  # sent before the forwarded messages


def forward(sim: Simulation, request: Forward) -> list[Message]:
    """Forward messages from a chat that the person is in, in the order of their ids."""
    source = chat_of(sim, request.from_chat_id, request.from_id)
    originals = [find_shown(sim, source, one) for one in sorted(set(request.message_ids))[:MAX_FORWARDED]]
    if any(one.service is not None for one in originals) or not originals:
        raise PageError("Only messages can be forwarded.")
    chat = open_chat_of(sim, request.chat_id, request.from_id)
    thread_id = _topic_of(sim, chat, request.from_id, request.message_thread_id)
    comment = Line(
        chat_id=chat.id, from_id=request.from_id, text=request.comment, message_thread_id=thread_id
    )
    before = [write_line(sim, comment)] if request.comment.strip() else []
    albums = {one.media_group_id for one in originals if one.media_group_id}
    groups = {album: _new_group(sim) for album in sorted(albums)}
    return before + [
        post(
            sim,
            Message(
                chat_id=chat.id,
                sender_id=request.from_id,
                date=sim.now(),
                text=one.text,
                entities=one.entities,
                content=one.content,
                thread_id=thread_id,
                media_group_id=groups.get(one.media_group_id or ""),
                forward_origin=one.forward_origin or _origin_of(sim, request, one),
            ),
        )
        for one in originals
    ]


def send_album(sim: Simulation, lines: list[Line]) -> list[Message]:
    """Send 2 to 10 pictures, videos, sounds or documents as an album."""
    kinds = {next(iter(line.content or {"text": ""})) for line in lines}
    if not 2 <= len(lines) <= MAX_ALBUM or kinds - ALBUM_KINDS:
        raise PageError(f"An album has 2 to {MAX_ALBUM} photos, videos, sounds or documents.")
    if len(kinds) > 1 and kinds - {"photo", "video"}:
        raise PageError("Sounds and documents make albums of their own.")
    group = _new_group(sim)
    return [write_line(sim, replace(line, media_group_id=group)) for line in lines]


def _new_group(sim: Simulation) -> str:
    return str(sim.world.next_number())


def _origin_of(sim: Simulation, request: Forward, original: Message) -> dict[str, Any]:
    """Return a MessageOrigin."""
    date = {"type": request.origin, "date": original.date}
    sender = sim.world.user(original.sender_id)
    match request.origin:
        case "user" if sender is not None:
            return date | {"sender_user": user_json(sender)}
        case "user" | "hidden_user":
            names = (sender.first_name, sender.last_name) if sender is not None else ("Deleted Account",)
            name = " ".join(one for one in names if one)
            return date | {"type": "hidden_user", "sender_user_name": name}
        case "chat":
            return date | {"sender_chat": chat_json(sim.world, sim.world.chats[original.chat_id])}
        case "channel":
            channel = {"id": _CHANNEL_ID, "title": request.channel_title, "type": "channel"}
            return date | {"chat": channel, "message_id": original.id}
