"""The chat commands: each gives a text, and may start a conversation or erase one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.inbox.facts import Claim
from bot.transport import texts
from bot.transport.gating import UNREADABLE
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import UNKNOWN, Command
from bot.turn.forgetting import ForgetCall, forget_message
from bot.turn.journal import TurnJournal
from bot.turn.resetting import dump_receipt, parse_receipt, sum_receipts
from bot.turn.rights import is_operator, why_not
from bot.turn.services import TurnServices
from bot.turn.turn_store import parse_erased
from memory.errors import RecallUnavailable
from memory.forgetting import ErasureReceipt
from memory.history_store import HistorySnapshot
from memory.keys import ContextRef

_RESET_STEP, _OTHERS_STEP = "reset", "others"
"""What a /reset has done, in the journal; the first two are written by reset.lua."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command with what it works on, and the journal, in which an interrupted try may have left its mark."""

    claim: Claim
    update: WaitingUpdate
    command: Command
    snapshot: HistorySnapshot
    journal: TurnJournal


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """The answer to a command. `epoch` is the context's, after it: a reset raises it."""

    text: str
    epoch: int
    starts_conversation: bool = False


_Text = Callable[[CommandCall], Awaitable[str]]


class Commands:
    """Runs commands."""

    def __init__(self, services: TurnServices) -> None:
        self._services = services
        self._texts: dict[str, _Text] = {
            "start": self._start,
            "help": _says(texts.HELP),
            "memory": self._memory,
            "forget": self._forget,
            "stop": _says(texts.NOTHING_TO_STOP),
            "stats": self._stats,
            UNREADABLE: self._unreadable,
            UNKNOWN: self._unknown,
        }

    async def run(self, call: CommandCall) -> CommandReply:
        """The reply. Raises Fenced, and the store's errors; then nothing of the command was answered."""
        if call.command.name == "new":
            return await self._new(call)
        if call.command.name == "reset":
            return await self._reset(call)
        return CommandReply(text=await self._texts[call.command.name](call), epoch=call.snapshot.epoch)

    async def _start(self, _: CommandCall) -> str:
        return texts.start_text(is_offline=self._services.is_offline)

    async def _unreadable(self, call: CommandCall) -> str:
        return texts.unreadable_text(call.command.argument)

    async def _unknown(self, call: CommandCall) -> str:
        return texts.unknown_command_text(call.command.argument)

    async def _stats(self, call: CommandCall) -> str:
        if not is_operator(self._services, call.update.message):
            return texts.OPERATORS_ONLY
        return await self._services.statistics()

    async def _memory(self, call: CommandCall) -> str:
        ref = call.claim.ref
        kept = await self._services.history.count_kept(ref)
        try:
            searchable = str(await self._services.recall.count(ref))
        except RecallUnavailable:
            searchable = texts.RECALL_UNREACHABLE
        return texts.memory_text(call.snapshot, kept, searchable=searchable)

    async def _forget(self, call: CommandCall) -> str:
        forgetting = ForgetCall(
            ref=call.claim.ref,
            epoch=call.snapshot.epoch,
            message=call.update.message,
            journal=call.journal,
        )
        return await forget_message(self._services, forgetting)

    async def _new(self, call: CommandCall) -> CommandReply:
        refusal = await why_not(self._services, call.update.message)
        return CommandReply(
            text=refusal or texts.NEW_CONVERSATION,
            epoch=call.snapshot.epoch,
            starts_conversation=refusal is None,
        )

    async def _reset(self, call: CommandCall) -> CommandReply:
        """`/reset` this context, `/reset all` of this chat, or, for operators, `/reset <chat_id>` of any."""
        argument, ref = call.command.argument.strip(), call.claim.ref
        if argument and argument != "all":
            return await self._reset_by_number(call, argument)
        if await call.journal.finished(_RESET_STEP) is None:
            refusal = await why_not(self._services, call.update.message)
            if refusal is not None:
                return CommandReply(text=refusal, epoch=call.snapshot.epoch)
        if argument == "all":
            chat = await self._services.chat_contexts(call.update.message.chat_id)
            return await self._erase(call, [*chat, ref], what="this chat, all its topics included")
        in_topic = call.update.message.thread_id is not None
        return await self._erase(call, [ref], what="this topic" if in_topic else "this chat")

    async def _reset_by_number(self, call: CommandCall, argument: str) -> CommandReply:
        if not is_operator(self._services, call.update.message):
            return CommandReply(text=texts.OPERATORS_ONLY, epoch=call.snapshot.epoch)
        try:
            chat_id = int(argument)
        except ValueError:
            return CommandReply(text=texts.UNKNOWN_CHAT_ID, epoch=call.snapshot.epoch)
        refs = await self._services.chat_contexts(chat_id)
        return await self._erase(call, refs, what=f"chat {chat_id}")

    async def _erase(self, call: CommandCall, refs: Sequence[ContextRef], *, what: str) -> CommandReply:
        """Erase the contexts, each once even if this is interrupted and resumed.

        The one in which this is said comes last, or its own answer would be erased too.
        """
        resetting, own = self._services.resetting, call.claim.ref
        found = await call.journal.finished(_RESET_STEP)
        others = [ref for ref in dict.fromkeys(refs) if ref != own]
        receipt = await self._erase_others(call, others if found is None else [])
        if own not in refs:
            return CommandReply(text=texts.receipt_text(receipt, what=what), epoch=call.snapshot.epoch)
        if found is None:
            erased = await resetting.reset_own(
                call.claim, call.update.update_id, others=dump_receipt(receipt)
            )
        else:
            erased = parse_erased(found)
        receipt = sum_receipts([receipt, await resetting.finish(own, erased)])
        return CommandReply(text=texts.receipt_text(receipt, what=what), epoch=erased.epoch)

    async def _erase_others(self, call: CommandCall, refs: Sequence[ContextRef]) -> ErasureReceipt:
        """Erase other contexts than the one that asks, with what an interrupted try had erased before."""
        before = await call.journal.finished(_OTHERS_STEP)
        receipts = [parse_receipt(before)] if before is not None else []
        for ref in refs:
            step = f"{_OTHERS_STEP}:{ref.context_id}"
            line = await call.journal.finished(step)
            if line is None:
                line = dump_receipt(await self._services.resetting.reset(ref))
                await call.journal.record(step, line)
            receipts.append(parse_receipt(line))
        return sum_receipts(receipts)


def _says(text: str) -> _Text:
    """A command that always gives the same text."""

    async def say(_: CommandCall) -> str:
        return text

    return say
