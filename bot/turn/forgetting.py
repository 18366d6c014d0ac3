"""What /forget does: erases the message that it replies to, everywhere, with a receipt."""

from contextlib import suppress
from dataclasses import dataclass, replace

from bot.errors import TurnStopped
from bot.transport import texts
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.updates import IncomingMessage
from bot.turn.journal import TurnJournal
from bot.turn.rights import why_not
from bot.turn.services import TurnServices
from memory.forgetting import delete_provably
from memory.keys import ContextRef
from memory.message import Message

_CHOSEN_STEP, _TOLD_STEP = "forget", "forgotten"
"""In the journal: the id of the message that is about to be erased, and what is said once it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCall:
    """A /forget, with the context in which it was said, that context's epoch, and the journal."""

    ref: ContextRef
    epoch: int
    message: IncomingMessage
    journal: TurnJournal


async def forget_message(services: TurnServices, call: ForgetCall) -> str:
    """The receipt, or why nothing was done. Interrupted, it goes on with the same message.

    Raises Fenced, Forgotten and the store's errors.
    """
    told = await call.journal.finished(_TOLD_STEP)
    if told is not None:
        return told
    chosen = await call.journal.finished(_CHOSEN_STEP)
    if chosen is not None:
        return await _erase(services, call, chosen, is_resumed=True)
    found = await _replied_to(services, call)
    if isinstance(found, str):
        return found
    await _record(call.journal, _CHOSEN_STEP, found.id)
    return await _erase(services, call, found.id, is_resumed=False)


async def _replied_to(services: TurnServices, call: ForgetCall) -> Message | str:
    """The kept message that is meant, or what is said instead."""
    reply = call.message.reply_to
    if reply is None:
        return texts.FORGET_USAGE
    message_id = await services.history.find_by_telegram(call.ref, reply.message_id)
    kept = await services.history.get(call.ref, [message_id]) if message_id is not None else {}
    message = kept.get(message_id or "")
    if message is None:
        return await _forget_unanswered(services, call)
    writer = message.sender.id if message.sender and message.role == "user" else None
    return await _why_not(services, call, writer=writer) or message


async def _forget_unanswered(services: TurnServices, call: ForgetCall) -> str:
    """What is said of a message that is not in the history: its turn may have died, and left it in a dead letter."""
    letters = await _dead_letters(services, call)
    if not letters:
        return texts.NOT_KEPT
    refusal = await _why_not(services, call, writer=letters[0].message.sender_id)
    if refusal is not None:
        return refusal
    await services.store.forget_dead(call.ref, [letter.update_id for letter in letters])
    await _record(call.journal, _TOLD_STEP, texts.FORGOTTEN_UNANSWERED)
    return texts.FORGOTTEN_UNANSWERED


async def _dead_letters(services: TurnServices, call: ForgetCall) -> list[WaitingUpdate]:
    """Those of the message that is replied to: itself, and its edits."""
    reply = call.message.reply_to
    letters = [parse_waiting(letter.payload) for letter in await services.store.dead_letters(call.ref)]
    return [letter for letter in letters if reply and letter.message.message_id == reply.message_id]


async def _why_not(services: TurnServices, call: ForgetCall, *, writer: int | None) -> str | None:
    """The refusal of who says /forget and has not written the message, or None."""
    is_own = writer is not None and writer == call.message.sender_id
    refusal = None if is_own else await why_not(services, call.message)
    return texts.OTHERS_MESSAGE if refusal == texts.ADMINISTRATORS_ONLY else refusal


async def _erase(services: TurnServices, call: ForgetCall, message_id: str, *, is_resumed: bool) -> str:
    edits = await _dead_letters(services, call)
    if edits:
        await services.store.forget_dead(call.ref, [edit.update_id for edit in edits])
    receipt = await delete_provably(
        call.ref, [message_id], epoch=call.epoch, store=services.history, recall=services.recall
    )
    if is_resumed:  # it was there when it was chosen, whichever try has erased it
        receipt = replace(receipt, messages_erased=1)
    told = texts.forgotten_text(receipt, is_resumed=is_resumed)
    await _record(call.journal, _TOLD_STEP, told)
    return told


async def _record(journal: TurnJournal, step: str, value: str) -> None:
    with suppress(TurnStopped):  # it is written; a /stop ends answers, not this
        await journal.record(step, value)
