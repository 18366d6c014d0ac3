"""Buttons that are pressed: who may stop an answer by one, and what the person who pressed is told."""

from contextlib import suppress
from dataclasses import replace

import structlog

from bot.errors import TelegramFailure
from bot.transport.ingest import WaitingUpdate
from bot.transport.words import words_for
from bot.turn.question import Question
from bot.turn.rights import why_not
from bot.turn.services import TurnServices
from bot.turn.stop_button import is_alone, is_meant_by, is_stop

log = structlog.get_logger()

WRITTEN, STOPPED, NOT_YOURS, UNKNOWN = "answer-written", "stopped", "stop-not-yours", "button-unknown"
"""Keys of the catalogue."""


async def judge_press(services: TurnServices, question: Question, press: WaitingUpdate) -> bool:
    """Whether this press ends the turn that answers the question. One that does not gets its answer here."""
    callback = press.callback
    if callback is None:
        return False
    if not is_meant_by(callback.data, question.batch.first.update_id):
        await answer_stale_press(services, press)
    elif callback.sender_id == question.batch.first.message.sender_id or await _may_stop(services, press):
        question.presses.stopping.append(press)
        return True
    else:
        await answer_press(services, press, NOT_YOURS, is_alert=True)
    question.presses.settled.append(press.update_id)
    return False


async def answer_press(
    services: TurnServices, press: WaitingUpdate, key: str, *, is_alert: bool = False
) -> None:
    """Tell who pressed the sentence of this key. One who waits no longer, or a Telegram that fails, is no matter."""
    callback = press.callback
    if callback is None:
        return
    told = words_for(callback.language_code)(key)
    with suppress(TelegramFailure):
        await services.chats.answer_callback(callback.id, told, is_alert=is_alert)


async def answer_stale_press(services: TurnServices, press: WaitingUpdate) -> None:
    """Tell that the answer is written, and take away the button, which a crash or a broken connection has left.

    A message that is more than its button stays: it may be the answer by now. A button that is none of ours (software
    that had the bot before) is only told to do nothing.
    """
    callback, message = press.callback, press.message
    if callback is None or not is_stop(callback.data):
        await answer_press(services, press, UNKNOWN)
        return
    await answer_press(services, press, WRITTEN)
    with suppress(TelegramFailure):
        if is_alone(callback.data):
            await services.chats.delete_message(message.chat_id, message.message_id)
        else:
            await services.chats.remove_buttons(message.chat_id, message.message_id)


async def _may_stop(services: TurnServices, press: WaitingUpdate) -> bool:
    """Whether they administer the group. In their private chat they are the one who asked, under whatever data."""
    sender_id = press.callback.sender_id if press.callback else None
    return await why_not(services, replace(press.message, sender_id=sender_id)) is None
