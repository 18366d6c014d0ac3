"""What an update may keep of other messages, and the quotation that a message answers to (pure)."""

from collections.abc import Mapping
from typing import Any

from bot.transport.raw_json import Json, object_in, str_in
from bot.transport.updates import MESSAGE_KINDS, IncomingMessage, parse_update
from memory.history.message import Quote

QUOTED_CHARACTERS = 600
"""Of what a message answers to no more is kept and told."""

_EMBEDDED = ("pinned_message", "checklist_tasks_done", "checklist_tasks_added")
"""Whole messages of others in a message, which are no answer to them."""
_QUOTING = ("quote", "reply_to_message", "external_reply")
_POINTER = ("message_id", "date", "chat", "from", "sender_chat", "forum_topic_created")
"""Of a message that is replied to: which one it is, and whose."""
_ORIGIN = ("type", "sender_user_name")
_PARTIES = ("sender_user", "sender_chat", "chat")
_NAMES = ("id", "is_bot", "title", "first_name", "last_name", "username")


def quote_of(message: IncomingMessage, bot_id: int) -> Quote | None:
    """What the message answers to: the part that was picked out, else the text, caption or note of all of it.

    None where it answers nothing, or where the update does not tell what that says. The sender's name is "" for the bot.
    """
    reply = message.reply_to
    text = _cut(reply.quote or reply.text).strip() if reply else ""
    if reply is None or not text:
        return None
    return Quote(
        telegram_message_id=max(0, reply.message_id),
        sender_name="" if reply.sender_id == bot_id else reply.sender_name or "somebody",
        text=text,
    )


def quotes_message(message: IncomingMessage, telegram_message_id: int) -> bool:
    """Whether it has words of that message of its own chat with it."""
    reply = message.reply_to
    return reply is not None and reply.message_id == telegram_message_id and bool(reply.quote or reply.text)


def without_quotations(raw: Mapping[str, Any], *, keeps_quoted: bool) -> dict[str, Any]:
    """The update with what waits of it in the inbox: of other messages no more than `quote_of` needs.

    Without `keeps_quoted` nothing that they say: a command needs to know which message it answers to, and no more.
    """
    kept = dict(raw)
    for kind in MESSAGE_KINDS & kept.keys():
        kept[kind] = _own_words(object_in(raw, kind), keeps_quoted=keeps_quoted)
    if "callback_query" in kept:
        pressed = object_in(raw, "callback_query")
        under = _own_words(object_in(pressed, "message"), keeps_quoted=False)
        kept["callback_query"] = {**pressed, **({"message": under} if under else {})}
    return kept


def _own_words(message: Json, *, keeps_quoted: bool) -> dict[str, Any]:
    own = {name: value for name, value in message.items() if name not in (*_EMBEDDED, *_QUOTING)}
    quote, replied, external = (object_in(message, name) for name in _QUOTING)
    picked = _cut(str_in(quote, "text")) if keeps_quoted else ""
    said = {"text": _said(message)} if keeps_quoted and not picked else {}
    if picked:
        own["quote"] = {"text": picked}
    if replied:
        own["reply_to_message"] = {name: replied[name] for name in _POINTER if name in replied} | said
    if external:
        own["external_reply"] = {"origin": _origin(object_in(external, "origin"))} | said
    return own


def _said(message: Json) -> str:
    """What the message that is answered says, as it is read from the update."""
    parsed = parse_update({"message": {"message_id": 0, "chat": {"id": 0}, **message}}).message
    return _cut(parsed.reply_to.text) if parsed and parsed.reply_to else ""


def _origin(origin: Json) -> dict[str, Any]:
    """Of who wrote it first no more than how they are called."""
    kept: dict[str, Any] = {name: value for name, value in origin.items() if name in _ORIGIN}
    parties = {name: object_in(origin, name) for name in _PARTIES if name in origin}
    for name, party in parties.items():
        kept[name] = {key: value for key, value in party.items() if key in _NAMES}
    return kept


def _cut(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"
