"""Who administers a group, asked of Telegram and believed for a minute."""

from collections.abc import Callable
from typing import Protocol

from bot.errors import ChatMigrated

BELIEVED_S = 60.0
REMEMBERED = 10_000
"""People in groups whose standing a process remembers at most."""


class Membership(Protocol):
    """The Bot API call that tells."""

    async def is_administrator(self, chat_id: int, user_id: int) -> bool: ...


class Administrators:
    """What Telegram says, with a short memory. A promotion or demotion counts after BELIEVED_S at the latest."""

    def __init__(self, api: Membership, *, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self._believed: dict[tuple[int, int], tuple[bool, float]] = {}

    async def includes(self, chat_id: int, user_id: int) -> bool:
        """Whether this person administers the chat, by whichever of its ids. Raises the TelegramFailure errors."""
        may, until = self._believed.get((chat_id, user_id), (False, 0.0))
        if self._clock() < until:
            return may
        try:
            may = await self._api.is_administrator(chat_id, user_id)
        except ChatMigrated as moved:
            may = await self._api.is_administrator(moved.new_chat_id, user_id)
        if len(self._believed) >= REMEMBERED:
            self._believed.clear()
        self._believed[chat_id, user_id] = (may, self._clock() + BELIEVED_S)
        return may
