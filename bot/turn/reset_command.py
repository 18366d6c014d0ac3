"""What /reset does: erases a context, a chat or another one, everywhere, with a receipt."""

from collections.abc import Sequence

from bot.transport.texts import receipt_text
from bot.turn.command_call import CommandCall, CommandReply
from bot.turn.resetting import dump_receipt, parse_receipt, sum_receipts
from bot.turn.rights import is_operator, why_not
from bot.turn.services import TurnServices
from bot.turn.turn_store import parse_erased
from memory.forgetting import ErasureReceipt
from memory.keys import ContextRef

_RESET_STEP, _OTHERS_STEP = "reset", "others"
"""What a /reset has done, in the journal; the first two are written by reset.lua."""


class ResetCommand:
    """Runs /reset."""

    def __init__(self, services: TurnServices) -> None:
        self._services = services

    async def run(self, call: CommandCall) -> CommandReply:
        """`/reset` this context, `/reset all` of this chat, or, for operators, `/reset <chat_id>` of any.

        Raises Fenced, and the store's errors.
        """
        argument, ref = call.command.argument.strip(), call.claim.ref
        if argument and argument != "all":
            return await self._by_number(call, argument)
        if await call.journal.finished(_RESET_STEP) is None:
            refusal = await why_not(self._services, call.update.message)
            if refusal is not None:
                return CommandReply(text=call.words(refusal), epoch=call.snapshot.epoch)
        if argument == "all":
            chat = await self._services.chat_contexts(call.update.message.chat_id)
            return await self._erase(call, [*chat, ref], of="all")
        in_topic = call.update.message.thread_id is not None
        return await self._erase(call, [ref], of="topic" if in_topic else "chat")

    async def _by_number(self, call: CommandCall, argument: str) -> CommandReply:
        if not is_operator(self._services, call.update.message):
            return CommandReply(text=call.words("operators-only"), epoch=call.snapshot.epoch)
        try:
            chat_id = int(argument)
        except ValueError:
            return CommandReply(text=call.words("unknown-chat-id"), epoch=call.snapshot.epoch)
        refs = await self._services.chat_contexts(chat_id)
        return await self._erase(call, refs, of="other", chat_id=chat_id)

    async def _erase(
        self, call: CommandCall, refs: Sequence[ContextRef], *, of: str, chat_id: int = 0
    ) -> CommandReply:
        """Erase the contexts, each once even if this is interrupted and resumed.

        The one in which this is said comes last, or its own answer would be erased too.
        """
        resetting, own = self._services.resetting, call.claim.ref
        found = await call.journal.finished(_RESET_STEP)
        others = [ref for ref in dict.fromkeys(refs) if ref != own]
        receipt = await self._erase_others(call, others if found is None else [])
        if own not in refs:
            return CommandReply(
                text=receipt_text(call.words, receipt, of=of, chat_id=chat_id),
                epoch=call.snapshot.epoch,
            )
        if found is None:
            erased = await resetting.reset_own(
                call.claim, call.update.update_id, others=dump_receipt(receipt)
            )
        else:
            erased = parse_erased(found)
        receipt = sum_receipts([receipt, await resetting.finish(own, erased)])
        return CommandReply(
            text=receipt_text(call.words, receipt, of=of, chat_id=chat_id), epoch=erased.epoch
        )

    async def _erase_others(self, call: CommandCall, refs: Sequence[ContextRef]) -> ErasureReceipt:
        """Erase other contexts than the one that asks, with what an interrupted try had erased before."""
        before = await call.journal.finished(_OTHERS_STEP)
        receipts = [parse_receipt(before)] if before is not None else []
        for ref in refs:
            step = f"{_OTHERS_STEP}:{ref.context_id}"
            line = await call.journal.finished(step)
            if line is None:
                line = dump_receipt(await self._services.resetting.reset(ref))
                await call.journal.record_for_good(step, line)
            receipts.append(parse_receipt(line))
        return sum_receipts(receipts)
