"""/usage shows today's usage and limits."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.features.parts import Built, Parts
from bot.inbox.redis_inbox import RedisInbox
from bot.transport.rich_text import RichText
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.costs import CostReader, MonthCosts, Used, last_months
from bot.turn.limits import LimitGuard, usage_text, used_text, wait_text
from memory.characters import one_line
from memory.history import contexts
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCommand:
    """Shows the usage of the person and the chat. Raises the store's errors."""

    guard: LimitGuard

    async def run(self, call: CommandCall) -> Reply:
        """Return today's usage, and the limits."""
        used = await self.guard.used_today(user_id=call.user_id, chat_id=call.message.chat_id)
        return Reply(text=usage_text(call.words, self.guard, user=used["user"], chat=used["chat"]))


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


_LISTED = 10
"""People in the message, and chats."""
_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsCommand:
    """Shows how much work there is, and everybody's usage of today or of a month. Raises the store's errors."""

    guard: LimitGuard
    redis: RedisClient
    inbox: RedisInbox
    costs: CostReader
    partitions: int

    async def run(self, call: CommandCall) -> Reply:
        """Return the numbers for an operator, and a refusal for others."""
        words = call.words
        if not call.permissions.is_operator(call.message.sender_id):
            return Reply(text=words("operators-only"))
        if call.argument.strip():
            return Reply(rich=RichText(text=await self._month(call)))  # names are no Markdown
        partitions = range(self.partitions)
        known = await contexts.list_contexts(self.redis, partitions)
        depths = [await self.inbox.depth(partition, without=call.claim) for partition in partitions]
        waiting, oldest_s = sum(depth for depth, _ in depths), max(age for _, age in depths)
        used = await self.guard.used_today(user_id=call.user_id, chat_id=call.message.chat_id)
        lines = [
            words("stats-contexts", count=len(known)),
            words("stats-queue", count=waiting, oldest=wait_text(words, oldest_s)),
            words("usage-title"),
            used_text(words, "all", used["all"], self.guard),
        ]
        return Reply(text="\n".join(lines))

    async def _month(self, call: CommandCall) -> str:
        """Return the costs of a month. Only a private chat sees the names of people and other chats."""
        words, budget = call.words, self.guard.limits.money_per_month
        months = last_months(self.costs.clock())
        word, *rest = call.argument.split()
        if word.lower() != "month" or len(rest) > 1 or (rest and rest[0] not in months):
            return words("costs-usage", month=months[1])
        month = rest[0] if rest else months[0]
        costs = await self.costs.read(month)
        if not costs.total.tokens:
            return words("costs-none", month=month)
        lines = [words("costs-title", month=month), used_text(words, "all", costs.total, self.guard)]
        if costs.memory.tokens:
            lines.append(words("costs-memory", used=self._used(words, costs.memory)))
        if budget:
            lines.append(words("costs-budget", limit=budget))
        if call.is_group:
            return "\n".join([*lines, words("costs-in-private")])
        return "\n".join([*lines, *await self._lists(words, costs)])

    async def _lists(self, words: Words, costs: MonthCosts) -> list[str]:
        names = await self.costs.names(costs)

        def listed(owners: Mapping[int, Used]) -> list[str]:
            return [
                words("costs-line", number=number, name=_name(names, owner), used=self._used(words, used))
                for number, (owner, used) in enumerate(list(owners.items())[:_LISTED], 1)
            ]

        parts = (("costs-people", costs.people), ("costs-chats", costs.chats))
        return [line for title, owners in parts if owners for line in ("", words(title), *listed(owners))]

    def _used(self, words: Words, used: Used) -> str:
        tokens = words("usage-tokens", count=used.tokens)
        return words("costs-used", tokens=tokens, money=used.money) if self.guard.prices else tokens


def _name(names: Mapping[int, str], owner: int) -> str:
    name = one_line(names.get(owner, ""), _NAME_CHARACTERS)
    return f"{name} ({owner})" if name else str(owner)
