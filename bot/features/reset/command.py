"""/reset erases a context, a chat or another chat everywhere, after a question with one button."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.features.parts import Built, Parts
from bot.transport.controls import RESET_BUTTON, press_data
from bot.transport.telegram_api import Button
from bot.transport.texts import details_buttons, receipt_text
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.erasure import ChatContexts, Eraser
from bot.turn.menus import CONFIRM_WITHIN_S
from bot.turn.store import TurnStore
from memory.codec import dump_json, parse_json
from memory.erasure import ErasureReceipt, sum_receipts
from memory.history.store import NO_CHOICES, Erasure, HistoryStore
from memory.keys import ContextRef

_CONFIRMED_STEP, _RESET_STEP, _OTHERS_STEP = "confirmed", "reset", "others"
"""Steps in the journal. The last two are written by reset.lua, which deletes the others."""

Scope = Literal["chat", "topic", "all"]
_VALUE = re.compile(r"(chat|topic|all):(\d+)")
"""The value of the button: the scope and the context's epoch when it was asked. The owner is the person who asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetCommand:
    """Asks, and resets when the button is pressed. Both raise Fenced and the store's errors."""

    eraser: Eraser
    chat_contexts: ChatContexts
    history: HistoryStore
    store: TurnStore
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """Ask about this context or, for `all`, this chat. An operator's `/reset CHAT_ID` erases at once."""
        argument = call.argument.strip()
        if argument and argument != "all":
            return await self._reset_other(call, argument)
        if refused := await call.refused():
            return refused
        scope: Scope = "topic" if call.message.thread_id is not None else "chat"
        if argument == "all" and not call.message.is_direct:  # the other topics belong to other people
            scope = "all"
        elif await self._is_empty(call):
            return Reply(text=call.words("reset-nothing"))
        data = press_data(RESET_BUTTON, f"{scope}:{call.snapshot.epoch}", owner=call.message.sender_id or 0)
        button = Button(text=call.words("reset-button"), data=data)
        return Reply(text=call.words("reset-asks", scope=scope), buttons=[button])

    async def press(self, call: CommandCall) -> Reply | None:
        """Erase, and put the receipt in place of the question. A press that may not erase gets a short notice.

        The epoch in the button makes sure that it works once: every reset raises the epoch. A forged button
        gives nobody more rights than /reset does.
        """
        button = _VALUE.fullmatch(call.argument)
        if button is None:
            return None
        scope, epoch = button.groups()
        is_resumed = await call.journal.finished(_CONFIRMED_STEP) or await call.journal.finished(_RESET_STEP)
        if not is_resumed:
            if not await self._may_press(call):
                return Reply(notice=call.words("reset-not-yours"))
            if epoch != str(call.snapshot.epoch):  # the message may be a receipt by now, with its own button
                return Reply(notice=call.words("button-unknown"))
            if self.clock() - call.message.date > CONFIRM_WITHIN_S:
                return Reply(notice=call.words("reset-expired"), closes_menu=True)
            await call.journal.record_for_good(_CONFIRMED_STEP, "1")
        refs = [call.ref]
        if scope == "all" and not call.message.is_direct:
            refs = [*await self.chat_contexts.find(call.message.chat_id), call.ref]
        return await self._erase(call, refs, done=scope)

    async def _may_press(self, call: CommandCall) -> bool:
        """Return True for the person who asked, or any administrator if an anonymous one asked."""
        is_anonymous = call.owner == str(call.message.chat_id) and call.is_group
        is_theirs = is_anonymous or call.owner == str(call.person_id)
        return is_theirs and await call.may_change()

    async def _is_empty(self, call: CommandCall) -> bool:
        if (
            call.snapshot.count
            or call.snapshot.choices != NO_CHOICES
            or await self.store.dead_letters(call.ref)
        ):
            return False
        return not (await self.history.count_traces(call.ref)).total

    async def _reset_other(self, call: CommandCall, argument: str) -> Reply:
        if not call.permissions.is_operator(call.message.sender_id):
            return Reply(text=call.words("operators-only"))
        try:
            chat_id = int(argument)
        except ValueError:
            return Reply(text=call.words("unknown-chat-id"))
        refs = await self.chat_contexts.find(chat_id)
        return await self._erase(call, refs, done="other", chat_id=chat_id)

    async def _erase(
        self, call: CommandCall, refs: Sequence[ContextRef], *, done: str, chat_id: int = 0
    ) -> Reply:
        """Erase the contexts, each once even if this is interrupted and resumed.

        The context of the call comes last, because its reset forgets everything before the call.
        """
        own = call.ref
        reset_before = await call.journal.finished(_RESET_STEP)
        others = [ref for ref in dict.fromkeys(refs) if ref != own]
        receipt = await self._erase_others(call, others if reset_before is None else [])
        epoch = None
        if own in refs:
            if reset_before is None:
                line = dump_json(ErasureReceipt, receipt)
                erased = await self.eraser.reset_own(call.claim, call.update.update_id, others=line)
            else:
                erased = parse_json(Erasure, reset_before)
            epoch = erased.epoch
            receipt = sum_receipts([receipt, await self.eraser.finish(own, erased)])
        details = details_buttons(call.words, receipt) if receipt.has_erased else []
        text = receipt_text(call.words, receipt, of=done, chat_id=chat_id)
        return Reply(text=text, buttons=details, epoch=epoch)

    async def _erase_others(self, call: CommandCall, refs: Sequence[ContextRef]) -> ErasureReceipt:
        """Erase other contexts. Return the receipt, including what an interrupted try had erased."""
        before = await call.journal.finished(_OTHERS_STEP)
        receipts = [parse_json(ErasureReceipt, before)] if before else []
        for ref in refs:
            step = f"{_OTHERS_STEP}:{ref.context_id}"
            line = await call.journal.finished(step)
            if line is None:
                line = dump_json(
                    ErasureReceipt, await self.eraser.reset(ref, update_id=call.update.update_id)
                )
                await call.journal.record_for_good(step, line)
            receipts.append(parse_json(ErasureReceipt, line))
        return sum_receipts(receipts)


async def build(parts: Parts) -> Built:
    """Return the command, and the button that confirms it."""
    reset = ResetCommand(
        eraser=parts.eraser,
        chat_contexts=parts.chat_contexts,
        history=parts.stores.history,
        store=parts.store,
        clock=parts.clock,
    )
    return Built(commands={"reset": reset.run}, buttons={RESET_BUTTON: reset.press})
