"""/help lists the commands, and so does the button of /start."""

from dataclasses import dataclass

from bot.transport import texts
from bot.turn.chat_events import Buttons
from bot.turn.commands import COMMANDS
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpCommand:
    """Lists the commands that a person can use here."""

    permissions: Permissions
    buttons: Buttons

    async def run(self, call: CommandCall) -> Reply:
        """Return the list for the sender of the message."""
        return self._list(call, call.message.sender_id)

    async def press(self, call: CommandCall) -> Reply:
        """Answer the button of /start with the list."""
        await self.buttons.answer(call.update)
        callback = call.update.callback
        return self._list(call, callback.sender_id if callback else None)

    def _list(self, call: CommandCall, reader_id: int | None) -> Reply:
        is_operator = self.permissions.is_operator(reader_id)
        text = texts.help_text(call.words, COMMANDS, is_group=call.is_group, is_operator=is_operator)
        return Reply(text=text)
