"""Costs of calendar months (UTC): the sum of each, and the people and chats that cost most."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

import structlog

from bot.inbox.reminders import FiringRules
from bot.transport.ingest import telegram_ref
from bot.transport.reminder_updates import notice_payload
from bot.transport.words import DEFAULT_LANGUAGE, words_for
from memory import keys
from memory.history.contexts import find_context
from memory.keys import ContextRef, Key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

MICROS = 1_000_000
"""Money is counted in millionths of the prices' unit. Prices are for a million tokens."""
MONTHS_KEPT = 13
"""Months for which the costs of a month are kept after its end."""
TOP = 20
"""People of a month that are listed, and chats."""

Owner = Literal["user", "chat"]
Unit = Literal["tokens", "micros"]
_FIELDS = ("tokens", "micros", "memory_tokens", "memory_micros")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Tokens of prompts and answers, and their cost."""

    tokens: int = 0
    money: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthCosts:
    """The usage of a month."""

    month: str
    """For example 2026-11."""
    total: Used
    memory: Used
    """The part of `total` for summaries and facts, which is counted for nobody."""
    people: Mapping[int, Used]
    """The TOP people by id, the most expensive first. An anonymous sender has the id of the chat."""
    chats: Mapping[int, Used]
    """The TOP chats by id, the most expensive first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReader:
    """Reads the costs of months. Its methods raise the store's errors."""

    redis: RedisClient
    bot_id: int
    partitions: int
    clock: Callable[[], float]
    """Unix seconds."""

    async def months(self) -> list[str]:
        """Return the present month and those before it that have a record, newest first."""
        present, *before = last_months(self.clock())
        found = await self.redis.calls([("EXISTS", month_key(month)) for month in before])
        return [present, *(month for month, exists in zip(before, found, strict=True) if exists)]

    async def total(self, month: str) -> Used:
        """Return the sum of a month, 0 without a record."""
        return (await read_totals(self.redis, month))[0]

    async def read(self, month: str) -> MonthCosts:
        """Return the costs of a month; without a record there is nobody in it."""
        total, memory = await read_totals(self.redis, month)
        people, chats = await self._top("user", month), await self._top("chat", month)
        return MonthCosts(month=month, total=total, memory=memory, people=people, chats=chats)

    async def names(self, costs: MonthCosts) -> dict[int, str]:
        """Return the names of people and chats by id: the title of their chat with the bot, if it is registered."""
        ids = list({*costs.people, *costs.chats})
        refs = [telegram_ref(self.bot_id, each, None, partitions=self.partitions) for each in ids]
        found = await asyncio.gather(*(find_context(self.redis, ref) for ref in refs))
        return {each: context.title for each, context in zip(ids, found, strict=True) if context}

    async def _top(self, owner: Owner, month: str) -> dict[int, Used]:
        """Return those who cost most, or those with the most tokens if no model has a price."""
        by_micros, by_tokens = ranking_key(owner, "micros", month), ranking_key(owner, "tokens", month)
        ranked = [("ZRANGE", ranking, 0, TOP - 1, "REV") for ranking in (by_micros, by_tokens)]
        expensive, busy = await self.redis.calls(ranked)
        ids: Sequence[str] = expensive or busy
        if not ids:
            return {}
        rows = await self.redis.calls([("ZMSCORE", by_tokens, *ids), ("ZMSCORE", by_micros, *ids)])
        return {
            int(name): _used(int(tokens or 0), int(micros or 0))
            for name, tokens, micros in zip(ids, *rows, strict=True)
        }


async def read_totals(redis: RedisClient, month: str) -> tuple[Used, Used]:
    """Return the sum of a month, and the part of it for summaries and facts; 0 without a record."""
    row = await redis.call("HMGET", month_key(month), *_FIELDS)
    tokens, micros, memory_tokens, memory_micros = (int(value or 0) for value in row)
    return _used(tokens + memory_tokens, micros + memory_micros), _used(memory_tokens, memory_micros)


def month_key(month: str) -> Key:
    """Return the key of a month's sums."""
    return keys.global_key("{usage}:month", month)


def ranking_key(owner: Owner, unit: Unit, month: str) -> Key:
    """Return the key of a month's people or chats."""
    return keys.global_key("{usage}:month", month, owner, unit)


def rankings_of(
    month: str, *, user_id: int, chat_id: int, tokens: int, micros: int
) -> list[tuple[Key, str, str]]:
    """Return the key, the amount and the owner for each ranking of a month that a turn belongs to."""
    owners: list[tuple[Owner, int]] = [("user", user_id), ("chat", chat_id)]
    amounts: list[tuple[Unit, int]] = [("tokens", tokens), ("micros", micros)]
    return [
        (ranking_key(owner, unit, month), str(amount), str(owner_id))
        for owner, owner_id in owners
        for unit, amount in amounts
        if amount
    ]


def month_of(now: float) -> str:
    """Return the month of a time, such as 2026-11."""
    return f"{datetime.fromtimestamp(now, UTC):%Y-%m}"


def month_ends(now: float) -> date:
    """Return the first day of the next month."""
    return _months_later(now, 1)


def month_ends_in(now: float) -> float:
    """Return the seconds until the next month."""
    return _begin(month_ends(now)) - now


def months_kept_s(now: float) -> int:
    """Return the seconds for which the costs of the present month are kept from now on."""
    return round(_begin(_months_later(now, 1 + MONTHS_KEPT)) - now)


def last_months(now: float) -> list[str]:
    """Return the present month and those before it that are kept, newest first."""
    return [f"{_months_later(now, -ago):%Y-%m}" for ago in range(MONTHS_KEPT + 1)]


def _months_later(now: float, months: int) -> date:
    today = datetime.fromtimestamp(now, UTC)
    years, month = divmod(today.month - 1 + months, 12)
    return date(today.year + years, month + 1, 1)


def _begin(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _used(tokens: int, micros: int) -> Used:
    return Used(tokens=tokens, money=micros / MICROS)


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
