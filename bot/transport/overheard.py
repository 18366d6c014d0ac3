"""What is kept of a message that was not said to the bot: one line of talk (pure)."""

from bot.transport.updates import SERVICE, IncomingMessage
from memory.history.message import Sender, told
from memory.history.talk import HeardLine, cut, score_of


def heard_line(message: IncomingMessage, *, is_moved: bool) -> HeardLine | None:
    """The line: what was written, with what came along; None where that is nothing. What it quotes is not in it.

    `is_moved`: the chat is a supergroup that was a group before.
    """
    is_service = message.kind == SERVICE
    text = cut(
        message.note
        if is_service
        else told(message.text, note=message.note, forwarded_from=message.forwarded_from)
    )
    if not text:
        return None
    return HeardLine(
        telegram_message_id=message.message_id,
        sender=Sender(id=message.sender_id or 0, name=message.sender_name),
        text=text,
        sent_at=float(message.date),
        is_service=is_service,
        pinned=score_of(message.pinned_message_id, is_moved=is_moved) if message.pinned_message_id else None,
    )
