"""/forget erases the message that it replies to, everywhere, with a receipt."""

from dataclasses import dataclass, replace

from bot.transport.texts import forgotten_text
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.forgetting import Forgetting, TelegramNumber
from bot.turn.permissions import Permissions
from memory.erasure import ErasureReceipt
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.recall.recall import Recall

_CHOSEN_STEP, _RECEIPT_STEP = "forget", "forgotten"
"""Steps in the journal: the id of the message that is being erased, and the receipt."""
_UNKEPT = "unkept"
"""The id of a message that the history does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCommand:
    """Erases one message. An interrupted try goes on with the same message."""

    permissions: Permissions
    forgetting: Forgetting
    history: RedisHistory
    recall: Recall

    async def run(self, call: CommandCall) -> Reply:
        """Return the receipt, or the reason why nothing was erased.

        A message outside the history may be known as talk, from a quotation or from a dead letter.
        Raises Fenced, Forgotten and the store's errors.
        """
        receipt = await call.journal.finished(_RECEIPT_STEP)
        if receipt is not None:
            return Reply(text=receipt)
        chosen = await call.journal.finished(_CHOSEN_STEP)
        if chosen is not None:
            return Reply(text=await self._erase(call, chosen, is_resumed=True))
        if call.message.reply_to is None:
            return Reply(text=call.words("forget-usage"))
        message = await self._find(call)
        refusal = await self._refusal_for(call, message)
        if refusal is not None:
            return Reply(text=call.words(refusal))
        chosen = message.id if message else _UNKEPT
        await call.journal.record_for_good(_CHOSEN_STEP, chosen)
        return Reply(text=await self._erase(call, chosen, is_resumed=False))

    async def _find(self, call: CommandCall) -> Message | None:
        """Return the message of the history that /forget replies to."""
        message_id = await self.history.find_by_telegram(call.ref, _telegram_id(call))
        if message_id is None:
            return None
        return (await self.history.get(call.ref, [message_id])).get(message_id)

    async def _refusal_for(self, call: CommandCall, message: Message | None) -> str | None:
        """Return the catalogue's key of the refusal for others' messages. Everybody may erase their own."""
        writer = await self._writer_of_unkept(call) if message is None else _writer_of(message)
        if writer is not None and writer == call.message.sender_id:
            return None
        refusal = await self.permissions.refusal_for(call.message)
        return "others-message" if refusal == "administrators-only" else refusal

    async def _writer_of_unkept(self, call: CommandCall) -> int | None:
        """Return the writer from a dead letter, or else from the reply."""
        for letter in await self.forgetting.dead_letters(call.ref, [_telegram_id(call)]):
            if letter.message.message_id == _telegram_id(call):
                return letter.message.sender_id
        return call.message.reply_to.sender_id if call.message.reply_to else None

    async def _erase(self, call: CommandCall, chosen: str, *, is_resumed: bool) -> str:
        """Erase everything about the message. Return the receipt."""
        ids = [] if chosen == _UNKEPT else [chosen]
        is_moved = call.update.anchor_id != call.message.chat_id
        done = await self.forgetting.erase(
            call.ref,
            ids,
            epoch=call.snapshot.epoch,
            recall=self.recall,
            numbers=[TelegramNumber(id=_telegram_id(call), is_moved=is_moved)],
        )
        receipt = done.receipt
        if ids and is_resumed:  # it existed when it was chosen, whichever try has erased it
            receipt = replace(receipt, erased=replace(receipt.erased, messages=1))
        text = _text(call, receipt, is_kept=bool(ids), has_letters=done.has_letters, is_resumed=is_resumed)
        await call.journal.record_for_good(_RECEIPT_STEP, text)
        return text


def _telegram_id(call: CommandCall) -> int:
    reply = call.message.reply_to
    return reply.message_id if reply else 0


def _writer_of(message: Message) -> int | None:
    return message.sender.id if message.sender and message.role == "user" else None


def _text(
    call: CommandCall, receipt: ErasureReceipt, *, is_kept: bool, has_letters: bool, is_resumed: bool
) -> str:
    """Return the receipt. For a message that was not in the history it needs something else that was erased."""
    if is_kept:
        return forgotten_text(call.words, receipt, key="forgotten", is_resumed=is_resumed)
    if receipt.erased.talk or receipt.erased.quotes or is_resumed:
        return forgotten_text(call.words, receipt, key="forgotten-unkept", is_resumed=is_resumed)
    return call.words("forgotten-unanswered" if has_letters else "not-kept")
