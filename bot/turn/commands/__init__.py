"""The chat commands, one file each: `Commands` finds the one to run."""

from collections.abc import Awaitable, Callable, Mapping

from bot.transport.gating import HELP_BUTTON, RESET_BUTTON, UNREADABLE
from bot.transport.updates import UNKNOWN
from bot.turn.commands.call import CommandCall
from bot.turn.commands.forget import ForgetCommand
from bot.turn.commands.memory import MemoryCommands
from bot.turn.commands.reset import ResetCommand
from bot.turn.commands.start import StartCommands
from bot.turn.commands.usage import UsageCommands
from bot.turn.commit import Reply

Handler = Callable[[CommandCall], Awaitable[Reply]]
"""Runs a command. Raises Fenced, Forgotten and the store's errors; then nothing was answered."""


class Commands:
    """Runs commands and the buttons under their answers."""

    def __init__(
        self,
        *,
        start: StartCommands,
        memory: MemoryCommands,
        forget: ForgetCommand,
        reset: ResetCommand,
        usage: UsageCommands,
    ) -> None:
        self._handlers: Mapping[str, Handler] = {
            "start": start.start,
            "help": start.help,
            "new": memory.new,
            "memory": memory.memory,
            "forget": forget.forget,
            "reset": reset.reset,
            "usage": usage.usage,
            "stats": usage.stats,
            "stop": _nothing_to_stop,
            UNREADABLE: _unreadable,
            UNKNOWN: _unknown,
        }
        self._buttons: Mapping[str, Handler] = {
            HELP_BUTTON: start.press_help,
            RESET_BUTTON: reset.press,
        }

    async def run(self, name: str, call: CommandCall) -> Reply:
        """Run the command of this name."""
        return await self._handlers[name](call)

    async def press(self, call: CommandCall) -> Reply | None:
        """Run the command of a pressed button; None if the button belongs to no command."""
        handler = self._buttons.get(call.argument.split(":")[0])
        return None if handler is None else await handler(call)


async def _nothing_to_stop(call: CommandCall) -> Reply:
    return Reply(text=call.words("nothing-to-stop"))


async def _unreadable(call: CommandCall) -> Reply:
    return Reply(text=call.words("unreadable"))


async def _unknown(call: CommandCall) -> Reply:
    return Reply(text=call.words("unknown-command", name=f"/{call.argument}"))
