"""What /forget does: erases the message that it replies to, everywhere, with a receipt."""

from contextlib import suppress
from dataclasses import dataclass, replace

from bot.errors import TurnStopped
from bot.transport import texts
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
        return texts.NOT_KEPT
    refusal = None if _is_own(message, call.message) else await why_not(services, call.message)
    if refusal == texts.ADMINISTRATORS_ONLY:
        return texts.OTHERS_MESSAGE
    return refusal or message


def _is_own(message: Message, command: IncomingMessage) -> bool:
    """Whether who says /forget has written the message."""
    if command.sender_id is None or message.sender is None or message.role != "user":
        return False
    return message.sender.id == command.sender_id


async def _erase(services: TurnServices, call: ForgetCall, message_id: str, *, is_resumed: bool) -> str:
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
