"""/stop when no answer is being written: a running turn is stopped by a signal (chat_events.py)."""

from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply


async def say_nothing_to_stop(call: CommandCall) -> Reply:
    """Say that there is nothing to stop."""
    return Reply(text=call.words("nothing-to-stop"))
