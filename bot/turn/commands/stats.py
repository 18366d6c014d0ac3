"""/stats shows operators the bot's work."""

from dataclasses import dataclass

from bot.inbox.redis_inbox import RedisInbox
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.limits import LimitGuard, used_text, wait_text
from bot.turn.permissions import Permissions
from memory.history import contexts
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsCommand:
    """Shows how much work there is, and everybody's usage of today. Raises the store's errors."""

    guard: LimitGuard
    permissions: Permissions
    redis: RedisClient
    inbox: RedisInbox
    partitions: int

    async def run(self, call: CommandCall) -> Reply:
        """Return the numbers for an operator, and a refusal for others."""
        words = call.words
        if not self.permissions.is_operator(call.message.sender_id):
            return Reply(text=words("operators-only"))
        partitions = range(self.partitions)
        known = await contexts.list_contexts(self.redis, partitions)
        depths = [await self.inbox.depth(partition, without=call.claim) for partition in partitions]
        waiting, oldest_s = sum(depth for depth, _ in depths), max(age for _, age in depths)
        used = await self.guard.used_today(user_id=call.user_id, chat_id=call.message.chat_id)
        lines = [
            words("stats-contexts", count=len(known)),
            words("stats-queue", count=waiting, oldest=wait_text(words, oldest_s)),
            words("usage-title"),
            used_text(words, "all", used["all"], self.guard.limits),
        ]
        return Reply(text="\n".join(lines))
