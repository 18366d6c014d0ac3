"""Permissions of the people who write: for commands that change the memory, and for the tools of a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import structlog

from bot.agent.context import Caller, Place, Role
from bot.agent.team import Team
from bot.errors import TelegramFailure
from bot.settings import Access
from bot.transport.people import Administrators
from bot.transport.updates import IncomingMessage, origin_of
from bot.turn.question import Question
from memory.history.message import OWN_ORIGINS, text_origin

log = structlog.get_logger()

_PLACES: Mapping[str, Place] = {"private": "private", "group": "groups", "supergroup": "groups"}


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

        In a private chat everybody may, and in a topic of a channel's direct messages: there only its person and the
        channel's administrators write. In a group only its administrators and the operators may.
        """
        if message.chat_type == "private" or message.is_direct or self.is_operator(message.sender_id):
            return None
        if message.sender_id is None:
            return "administrators-only"
        try:
            may = await self.administrators.includes(message.chat_id, message.sender_id)
        except TelegramFailure:
            return "cannot-check"
        return None if may else "administrators-only"

    async def may_change(self, message: IncomingMessage, person: int, *, owner: int | None = None) -> bool:
        """Return True for the owner of a record, and for those who may change the memory of the message's chat."""
        return person == owner or await self.refusal_for(replace(message, sender_id=person)) is None

    async def caller_of(self, question: Question) -> Caller:
        """Return the permissions of the person who asks. Never raises.

        A turn belongs to one person. Forwarded and quoted people get no permissions; a turn of forwards and results of
        other bots only runs with the lowest ones. An edit adds no permissions to those of the message. Telegram is
        asked only if a tool is for administrators. If Telegram does not answer, nobody is an administrator.
        """
        message, asker = question.first.message, _asker_of(question)
        role: Role = "anyone"
        if asker is None:
            pass
        elif self.is_operator(asker):
            role = "operators"
        elif message.chat_type == "private":
            role = "administrators" if asker == message.chat_id else "anyone"
        elif self._has_tools_for_administrators() and await self._is_administrator(message.chat_id, asker):
            role = "administrators"
        return Caller(
            role=role,
            place=_PLACES.get(message.chat_type),
            chat_id=message.chat_id,
            person_id=asker,
            owns_memory=None if asker is None else partial(self.may_change, message, asker),
        )

    async def _is_administrator(self, chat_id: int, asker: int) -> bool:
        try:
            return await self.administrators.includes(chat_id, asker)
        except TelegramFailure as failure:
            log.warning("administrators_unknown", failure=type(failure).__name__)
            return False

    def _has_tools_for_administrators(self) -> bool:
        return any("administrators" in agent.roles for agent in self.team.agents.values())


def _asker_of(question: Question) -> int | None:
    """Return the id of the person who asks; None for one without an id, and if there are only words of others."""
    askers = [
        each.message.sender_id for each in question.batch.updates if origin_of(each.message) in OWN_ORIGINS
    ]
    if question.again is not None:
        written = [each for each in question.again.messages if text_origin(each) in OWN_ORIGINS]
        if {each.sender.id if each.sender else None for each in written} != set(askers):
            return None
    return askers[0] if askers else None
