"""Permissions of the people who write: for commands that change the memory, and for the tools of a turn."""

from collections.abc import Collection
from dataclasses import dataclass

import structlog

from bot.agent.context import Caller, Place, Role, lowest_role
from bot.agent.team import Team
from bot.errors import TelegramFailure
from bot.transport.gating import GROUPS, Access
from bot.transport.people import Administrators
from bot.transport.updates import IncomingMessage
from bot.turn.question import Question

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Answers from the settings, and from Telegram's list of a group's administrators."""

    access: Access
    administrators: Administrators
    team: Team

    def is_operator(self, user_id: int | None) -> bool:
        """Return True for an operator of the bot."""
        return user_id in self.access.operator_ids

    async def refusal_for(self, message: IncomingMessage) -> str | None:
        """Return the catalogue's key of the refusal if the sender may not change the chat's memory.

        In a private chat everybody may. In a group only its administrators and the operators may.
        """
        if message.chat_type == "private" or self.is_operator(message.sender_id):
            return None
        if message.sender_id is None:
            return "administrators-only"
        try:
            may = await self.administrators.includes(message.chat_id, message.sender_id)
        except TelegramFailure:
            return "cannot-check"
        return None if may else "administrators-only"

    async def caller_of(self, question: Question) -> Caller:
        """Return the lowest permissions of the people who ask. Never raises.

        Forwarded and quoted people get no permissions; a turn of forwards only runs with the lowest ones. An
        edit adds no permissions to those of the message. Telegram is asked only if a tool is for
        administrators. If Telegram does not answer, nobody is an administrator.
        """
        message = question.batch.first.message
        # A turn belongs to one person, so this is one look-up at most.
        roles: list[Role] = [await self._role_of(message, asker) for asker in _askers(question)]
        return Caller(role=lowest_role(roles), place=_place_of(message.chat_type), chat_id=message.chat_id)

    async def _role_of(self, message: IncomingMessage, asker: int | None) -> Role:
        if asker is None:
            return "anyone"
        if self.is_operator(asker):
            return "operators"
        if message.chat_type == "private":
            return "administrators" if asker == message.chat_id else "anyone"
        if not self._has_tools_for_administrators():
            return "anyone"
        try:
            is_administrator = await self.administrators.includes(message.chat_id, asker)
        except TelegramFailure as failure:
            log.warning("administrators_unknown", failure=type(failure).__name__)
            return "anyone"
        return "administrators" if is_administrator else "anyone"

    def _has_tools_for_administrators(self) -> bool:
        agents = self.team.agents.values()
        return any(tool.scope.who == "administrators" for agent in agents for tool in agent.tools.values())


def _askers(question: Question) -> Collection[int | None]:
    """Return the ids of the people who ask, None for one without an id; () if there are only forwards."""
    written = [each.message for each in question.batch.updates if not each.message.forwarded_from]
    again = question.again.messages if question.again else ()
    before = {each.sender.id if each.sender else None for each in again if not each.forwarded_from}
    if question.again is not None and not before:
        return ()
    return {each.sender_id for each in written} | before if written else ()


def _place_of(chat_type: str) -> Place | None:
    if chat_type == "private":
        return "private"
    return "groups" if chat_type in GROUPS else None
