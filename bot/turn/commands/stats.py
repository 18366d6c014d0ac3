"""/stats shows operators the bot's work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.limits import LimitGuard, used_text, wait_text
from bot.turn.permissions import Permissions


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The bot's work for operators."""

    contexts: int
    waiting: int
    """Updates that wait."""
    oldest_s: float
    """The age of the oldest of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsCommand:
    """Shows how much work there is, and everybody's usage of today. Raises the store's errors."""

    guard: LimitGuard
    permissions: Permissions
    statistics: Callable[[], Awaitable[Statistics]]

    async def run(self, call: CommandCall) -> Reply:
        """Return the numbers for an operator, and a refusal for others."""
        words = call.words
        if not self.permissions.is_operator(call.message.sender_id):
            return Reply(text=words("operators-only"))
        now = await self.statistics()
        used = await self.guard.used_today(user_id=call.user_id, chat_id=call.message.chat_id)
        lines = [
            words("stats-contexts", count=now.contexts),
            words("stats-queue", count=now.waiting, oldest=wait_text(words, now.oldest_s)),
            words("usage-title"),
            used_text(words, "all", used.everybody, self.guard.limits.prices),
        ]
        return Reply(text="\n".join(lines))
