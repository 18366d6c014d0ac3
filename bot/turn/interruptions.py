"""What ends a run before its answer: a stop, a pressed button, an edit of what it answers, more from who asked, a reset."""

from collections.abc import Callable

import structlog

from bot.errors import TurnEnded, TurnRestarted, TurnStopped
from bot.inbox.records import Signal
from bot.transport.continuations import APART_S
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.turn.batch import has_changed
from bot.turn.question import Question
from bot.turn.services import TurnServices
from bot.turn.stop_presses import judge_press
from memory.errors import Forgotten, MemoryFailure

log = structlog.get_logger()


async def wait_for_end(
    services: TurnServices, question: Question, *, has_written: Callable[[], bool]
) -> TurnEnded | Forgotten:
    """Wait for what ends the run, and return as what it ends: TurnStopped keeps what is written, the others nothing.

    What does not end it waits in the chat's line, and is found there by the next turn; so is a signal that is lost.
    """
    while True:
        signal = await question.incoming.next()
        if signal.update_id in question.taken:
            continue
        try:
            end = await _judge(services, question, signal, has_written=has_written)
        except MemoryFailure as error:
            log.warning("signal_ignored", kind=signal.kind, error=str(error))
            continue
        if end is not None:
            log.info("turn_interrupted", by=signal.kind, end=type(end).__name__)
            return end


async def _judge(
    services: TurnServices, question: Question, signal: Signal, *, has_written: Callable[[], bool]
) -> TurnEnded | Forgotten | None:
    if signal.kind == "reset":
        return Forgotten() if signal.epoch > question.history.epoch else None
    if signal.kind == "stop":
        return TurnStopped() if signal.update_id > question.newest_update else None
    if signal.kind == "press":
        press = await _read(services, question, signal)
        return TurnStopped() if press and await judge_press(services, question, press) else None
    if signal.kind == "edit":
        return TurnRestarted() if await _is_edited(services, question, signal) else None
    if signal.sender_id != question.batch.first.message.sender_id or question.again is not None:
        return None
    if signal.kind == "message":
        return TurnStopped() if has_written() else TurnRestarted()
    return TurnRestarted() if not has_written() and await _is_close(services, question, signal) else None


async def _is_edited(services: TurnServices, question: Question, signal: Signal) -> bool:
    """Whether the edit changes what one of the messages says that are answered."""
    if signal.telegram_message_id not in question.telegram_ids:
        return False
    edit = await _read(services, question, signal)
    if edit is None:
        return False
    known = [each for each in question.batch.updates if each.message.message_id == signal.telegram_message_id]
    return has_changed(edit, known) if known else question.again is not None


async def _is_close(services: TurnServices, question: Question, signal: Signal) -> bool:
    """Whether a forward has come together with the newest message: a comment is sent right before what it is about."""
    forward = await _read(services, question, signal)
    return forward is not None and forward.message.date - question.batch.newest.message.date <= APART_S


async def _read(services: TurnServices, question: Question, signal: Signal) -> WaitingUpdate | None:
    """The update that the signal is about; None once it has been forgotten."""
    payload = await services.store.payload_of(question.claim.ref, signal.update_id)
    return parse_waiting(payload) if payload else None
