"""The chat commands, one file each, and their table. The door, the menus, /help and the dispatch follow it."""

from collections.abc import Awaitable, Callable, Mapping

from bot.transport.command_menus import Audience
from bot.transport.gating import UNREADABLE
from bot.transport.updates import UNKNOWN
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from memory.history.corrections import AwaitedCorrection

COMMANDS: Mapping[str, Audience] = {
    "start": "nobody",
    "help": "everybody",
    "new": "owners",
    "catchup": "members",
    "memory": "everybody",
    "facts": "everybody",
    "reminders": "everybody",
    "timezone": "everybody",
    "why": "everybody",
    "forget": "everybody",
    "reset": "owners",
    "stop": "everybody",
    "model": "everybody",
    "voice": "everybody",
    "usage": "everybody",
    "stats": "operators",
}
"""The people whose menu and /help show a command, in this order. Everybody can send each command."""

Handler = Callable[[CommandCall], Awaitable[Reply]]
"""Runs a command. Raises Fenced, Forgotten and the store's errors; then nothing was answered."""
Correct = Callable[[CommandCall, AwaitedCorrection], Awaitable[Reply]]
"""Puts the right statement, the call's argument, in place of a fact's. Raises what a Handler does."""


class Commands:
    """Runs commands and the buttons under their answers."""

    def __init__(
        self, handlers: Mapping[str, Handler], *, buttons: Mapping[str, Handler], correct: Correct
    ) -> None:
        """`handlers` has one for each command, `buttons` one for each first word of the data of a button.

        `correct` takes the answers to questions about facts.
        """
        if handlers.keys() != COMMANDS.keys():
            raise ValueError(f"not the commands of the table: {sorted(handlers.keys() ^ COMMANDS.keys())}")
        self._handlers = {**handlers, UNREADABLE: _unreadable, UNKNOWN: _unknown}
        self._buttons = buttons
        self.correct = correct

    async def run(self, name: str, call: CommandCall) -> Reply:
        """Run the command of this name."""
        return await self._handlers[name](call)

    async def press(self, call: CommandCall) -> Reply | None:
        """Run the command of a pressed button; None if the button belongs to no command."""
        handler = self._buttons.get(call.argument.split(":")[0])
        return None if handler is None else await handler(call)


async def _unreadable(call: CommandCall) -> Reply:
    return Reply(text=call.words("unreadable"))


async def _unknown(call: CommandCall) -> Reply:
    return Reply(text=call.words("unknown-command", name=f"/{call.argument}"))
