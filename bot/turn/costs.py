"""Costs of calendar months (UTC): the sum of each, and the people and chats that cost most."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from bot.transport.ingest import telegram_ref
from memory import keys
from memory.history.contexts import find_context
from memory.keys import Key
from memory.redis.client import RedisClient

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
