"""Who may change what is kept of a chat: in a group only its administrators and the operators."""

from bot.errors import TelegramFailure
from bot.transport.updates import IncomingMessage
from bot.turn.services import TurnServices


def is_operator(services: TurnServices, message: IncomingMessage) -> bool:
    """Whether an operator of the bot has sent this."""
    return message.sender_id in services.access.operator_ids


async def why_not(services: TurnServices, message: IncomingMessage) -> str | None:
    """The catalogue's key of the refusal of who has sent this, or None. In a private chat nobody is refused."""
    if message.chat_type == "private" or is_operator(services, message):
        return None
    if message.sender_id is None:
        return "administrators-only"
    try:
        may = await services.administrators.includes(message.chat_id, message.sender_id)
    except TelegramFailure:
        return "cannot-check"
    return None if may else "administrators-only"
