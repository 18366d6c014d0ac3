"""/new begins a new conversation."""

from bot.features.parts import Built, Parts
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply


async def begin(call: CommandCall) -> Reply:
    """Begin a new conversation, unless the sender may not change the chat's memory. The old memory stays searchable."""
    done = Reply(text=call.words("new-conversation"), starts_conversation=True)
    return await call.refused() or done


async def build(_: Parts) -> Built:
    """Return the command."""
    return Built(commands={"new": begin})
