"""/usage shows today's usage and limits, /stats the bot's work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.limits import LimitGuard, UsageToday, usage_text, used_text, wait_text
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
class UsageCommands:
    """The commands about usage. All raise the store's errors."""

    guard: LimitGuard
    permissions: Permissions
    statistics: Callable[[], Awaitable[Statistics]]

    async def usage(self, call: CommandCall) -> Reply:
        """Show today's usage of the person and the chat, and the limits."""
        used = await self._used_today(call)
        text = usage_text(
            call.words, self.guard.limits, user=used.user, chat=used.chat, resets_in_s=used.resets_in_s
        )
        return Reply(text=text)

    async def stats(self, call: CommandCall) -> Reply:
        """Show operators how much work there is, and everybody's usage of today."""
        words = call.words
        if not self.permissions.is_operator(call.message.sender_id):
            return Reply(text=words("operators-only"))
        now, used = await self.statistics(), await self._used_today(call)
        lines = [
            words("stats-contexts", count=now.contexts),
            words("stats-queue", count=now.waiting, oldest=wait_text(words, now.oldest_s)),
            words("usage-title"),
            used_text(words, "all", used.everybody, self.guard.limits.prices),
        ]
        return Reply(text="\n".join(lines))

    async def _used_today(self, call: CommandCall) -> UsageToday:
        message = call.message
        return await self.guard.used_today(
            user_id=message.sender_id or message.chat_id, chat_id=message.chat_id
        )
