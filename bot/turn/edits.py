"""An edited message replaces what was kept of it."""

from dataclasses import replace
from typing import Literal

from bot.transport.gating import strip_mention
from bot.transport.updates import IncomingMessage
from bot.turn.services import TurnServices
from memory.history.message import Message, told_text
from memory.keys import ContextRef

SPOKEN_KINDS = ("voice", "audio", "video_note")
"""What is kept of these is what was heard in them, which an edit of the caption does not change."""

Replaced = Literal["edited", "edit_of_unkept_message", "edit_of_voice_message"]


async def replace_edited(
    services: TurnServices, ref: ContextRef, edited: IncomingMessage, *, epoch: int
) -> Replaced:
    """Keep what the message says now, where it is kept; of one that is not, what others quote of it goes.

    Repeating it is harmless. Raises Forgotten after a reset, and the store's errors.
    """
    message_id = await services.history.find_by_telegram(ref, edited.message_id)
    if message_id is None:
        await services.history.delete(ref, [], epoch=epoch, quoted=[edited.message_id])
        return "edit_of_unkept_message"
    if _is_spoken(edited):
        return "edit_of_voice_message"
    text = strip_mention(edited, bot=services.bot)
    # Of a file the note tells what was read of it then; without one there is nothing but what the edit says.
    note = None if edited.attachment is not None else edited.note
    is_kept = await services.history.replace(
        ref,
        message_id,
        text=text,
        note=note,
        tokens=services.tokenizer.count(_told(edited, text)),
        edited_at=float(edited.edit_date or edited.date),
        epoch=epoch,
    )
    return "edited" if is_kept else "edit_of_unkept_message"


def says_the_same(kept: Message, edited: IncomingMessage, text: str) -> bool:
    """Whether the edit leaves a kept message as it is: Telegram tells of link previews and the like as edits too.

    `text` is the edited message's, without a mention of the bot.
    """
    return kept.text.startswith(text) if _is_spoken(edited) else kept.text == text


def _is_spoken(edited: IncomingMessage) -> bool:
    return edited.attachment is not None and edited.attachment.kind in SPOKEN_KINDS


def _told(edited: IncomingMessage, text: str) -> str:
    blank = Message(id="", role="user", text=text, sent_at=0.0, tokens=0)
    return told_text(replace(blank, note=edited.note, forwarded_from=edited.forwarded_from))
