"""/usage shows today's usage and limits."""

from dataclasses import dataclass

from bot.features.parts import Built, Parts
from bot.features.usage.stats import StatsCommand
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.limits import LimitGuard, usage_text


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCommand:
    """Shows the usage of the person and the chat. Raises the store's errors."""

    guard: LimitGuard

    async def run(self, call: CommandCall) -> Reply:
        """Return today's usage, and the limits."""
        used = await self.guard.used_today(user_id=call.user_id, chat_id=call.message.chat_id)
        text = usage_text(
            call.words,
            self.guard.limits,
            user=used["user"],
            chat=used["chat"],
            resets_in_s=self.guard.day_ends_in(),
        )
        return Reply(text=text)


async def build(parts: Parts) -> Built:
    """Return both commands."""
    stats = StatsCommand(
        guard=parts.guard,
        redis=parts.stores.redis,
        inbox=parts.inbox,
        costs=parts.costs,
        partitions=parts.stores.partitions,
    )
    return Built(commands={"usage": UsageCommand(guard=parts.guard).run, "stats": stats.run})
