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
        done = Reply(text=call.words("new-conversation"), starts_conversation=True)
        return await call.refused_by(self.permissions) or done


async def build(parts: Parts) -> Built:
    """Return the command."""
    return Built(commands={"new": NewCommand(permissions=parts.permissions).run})
