"""Events of a chat that are no questions: memberships, edits, presses of buttons, interruptions of a running turn."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from bot.errors import TelegramFailure, TurnEnded, TurnRestarted, TurnStopped
from bot.inbox.records import Signal
from bot.settings import GroupTalk
from bot.transport.contents import VOICE_KINDS
from bot.transport.controls import STOP_BUTTON
from bot.transport.gating import BotIdentity, strip_mention
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.migrations import Migrations
from bot.transport.telegram_api import TelegramApi
from bot.transport.updates import APART_S, IncomingMessage, origin_of
from bot.transport.words import Words, words_for
from bot.turn.batch import has_changed, is_alone, stops_turn
from bot.turn.commit import Reply
from bot.turn.delivery import Reachability
from bot.turn.permissions import Permissions
from bot.turn.question import Question
from bot.turn.store import TurnStore
from memory.errors import Forgotten, MemoryFailure
from memory.history.message import Message, render_message
from memory.history.redis_history import RedisHistory
from memory.history.selectors import TokenCounter
from memory.keys import ContextRef

log = structlog.get_logger()

EditOutcome = Literal["edited", "edit_of_unkept_message", "edit_of_voice_message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memberships:
    """Follows changes of the bot's own membership, and migrations of groups. Repeating them is harmless."""

    bot: BotIdentity
    telegram: TelegramApi
    reachability: Reachability
    migrations: Migrations
    talk: GroupTalk

    async def follow(self, update: WaitingUpdate, ref: ContextRef, *, epoch: int) -> Reply:
        """Greet a group that the bot joined, note who blocked it, follow a group to its new id.

        Raises Fenced, Forgotten and the store's errors.
        """
        chat_id, partition = update.message.chat_id, ref.partition
        match update.admission.reason:
            case "joined":
                return Reply(text=await self._greeting(update))
            case "promoted":
                return Reply(text=await self._promotion(update))
            case "left":
                pass  # the memory stays until somebody has it forgotten
            case "blocked":
                await self.reachability.mark(partition, chat_id)
            case "migration":
                await self._migrate(update, ref, epoch=epoch)
            case _:
                await self.reachability.clear(partition, chat_id)
        return Reply()

    async def _migrate(self, update: WaitingUpdate, ref: ContextRef, *, epoch: int) -> None:
        """Keep the memory of a group that has a new id, without its Telegram message ids."""
        new_chat_id = update.message.event.migrate_to_chat_id or update.message.chat_id
        is_first = await self.migrations.forget_telegram_ids(ref, epoch=epoch, new_chat_id=new_chat_id)
        if is_first:
            log.info("group_migrated", anchor=update.anchor_id, to=new_chat_id)

    async def _greeting(self, update: WaitingUpdate) -> str:
        """Say what the bot can see here and how to change that, what it keeps, and how to address it."""
        words = words_for(update.message.language_code)
        addressing = words("group-addressing", bot=f"@{self.bot.username}")
        return "\n\n".join([words("group-joined"), *await self._sight(update, words), addressing])

    async def _promotion(self, update: WaitingUpdate) -> str:
        """Say what the bot sees as an administrator, or nothing if it saw everything before."""
        if await self._reads_all():
            return ""
        words = words_for(update.message.language_code)
        return "\n\n".join([words("group-promoted"), *await self._sight(update, words)])

    async def _sight(self, update: WaitingUpdate, words: Words) -> list[str]:
        membership = update.membership
        is_administrator = membership is not None and membership.new_status == "administrator"
        if not is_administrator and not await self._reads_all():
            return [words("group-sees-addressed", bot=f"@{self.bot.username}")]
        if self.talk.group_context:
            return [
                words("group-sees-all"),
                words("group-keeps-talk", count=self.talk.group_context_messages),
            ]
        return [words("group-sees-all"), words("group-keeps-addressed")]

    async def _reads_all(self) -> bool:
        """Return True if the privacy mode is off. It may have changed since the start, so Telegram is asked."""
        try:
            return (await self.telegram.get_me()).can_read_all_group_messages
        except TelegramFailure:
            return self.bot.can_read_all_group_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Replaces edited messages in the history."""

    bot: BotIdentity
    history: RedisHistory
    tokenizer: TokenCounter

    async def replace(self, ref: ContextRef, edited: IncomingMessage, *, epoch: int) -> EditOutcome:
        """Replace the stored message. If it is not stored, quotations of it are removed.

        Repeating this is harmless. Raises Forgotten after a reset, and the store's errors.
        """
        message_id = await self.history.find_by_telegram(ref, edited.message_id)
        if message_id is None:
            await self.history.delete(ref, [], epoch=epoch, quoted=[edited.message_id])
            return "edit_of_unkept_message"
        if _is_spoken(edited):
            return "edit_of_voice_message"
        text = strip_mention(edited, bot=self.bot)
        # The stored note of a file has its content. Without a file the edit has everything.
        note = None if edited.attachment is not None else edited.note
        is_kept = await self.history.replace(
            ref,
            message_id,
            text=text,
            note=note,
            tokens=self.tokenizer.count(_whole_text(edited, text)),
            edited_at=float(edited.edit_date or edited.date),
            epoch=epoch,
        )
        return "edited" if is_kept else "edit_of_unkept_message"


def has_same_text(stored: Message, edited: IncomingMessage, text: str) -> bool:
    """Return True if the edit changes nothing: Telegram reports link previews and the like as edits too.

    `text` is the edited message's, without a mention of the bot.
    """
    return stored.text.startswith(text) if _is_spoken(edited) else stored.text == text


def _is_spoken(edited: IncomingMessage) -> bool:
    return edited.attachment is not None and edited.attachment.kind in VOICE_KINDS


def _whole_text(edited: IncomingMessage, text: str) -> str:
    blank = Message(id="", role="user", text=text, sent_at=0.0, tokens=0)
    return render_message(
        replace(blank, note=edited.note, forwarded_from=edited.forwarded_from, origin=origin_of(edited))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Buttons:
    """Answers presses of buttons. A person who no longer waits, or a Telegram failure, does not matter."""

    telegram: TelegramApi

    async def answer(self, press: WaitingUpdate, key: str = "", *, is_alert: bool = False) -> None:
        """Show the person who pressed the sentence of this key of the catalogue, or nothing."""
        if press.callback is not None:
            text = words_for(press.callback.language_code)(key) if key else ""
            await self.show(press, text, is_alert=is_alert)

    async def show(self, press: WaitingUpdate, text: str, *, is_alert: bool) -> bool:
        """Show the person who pressed this text. Return False if it is too late."""
        with suppress(TelegramFailure):
            if press.callback is not None:
                return await self.telegram.answer_callback(press.callback.id, text, is_alert=is_alert)
        return False

    async def remove(self, press: WaitingUpdate) -> None:
        """Remove the buttons from the menu of this press."""
        if not _is_on_menu(press):
            return
        with suppress(TelegramFailure):
            await self.telegram.remove_buttons(press.message.chat_id, press.message.message_id)

    async def answer_stale_stop(self, press: WaitingUpdate) -> None:
        """Say that the answer is written, and remove the button that a crash or a lost connection has left.

        A message with more than its button stays: it may be the answer. Buttons of other software that used
        this bot's token only get an answer.
        """
        callback, message = press.callback, press.message
        if callback is None or press.admission.reason != f"{STOP_BUTTON}_button":
            await self.answer(press, "button-unknown")
            return
        await self.answer(press, "answer-written")
        if not is_alone(callback.data):
            await self.remove(press)
            return
        if not _is_on_menu(press):
            return
        with suppress(TelegramFailure):
            await self.telegram.delete_message(message.chat_id, message.message_id)


def _is_on_menu(press: WaitingUpdate) -> bool:
    """Return True if the pressed message may be changed. Made-up data may name any message of the bot."""
    return press.callback is not None and press.callback.under == "menu"


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
            return TurnStopped() if signal.update_id > question.newest.order_id else None
        if signal.kind == "press":
            press = await self._read(question, signal)
            return TurnStopped() if press and await self._stops(question, press) else None
        if signal.kind == "edit":
            return TurnRestarted() if await self._is_edited(question, signal) else None
        first = question.first
        is_joinable = first.reminder is None and question.again is None
        if signal.sender_id != first.message.sender_id or not is_joinable:
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
        elif is_own or await self.permissions.may_change(press.message, callback.sender_id):
            question.stop_presses.append(press)
            return True
        else:
            await self.buttons.answer(press, "stop-not-yours", is_alert=True)
        question.settled_presses.append(press.update_id)
        return False

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
