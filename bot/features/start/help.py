"""/help lists the commands, and so does the button of /start."""

from dataclasses import dataclass

from bot.transport import texts
from bot.transport.controls import Controls
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpCommand:
    """Lists the commands that a person can use here."""

    permissions: Permissions
    controls: Controls

    async def run(self, call: CommandCall) -> Reply:
        """Return the list for the person who sent the command, or pressed the button of /start."""
        is_operator = self.permissions.is_operator(call.person_id)
        text = texts.help_text(
            call.words, self.controls.commands, is_group=call.is_group, is_operator=is_operator
        )
        return Reply(text=text)
