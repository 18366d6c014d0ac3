"""/stop when no answer is being written: a running turn is stopped by a signal (chat_events.py)."""

from bot.features.parts import Built, Parts
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply


async def say_nothing_to_stop(call: CommandCall) -> Reply:
    """Say that there is nothing to stop."""
    return Reply(text=call.words("nothing-to-stop"))


async def build(_: Parts) -> Built:
    """Return the command. The button acts on a running turn and waits for nothing."""
    return Built(commands={"stop": say_nothing_to_stop})
