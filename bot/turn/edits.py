"""An edited message replaces what was kept of it."""

from bot.transport.gating import strip_mention
from bot.transport.updates import IncomingMessage
from bot.turn.services import TurnServices
from memory.keys import ContextRef


async def replace_edited(
    services: TurnServices, ref: ContextRef, edited: IncomingMessage, *, epoch: int
) -> bool:
    """Keep what the message says now. False: it is not kept, and nothing is. Repeating it is harmless.

    Raises Forgotten after a reset, and the store's errors.
    """
    message_id = await services.history.find_by_telegram(ref, edited.message_id)
    if message_id is None:
        return False
    text = strip_mention(edited, bot=services.bot)
    return await services.history.replace(
        ref,
        message_id,
        text=text,
        tokens=services.tokenizer.count(text),
        edited_at=float(edited.edit_date or edited.date),
        epoch=epoch,
    )
