"""What /forget does: erases the message that it replies to, everywhere, with a receipt."""

from dataclasses import dataclass, replace

from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.quotations import quotes_message
from bot.transport.texts import forgotten_text
from bot.transport.updates import IncomingMessage, ReplyTo
from bot.transport.words import Words
from bot.turn.journal import TurnJournal
from bot.turn.rights import why_not
from bot.turn.services import TurnServices
from memory.artifacts.store import drop_unnamed
from memory.forgetting import ErasureReceipt, delete_provably
from memory.history.message import Message
from memory.history.talk import score_of
from memory.keys import ContextRef

_CHOSEN_STEP, _TOLD_STEP = "forget", "forgotten"
"""In the journal: the id of the message that is about to be erased, and what is said once it is."""
_UNKEPT = "unkept"
"""In the place of that id, for a message that the history does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCall:
    """A /forget, with the context in which it was said, that context's epoch, the journal, and the reader's words.

    `is_moved`: said in a group that became a supergroup, and counts its messages anew.
    """

    ref: ContextRef
    epoch: int
    message: IncomingMessage
    is_moved: bool
    journal: TurnJournal
    words: Words


async def forget_message(services: TurnServices, call: ForgetCall) -> str:
    """The receipt, or why nothing was done. Interrupted, it goes on with the same message.

    A message that is not in the history may be told of all the same: it was heard and not answered, other messages
    quote it, or its turn died and left it in a dead letter.

    Raises Fenced, Forgotten and the store's errors.
    """
    told = await call.journal.finished(_TOLD_STEP)
    if told is not None:
        return told
    chosen = await call.journal.finished(_CHOSEN_STEP)
    if chosen is not None:
        return await _forget(services, call, chosen, is_resumed=True)
    reply = call.message.reply_to
    if reply is None:
        return call.words("forget-usage")
    kept = await _kept(services, call, reply)
    if kept is None:
        writer = await _writer_of_unkept(services, call, reply)
    else:
        writer = kept.sender.id if kept.sender and kept.role == "user" else None
    refusal = await _why_not(services, call, writer=writer)
    if refusal is not None:
        return refusal
    chosen = kept.id if kept else _UNKEPT
    await call.journal.record_for_good(_CHOSEN_STEP, chosen)
    return await _forget(services, call, chosen, is_resumed=False)


async def _kept(services: TurnServices, call: ForgetCall, reply: ReplyTo) -> Message | None:
    """The message of the history that is replied to."""
    message_id = await services.history.find_by_telegram(call.ref, reply.message_id)
    kept = await services.history.get(call.ref, [message_id]) if message_id is not None else {}
    return kept.get(message_id or "")


async def _writer_of_unkept(services: TurnServices, call: ForgetCall, reply: ReplyTo) -> int | None:
    """Who wrote it: as it was stored, or else as the reply names them."""
    for letter in await _dead_letters(services, call):
        if letter.message.message_id == reply.message_id:
            return letter.message.sender_id
    return reply.sender_id


async def _forget(services: TurnServices, call: ForgetCall, chosen: str, *, is_resumed: bool) -> str:
    """Erase what is kept of the message that is replied to, and say so."""
    letters = await _dead_letters(services, call)
    if letters:
        await services.store.forget_dead(call.ref, [letter.update_id for letter in letters])
    reply = call.message.reply_to
    told_of = reply.message_id if reply else 0
    heard = await services.heard.forget(call.ref, score_of(told_of, is_moved=call.is_moved))
    kept = [] if chosen == _UNKEPT else [chosen]
    receipt = await delete_provably(
        call.ref,
        kept,
        epoch=call.epoch,
        store=services.history,
        recall=services.recall,
        quoted=[] if kept else [told_of],
    )
    if kept and is_resumed:  # it was there when it was chosen, whichever try has erased it
        receipt = replace(receipt, messages_erased=1)
    # What was read for it by turns that died or began anew; the one that runs is this command, which keeps none.
    unnamed = await drop_unnamed(services.conversations.redis, call.ref, epoch=call.epoch)
    receipt = replace(receipt, heard_erased=heard, artifacts_erased=receipt.artifacts_erased + unnamed)
    told = _told(call, receipt, kept=bool(kept), has_letters=bool(letters), is_resumed=is_resumed)
    await call.journal.record_for_good(_TOLD_STEP, told)
    return told


async def _dead_letters(services: TurnServices, call: ForgetCall) -> list[WaitingUpdate]:
    """Those of the message that is replied to, its edits, and what quotes it."""
    reply = call.message.reply_to
    told_of = reply.message_id if reply else 0
    letters = [parse_waiting(letter.payload) for letter in await services.store.dead_letters(call.ref)]
    return [
        letter
        for letter in letters
        if letter.message.message_id == told_of or quotes_message(letter.message, told_of)
    ]


async def _why_not(services: TurnServices, call: ForgetCall, *, writer: int | None) -> str | None:
    """The refusal of who says /forget and has not written the message, or None."""
    is_own = writer is not None and writer == call.message.sender_id
    refusal = None if is_own else await why_not(services, call.message)
    if refusal is None:
        return None
    return call.words("others-message" if refusal == "administrators-only" else refusal)


def _told(
    call: ForgetCall, receipt: ErasureReceipt, *, kept: bool, has_letters: bool, is_resumed: bool
) -> str:
    """The receipt; of a message that was not in the history only if anything told of it."""
    if kept:
        return forgotten_text(call.words, receipt, key="forgotten", is_resumed=is_resumed)
    if receipt.heard_erased or receipt.quotes_erased or is_resumed:
        return forgotten_text(call.words, receipt, key="forgotten-unkept", is_resumed=is_resumed)
    return call.words("forgotten-unanswered" if has_letters else "not-kept")
