"""For whom a turn's run works: which of its tools may be used, decided once."""

from collections.abc import Collection

import structlog

from bot.agent.context import Caller, Place, Role, lowest_role
from bot.errors import TelegramFailure
from bot.transport.gating import GROUPS
from bot.turn.question import Question
from bot.turn.services import TurnServices

log = structlog.get_logger()


async def find_caller(services: TurnServices, question: Question) -> Caller:
    """The least that the askers of this turn may. Telegram is asked only if some tool is for administrators.

    Who is only forwarded or quoted asks nothing, and so does who sends nothing but forwards: then nobody asks, who may
    the least. An edit asks no more than what it changes did. Never raises: where Telegram does not tell who
    administers the group, nobody does.
    """
    message = question.batch.first.message
    askers = _askers(question)
    # A turn is one person's: there is one look-up at most.
    roles: list[Role] = [
        await _role_of(services, message.chat_id, message.chat_type, asker) for asker in askers
    ]
    return Caller(role=lowest_role(roles), place=_place_of(message.chat_type), chat_id=message.chat_id)


def _askers(question: Question) -> Collection[int | None]:
    """The ids of who asks; None for somebody without one. Empty where there are only forwards."""
    said = [each.message for each in question.batch.updates if not each.message.forwarded_from]
    again = question.again.messages if question.again else ()
    told = {each.sender.id if each.sender else None for each in again if not each.forwarded_from}
    if question.again is not None and not told:
        return ()
    return {each.sender_id for each in said} | told if said else ()


async def _role_of(services: TurnServices, chat_id: int, chat_type: str, asker: int | None) -> Role:
    if asker is None:
        return "anyone"
    if asker in services.access.operator_ids:
        return "operators"
    if chat_type == "private":
        return "administrators" if asker == chat_id else "anyone"
    if not _asks_for_administrators(services):
        return "anyone"
    try:
        return "administrators" if await services.administrators.includes(chat_id, asker) else "anyone"
    except TelegramFailure as failure:
        log.warning("administrators_unknown", failure=type(failure).__name__)
        return "anyone"


def _asks_for_administrators(services: TurnServices) -> bool:
    return any(
        tool.scope.who == "administrators"
        for agent in services.team.agents.values()
        for tool in agent.tools.values()
    )


def _place_of(chat_type: str) -> Place | None:
    if chat_type == "private":
        return "private"
    return "groups" if chat_type in GROUPS else None
