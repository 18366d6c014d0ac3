"""Relations between messages: quotations, and parts of one long message (pure)."""

from dataclasses import replace

from bot.transport.rich_text import utf16_length
from bot.transport.updates import IncomingMessage, ServiceEvent
from memory.history.message import Continuation, Quote

QUOTED_CHARACTERS = 600
"""Maximum length of a stored quotation."""
PASTE_UNITS = 3_700
"""Minimum UTF-16 units of the first part of a split text.

Telegram for Android splits at a blank line, a line's end or a blank, and trims the parts. The place is within the
last 300 units before the limit of 4,096.
"""
APART_S = 2
"""Maximum seconds between two parts of one message. Telegram's clock has whole seconds."""


def quote_of(message: IncomingMessage, bot_id: int) -> Quote | None:
    """Return the quotation that the message answers: the selected part, else the whole text, caption or note.

    None if it answers nothing, or if the update lacks the text. The sender's name is "" for the bot itself.
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
    """Return True if the message carries words of that message of its own chat."""
    reply = message.reply_to
    return reply is not None and reply.message_id == telegram_message_id and bool(reply.quote or reply.text)


def without_quotations(message: IncomingMessage, *, keeps_quoted: bool) -> IncomingMessage:
    """Return the message with no more words of other messages than `quote_of` needs.

    Without `keeps_quoted` it has none: a command only needs to know which message it answers.
    """
    if message.event.pinned_message_id:
        message = replace(message, note="")
    reply = message.reply_to
    if reply is None:
        return message
    quote = _cut(reply.quote) if keeps_quoted else ""
    text = _cut(reply.text) if keeps_quoted and not quote else ""
    return replace(message, reply_to=replace(reply, quote=quote, text=text))


def without_content(message: IncomingMessage) -> IncomingMessage:
    """Return the message with its place and author only, so that nothing is stored of its content."""
    return replace(
        message,
        text="",
        entities=(),
        reply_to=None,
        forwarded_from="",
        attachment=None,
        note="",
        event=ServiceEvent(),
    )


def continuation(before: IncomingMessage, after: IncomingMessage) -> Continuation:
    """Return how a message continues the previous one of the same person; "" if it does not."""
    if after.media_group_id and after.media_group_id == before.media_group_id:
        return "bundle"
    if after.date - before.date > APART_S:
        return ""
    if after.forwarded_from:
        return "bundle"
    is_plain = not before.forwarded_from and after.attachment is None
    return "paste" if is_plain and may_go_on(before) else ""


def may_go_on(message: IncomingMessage) -> bool:
    """Return True if this may be the first part of a text that was too long for one message."""
    return message.attachment is None and utf16_length(message.text) >= PASTE_UNITS


def _cut(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"
