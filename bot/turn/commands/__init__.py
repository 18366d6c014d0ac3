"""The chat commands, one file each, and their table. The door, the menus, /help and the dispatch follow it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bot.transport.buttons import BUTTONS, word_of
from bot.transport.command_menus import Audience
from bot.transport.gating import UNREADABLE
from bot.transport.updates import UNKNOWN
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
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
PressHandler = Callable[[CommandCall], Awaitable[Reply | None]]
"""Answers the press of a button; None if no menu has a button with this data. Raises what a Handler does."""
Correct = Callable[[CommandCall, AwaitedCorrection], Awaitable[Reply]]
"""Puts the right statement, the call's argument, in place of a fact's. Raises what a Handler does."""


class Commands:
    """Runs commands and the buttons under their answers."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        buttons: Mapping[str, PressHandler],
        correct: Correct,
        permissions: Permissions,
    ) -> None:
        """`handlers` has one for each command, `buttons` one for each button whose presses wait.

        `correct` takes the answers to questions about facts.
        """
        waiting = {word for word, rule in BUTTONS.items() if rule.waits}
        if others := (handlers.keys() ^ COMMANDS.keys()) | (buttons.keys() ^ waiting):
            raise ValueError(f"not as in the tables: {sorted(others)}")
        self._handlers = {**handlers, UNREADABLE: _unreadable, UNKNOWN: _unknown}
        self._buttons = buttons
        self._permissions = permissions
        self.correct = correct

    async def run(self, name: str, call: CommandCall) -> Reply:
        """Run the command of this name."""
        return await self._handlers[name](call)

    async def press(self, call: CommandCall) -> Reply | None:
        """Answer the press of a button; None if it is no button, or one that only a running turn answers.

        None also for a message without such a button: the data is made up, or the menu has done its work.
        """
        word = word_of(call.argument)
        handler, callback = self._buttons.get(word), call.update.callback
        if handler is None or callback is None:
            return None
        if callback.is_topic_unknown:
            return Reply(notice=call.words("button-gone", command=f"/{word}"))
        if callback.under == "another" and not BUTTONS[word].is_answered_anew:
            return None
        if BUTTONS[word].pressers == "owners":
            presser = replace(call.message, sender_id=call.person_id)
            refusal = await self._permissions.refusal_for(presser)
            if refusal is not None:
                return Reply(notice=call.words(refusal))
        return await handler(call)


async def _unreadable(call: CommandCall) -> Reply:
    return Reply(text=call.words("unreadable"))


async def _unknown(call: CommandCall) -> Reply:
    return Reply(text=call.words("unknown-command", name=f"/{call.argument}"))
