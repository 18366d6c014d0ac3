"""Interruptions of a running turn: a stop, a pressed button, an edit, a new message, or a reset."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from bot.errors import TelegramFailure, TurnEnded, TurnRestarted, TurnStopped
from bot.inbox.records import Signal
from bot.transport.gating import STOP_BUTTON
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.telegram_api import TelegramApi
from bot.transport.updates import APART_S
from bot.transport.words import words_for
from bot.turn.batch import has_changed, is_alone, stops_turn
from bot.turn.permissions import Permissions
from bot.turn.question import Question
from bot.turn.store import TurnStore
from memory.errors import Forgotten, MemoryFailure

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Buttons:
    """Answers presses of buttons. A person who no longer waits, or a Telegram failure, does not matter."""

    telegram: TelegramApi

    async def answer(self, press: WaitingUpdate, key: str = "", *, is_alert: bool = False) -> None:
        """Show the person who pressed the sentence of this key of the catalogue, or nothing."""
        callback = press.callback
        if callback is not None:
            text = words_for(callback.language_code)(key) if key else ""
            with suppress(TelegramFailure):
                await self.telegram.answer_callback(callback.id, text, is_alert=is_alert)

    async def remove(self, press: WaitingUpdate) -> None:
        """Remove the buttons from the message of this press."""
        with suppress(TelegramFailure):
            await self.telegram.remove_buttons(press.message.chat_id, press.message.message_id)

    async def answer_stale_stop(self, press: WaitingUpdate) -> None:
        """Say that the answer is written, and remove the button that a crash or a lost connection has left.

        A message with more than its button stays: it may be the answer. Buttons of other software that used
        this bot's token only get an answer.
        """
        callback, message = press.callback, press.message
        if callback is None or callback.data.split(":")[0] != STOP_BUTTON:
            await self.answer(press, "button-unknown")
            return
        await self.answer(press, "answer-written")
        if not is_alone(callback.data):
            await self.remove(press)
            return
        with suppress(TelegramFailure):
            await self.telegram.delete_message(message.chat_id, message.message_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """Waits for the signals that end a run."""

    store: TurnStore
    permissions: Permissions
    buttons: Buttons

    async def wait(self, question: Question, *, has_written: Callable[[], bool]) -> TurnEnded | Forgotten:
        """Wait for the end of the run and return it. TurnStopped keeps the text so far, the others nothing.

        Other updates wait in the chat's line for the next turn, and so does one whose signal is lost.
        """
        while True:
            signal = await question.incoming.get()
            if signal.update_id in question.read_ids:
                continue
            try:
                end = await self._judge(question, signal, has_written=has_written)
            except MemoryFailure as error:
                log.warning("signal_ignored", kind=signal.kind, error=str(error))
                continue
            if end is not None:
                log.info("turn_interrupted", by=signal.kind, end=type(end).__name__)
                return end

    async def _judge(
        self, question: Question, signal: Signal, *, has_written: Callable[[], bool]
    ) -> TurnEnded | Forgotten | None:
        if signal.kind == "reset":
            return Forgotten() if signal.epoch > question.history.epoch else None
        if signal.kind == "stop":
            return TurnStopped() if signal.update_id > question.newest.update_id else None
        if signal.kind == "press":
            press = await self._read(question, signal)
            return TurnStopped() if press and await self._stops(question, press) else None
        if signal.kind == "edit":
            return TurnRestarted() if await self._is_edited(question, signal) else None
        if signal.sender_id != question.first.message.sender_id or question.again is not None:
            return None
        if signal.kind == "message":
            return TurnStopped() if has_written() else TurnRestarted()
        return TurnRestarted() if not has_written() and await self._is_close(question, signal) else None

    async def _stops(self, question: Question, press: WaitingUpdate) -> bool:
        """Return True if this press ends the turn. Otherwise it is answered here."""
        callback = press.callback
        if callback is None:
            return False
        is_own = callback.sender_id == question.first.message.sender_id
        if not stops_turn(callback.data, question.first.update_id):
            await self.buttons.answer_stale_stop(press)
        elif is_own or await self._may_stop(press, callback.sender_id):
            question.stop_presses.append(press)
            return True
        else:
            await self.buttons.answer(press, "stop-not-yours", is_alert=True)
        question.settled_presses.append(press.update_id)
        return False

    async def _may_stop(self, press: WaitingUpdate, presser_id: int) -> bool:
        """Return True for administrators of the group. In a private chat it is always the person who asked."""
        return await self.permissions.refusal_for(replace(press.message, sender_id=presser_id)) is None

    async def _is_edited(self, question: Question, signal: Signal) -> bool:
        """Return True if the edit changes a message that is being answered."""
        if signal.telegram_message_id not in question.telegram_ids:
            return False
        edit = await self._read(question, signal)
        if edit is None:
            return False
        updates = question.batch.updates
        known = [each for each in updates if each.message.message_id == signal.telegram_message_id]
        return has_changed(edit, known) if known else question.again is not None

    async def _is_close(self, question: Question, signal: Signal) -> bool:
        """Return True if a forward came together with the newest message, which is then a comment on it."""
        forward = await self._read(question, signal)
        return forward is not None and forward.message.date - question.newest.message.date <= APART_S

    async def _read(self, question: Question, signal: Signal) -> WaitingUpdate | None:
        """Return the update of the signal, or None if it was forgotten."""
        payload = await self.store.payload_of(question.claim.ref, signal.update_id)
        return parse_waiting(payload) if payload else None
