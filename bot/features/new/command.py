"""/new begins a new conversation."""

from dataclasses import dataclass

from bot.features.parts import Built, Parts
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCommand:
    """Begins a new conversation. The old memory stays searchable."""

    permissions: Permissions

    async def run(self, call: CommandCall) -> Reply:
        """Begin it, unless the sender may not change the chat's memory."""
        refusal = await self.permissions.refusal_for(call.message)
        return Reply(text=call.words(refusal or "new-conversation"), starts_conversation=refusal is None)


async def build(parts: Parts) -> Built:
    """Return the command."""
    return Built(commands={"new": NewCommand(permissions=parts.permissions).run})
