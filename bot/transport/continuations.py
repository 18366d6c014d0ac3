"""Which message continues the one before it: the rest of a long text, an album's next picture, a forward (pure)."""

from bot.transport.rich_text import utf16_length
from bot.transport.updates import IncomingMessage
from memory.history.message import Continuation

PASTE_UNITS = 3_700
"""A text of so many UTF-16 units may be the part of a longer one: a client splits it at a blank line, a line's end or a
blank within the last 300 units before Telegram's limit of 4,096, and trims the parts (Telegram for Android)."""
APART_S = 2
"""Parts of one thing come within so many seconds of Telegram's clock, which tells whole ones."""


def continuation(before: IncomingMessage, after: IncomingMessage) -> Continuation:
    """How a message continues the one that the same person sent before it; "" where it does not."""
    if after.media_group_id and after.media_group_id == before.media_group_id:
        return "bundle"
    if after.date - before.date > APART_S:
        return ""
    if after.forwarded_from:
        return "bundle"
    is_plain = not before.forwarded_from and after.attachment is None
    return "paste" if is_plain and may_go_on(before) else ""


def may_go_on(message: IncomingMessage) -> bool:
    """Whether this may be the first part of a text that was too long for one message."""
    return message.attachment is None and utf16_length(message.text) >= PASTE_UNITS
