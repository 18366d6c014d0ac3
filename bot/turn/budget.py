"""The month's budget of the whole bot: operators are warned in private before it is used up."""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from bot.inbox.reminders import FiringRules
from bot.transport.ingest import telegram_ref
from bot.transport.reminder_updates import notice_payload
from bot.transport.words import DEFAULT_LANGUAGE, words_for
from bot.turn.costs import CostReader, Used, month_ends, month_of
from memory.keys import ContextRef, Key, partition_key
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

WARN_AT = 0.8
"""Share of the budget at which operators are warned."""
WATCH_S = 5.0
_MARKER_TTL_S = 32 * 24 * 3600


@lua_script("bot.inbox.scripts")
def place_notice(
    ref: ContextRef, *, warned: Key, payload: str, now: float, marker_ttl: int, rules: FiringRules
) -> ScriptCall: ...


@dataclass(slots=True, kw_only=True)
class BudgetWatch:
    """Warns each operator once a month, in any number of processes. One instance per process."""

    costs: CostReader
    budget: float
    operators: frozenset[int]
    rules_of: Callable[[int], FiringRules]
    """Returns the rules for updates of our own in a partition."""
    _warned: str = field(default="", init=False)

    async def step(self) -> float:
        """Warn if it is time. Return the seconds until the next step. Raises the store's errors.

        A warning and its marker are written together, so a crash at any point leaves exactly one for each operator.
        The inbox sends it. Telegram refuses it for an operator who never wrote to the bot.
        """
        now = self.costs.clock()
        month = month_of(now)
        if self._warned == month:
            return WATCH_S
        used = await self.costs.total(month)
        if used.money < WARN_AT * self.budget:
            return WATCH_S
        outcomes = [await self._warn(operator, used, now) for operator in sorted(self.operators)]
        if "full" not in outcomes:
            self._warned = month
        if "placed" in outcomes or not outcomes:
            log.warning("budget_nearly_used", month=month, used=used.money, budget=self.budget)
        return WATCH_S

    async def _warn(self, operator: int, used: Used, now: float) -> str:
        redis, month = self.costs.redis, month_of(now)
        ref = telegram_ref(self.costs.bot_id, operator, None, partitions=self.costs.partitions)
        # Nothing is known about the language of a person who does not write.
        words, ends = words_for(DEFAULT_LANGUAGE), month_ends(now)
        if used.money < self.budget:
            percent = int(100 * used.money / self.budget)
            text = words("budget-warning", percent=percent, money=used.money, limit=self.budget, date=ends)
        else:
            text = words("budget-used-up", money=used.money, limit=self.budget, date=ends)
        call = place_notice(
            ref,
            warned=partition_key(ref.partition, "warned", month, operator),
            payload=notice_payload(operator, text, now=now),
            now=now,
            marker_ttl=_MARKER_TTL_S,
            rules=self.rules_of(ref.partition),
        )
        return str(await redis.run_durably(call))
