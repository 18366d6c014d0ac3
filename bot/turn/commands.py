"""The chat commands: each gives a text, and may start a conversation or erase one."""

from collections.abc import Awaitable, Callable
from functools import partial

from bot.transport import texts
from bot.transport.gating import INVITED, UNREADABLE
from bot.transport.updates import UNKNOWN
from bot.turn.command_call import CommandCall, CommandReply
from bot.turn.forgetting import ForgetCall, forget_message
from bot.turn.reset_command import ResetCommand
from bot.turn.rights import is_operator, why_not
from bot.turn.services import TurnServices
from bot.turn.usage_commands import tell_statistics, tell_usage
from memory.errors import RecallUnavailable

_Text = Callable[[CommandCall], Awaitable[str]]


class Commands:
    """Runs commands."""

    def __init__(self, services: TurnServices) -> None:
        self._services = services
        self._resetting = ResetCommand(services)
        self._texts: dict[str, _Text] = {
            "start": self._start,
            "help": self._help,
            "memory": self._memory,
            "forget": self._forget,
            "stop": _says("nothing-to-stop"),
            "usage": partial(tell_usage, services),
            "stats": partial(tell_statistics, services),
            UNREADABLE: _says("unreadable"),
            UNKNOWN: self._unknown,
        }

    async def run(self, call: CommandCall) -> CommandReply:
        """The reply. Raises Fenced, and the store's errors; then nothing of the command was answered."""
        if call.command.name == "new":
            return await self._new(call)
        if call.command.name == "reset":
            return await self._resetting.run(call)
        return CommandReply(text=await self._texts[call.command.name](call), epoch=call.snapshot.epoch)

    async def _start(self, call: CommandCall) -> str:
        if call.update.admission.reason == INVITED:
            return await self._redeem(call)
        return texts.start_text(
            call.words,
            is_group=call.is_group,
            is_offline=self._services.is_offline,
        )

    async def _redeem(self, call: CommandCall) -> str:
        """Let somebody in who may not use the bot yet. Of a wrong invitation's sender nothing else is done."""
        user_id = call.update.message.sender_id or 0
        redeemed = await self._services.guests.redeem(user_id, call.command.argument)
        if redeemed == "silent":
            return ""
        told = call.words(f"invitation-{redeemed}")
        return f"{told}\n\n{await self._help(call)}" if redeemed == "accepted" else told

    async def _help(self, call: CommandCall) -> str:
        by_operator = is_operator(self._services, call.update.message)
        return texts.help_text(call.words, is_group=call.is_group, is_operator=by_operator)

    async def _unknown(self, call: CommandCall) -> str:
        return call.words("unknown-command", name=f"/{call.command.argument}")

    async def _memory(self, call: CommandCall) -> str:
        ref = call.claim.ref
        kept = await self._services.history.count_kept(ref)
        try:
            searchable = await self._services.recall.count(ref)
        except RecallUnavailable:
            searchable = None
        return texts.memory_text(call.words, call.snapshot, kept, searchable=searchable)

    async def _forget(self, call: CommandCall) -> str:
        forgetting = ForgetCall(
            ref=call.claim.ref,
            epoch=call.snapshot.epoch,
            message=call.update.message,
            is_moved=call.update.anchor_id != call.update.message.chat_id,
            journal=call.journal,
            words=call.words,
        )
        return await forget_message(self._services, forgetting)

    async def _new(self, call: CommandCall) -> CommandReply:
        refusal = await why_not(self._services, call.update.message)
        return CommandReply(
            text=call.words(refusal or "new-conversation"),
            epoch=call.snapshot.epoch,
            starts_conversation=refusal is None,
        )


def _says(key: str) -> _Text:
    """A command that always gives the same sentence."""

    async def say(call: CommandCall) -> str:
        return call.words(key)

    return say
