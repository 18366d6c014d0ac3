"""What becomes of a part that Telegram refuses in this form: the next form to try, or none."""

from dataclasses import replace

from bot.errors import ChatMigrated, MessageGone, TelegramRefused, ThreadGone
from bot.transport.rich_text import RichText
from bot.turn.outbox import Part


def next_form(part: Part, refusal: TelegramRefused | ChatMigrated) -> Part | None:
    """Each form has less than the one before, so that there is an end; None: there is nothing left to try.

    A chat that has moved: there, where none of its old messages is. A message that cannot be edited: sent anew.
    A topic that was deleted: without it. Else plain text, without quoting. A file is refused for good.
    """
    match refusal:
        case ChatMigrated():
            return moved(part, refusal.new_chat_id)
        case MessageGone() if part.kind == "text" and part.edits is not None:
            return replace(part, edits=None)
        case ThreadGone() if part.thread_id is not None:
            return replace(part, thread_id=None, reply_to=None)
        case TelegramRefused() if part.kind == "text":
            plain = replace(part, rich=RichText(text=part.rich.text), reply_to=None)
            return None if plain == part else plain
        case _:
            return None


def moved(part: Part, chat_id: int) -> Part | None:
    """The part for the chat that its own has become, where other messages have the ids of the old ones; None: nothing."""
    if part.kind == "delete" or chat_id == part.chat_id:
        return None
    return replace(part, chat_id=chat_id, thread_id=None, reply_to=None, edits=None)
