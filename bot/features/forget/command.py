"""/forget erases the message that it replies to, with a receipt. A button erases the answers that used it."""

from dataclasses import dataclass, replace

from bot.features.forget.me import CONFIRMS, ForgetMe
from bot.features.parts import Built, Parts
from bot.transport.controls import FORGET_BUTTON, press_data
from bot.transport.telegram_api import Button
from bot.transport.texts import details_buttons, forgotten_text
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.forgetting import Forgetting, ForgottenMessages, TelegramNumber
from bot.turn.later_use import LaterUses, Offer, dump_offers
from memory.codec import dump_json, parse_json
from memory.erasure import ErasureReceipt, LaterUse
from memory.history.message import Message, sequence_of
from memory.history.redis_history import RedisHistory
from memory.recall.recall import Recall

_CHOSEN_STEP, _RECEIPT_STEP = "forget:chosen", "forget:receipt"
"""Steps in the journal: the messages that are being erased, and the receipt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The messages that are being erased; without ids one that the history does not have."""

    ids: tuple[str, ...] = ()
    sequences: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Receipt:
    """A receipt with its buttons, and the answers that one of them forgets."""

    text: str
    buttons: tuple[Button, ...] = ()
    answers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetCommand:
    """Erases one message, and then answers that used it. An interrupted try goes on with the same messages."""

    forgetting: Forgetting
    later_uses: LaterUses
    history: RedisHistory
    recall: Recall
    me: ForgetMe

    async def run(self, call: CommandCall) -> Reply:
        """Return the receipt, or the reason why nothing was erased.

        A message outside the history may be known as talk, from a quotation or from a dead letter.
        Raises Fenced, Forgotten and the store's errors.
        """
        if (resumed := await self._resume(call, key="forgotten")) is not None:
            return resumed
        if call.argument.strip().lower() == "me":
            return await self.me.run(call)
        if call.message.reply_to is None:
            return Reply(text=call.words("forget-usage"))
        message = await self._find(call)
        refusal = await self._refusal_for(call, message)
        if refusal is not None:
            return Reply(text=call.words(refusal))
        return await self._begin(call, [message] if message else [], key="forgotten")

    async def press(self, call: CommandCall) -> Reply:
        """Erase the answers that used a forgotten message, and put the receipt in place of the other one."""
        if call.argument == CONFIRMS:
            return await self.me.press(call)
        if refused := await call.refused():
            return refused
        reply = await self._resume(call, key="forgotten-several")
        if reply is not None:
            return reply
        offers = await self.later_uses.offers(call.ref)
        offer = next((each for each in offers if str(each.update_id) == call.owner), None)
        messages = await self.later_uses.messages_at(call.ref, offer.answers) if offer else []
        if not messages:
            return Reply(notice=call.words("button-unknown"))
        return await self._begin(call, messages, key="forgotten-several")

    async def _begin(self, call: CommandCall, messages: list[Message], *, key: str) -> Reply:
        chosen = _Chosen(ids=tuple(each.id for each in messages), sequences=tuple(map(sequence_of, messages)))
        await call.journal.record_for_good(_CHOSEN_STEP, dump_json(_Chosen, chosen))
        return await self._erase(call, chosen, messages, key=key)

    async def _resume(self, call: CommandCall, *, key: str) -> Reply | None:
        """Go on with an interrupted try; None if there was none."""
        receipt = await call.journal.finished(_RECEIPT_STEP)
        if receipt is not None:
            return await self._reply(call, parse_json(_Receipt, receipt))
        chosen = await call.journal.finished(_CHOSEN_STEP)
        if chosen is None:
            return None
        return await self._erase(call, parse_json(_Chosen, chosen), None, key=key)

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
        refusal = await call.permissions.refusal_for(call.message)
        return "others-message" if refusal == "administrators-only" else refusal

    async def _writer_of_unkept(self, call: CommandCall) -> int | None:
        """Return the writer from a dead letter, or else from the reply."""
        for letter in await self.forgetting.dead_letters(call.ref, [_telegram_id(call)]):
            if letter.message.message_id == _telegram_id(call):
                return letter.message.sender_id
        return call.message.reply_to.sender_id if call.message.reply_to else None

    async def _erase(
        self, call: CommandCall, chosen: _Chosen, messages: list[Message] | None, *, key: str
    ) -> Reply:
        """Erase everything about the messages. Return the receipt. A resumed try does not have them any more."""
        is_moved = call.update.anchor_id != call.message.chat_id
        numbers = await self.forgetting.numbers_of(call.ref, messages or [], is_moved=is_moved)
        if call.update.callback is None:
            numbers.append(TelegramNumber(id=_telegram_id(call), is_moved=is_moved))
        done = await self.forgetting.erase(
            call.ref, chosen.ids, epoch=call.snapshot.epoch, recall=self.recall, numbers=set(numbers)
        )
        used = await self._later_use(call, chosen, done, messages)
        receipt = _receipt(call, done, chosen, key=key, is_resumed=messages is None, used=used)
        await call.journal.record_for_good(_RECEIPT_STEP, dump_json(_Receipt, receipt))
        return await self._reply(call, receipt)

    async def _later_use(
        self, call: CommandCall, chosen: _Chosen, done: ForgottenMessages, messages: list[Message] | None
    ) -> LaterUse:
        """Return the answers that used the messages. A resumed try may know less of what was erased."""
        sequences = tuple(sorted({*done.deletion.sequences, *chosen.sequences}))
        whole = replace(done.deletion, sequences=sequences, message_ids=chosen.ids)
        is_resumed = messages is None
        overheard = (_telegram_id(call),) if is_resumed and not chosen.ids else done.overheard
        return await self.later_uses.find(call.ref, whole, messages or [], overheard=overheard)

    async def _reply(self, call: CommandCall, receipt: _Receipt) -> Reply:
        """Return the receipt with its button, in place of the offer whose button was pressed."""
        offers = await self.later_uses.offers(call.ref)
        left = [each for each in offers if str(each.update_id) != call.owner]
        if receipt.answers:
            left.append(Offer(update_id=call.update.update_id, answers=receipt.answers))
        return Reply(text=receipt.text, buttons=receipt.buttons, meta={"offers": dump_offers(left)})


def _telegram_id(call: CommandCall) -> int:
    reply = call.message.reply_to
    return reply.message_id if reply else 0


def _writer_of(message: Message) -> int | None:
    return message.sender.id if message.sender and message.role == "user" else None


def _receipt(
    call: CommandCall, done: ForgottenMessages, chosen: _Chosen, *, key: str, is_resumed: bool, used: LaterUse
) -> _Receipt:
    """Return the receipt. For a message that was not in the history it needs something else that was erased."""
    receipt = done.receipt
    if chosen.ids:
        if is_resumed:  # they existed when they were chosen, whichever try has erased them
            receipt = replace(receipt, erased=replace(receipt.erased, messages=len(chosen.ids)))
        if len(chosen.ids) == 1:
            key = "forgotten"
    elif _mentions(receipt) or is_resumed:
        key = "forgotten-unkept"
    else:
        return _Receipt(text=call.words("forgotten-unanswered" if done.has_letters else "not-kept"))
    data = press_data(FORGET_BUTTON, owner=call.update.update_id)
    forget = [Button(text=call.words("forget-answers-button"), data=data)] if used.answers else []
    buttons = (*forget, *details_buttons(call.words, receipt, is_resumed=is_resumed))
    text = forgotten_text(call.words, receipt, key=key, used=used)
    return _Receipt(text=text, buttons=buttons, answers=used.answers)


def _mentions(receipt: ErasureReceipt) -> bool:
    return bool(receipt.erased.talk or receipt.erased.quotes)


async def build(parts: Parts) -> Built:
    """Return the command, and the button that forgets answers."""
    stores = parts.stores
    forget = ForgetCommand(
        forgetting=parts.forget_jobs.eraser.forgetting,
        later_uses=LaterUses(redis=stores.redis, history=stores.history),
        history=stores.history,
        recall=stores.recall,
        me=ForgetMe(jobs=parts.forget_jobs, clock=parts.clock),
    )
    return Built(commands={"forget": forget.run}, buttons={FORGET_BUTTON: forget.press})
