"""Limits on what one person and one chat may use: counted and checked in Redis before a model is called."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Literal, cast
from uuid import uuid4

from bot.agent.model import Usage
from bot.model_choices import ModelChoice
from bot.observe import metrics
from bot.settings import OwnerLimits, UsageLimits
from bot.transport.words import Words
from bot.turn.costs import (
    MICROS,
    Used,
    month_ends,
    month_ends_in,
    month_key,
    month_of,
    months_kept_s,
    rankings_of,
    read_totals,
)
from memory import keys
from memory.keys import Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_SCRIPTS = "bot.turn.scripts"
_DAY_S = 24 * 3600

Kind = Literal["user", "chat", "all"]
_MINUTE_S, _HOUR_S = 60, 3600
_IN_MINUTES_UNTIL_S = 90 * _MINUTE_S


@lua_script(_SCRIPTS)
def admit_turn(
    *,
    user_minute: Key,
    chat_minute: Key,
    limit_told: Key,
    rules: Mapping[str, int | float],
    sums: Sequence[Sequence[object]],
    updates: Sequence[int],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def book_usage(
    *,
    booked: Key,
    ttl: int,
    month_ttl: int,
    amounts: Sequence[Sequence[str]],
    rankings: Sequence[Sequence[str]],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def take_picture(*, pictures: Key, call: str, at_most: int, ttl: int) -> ScriptCall: ...


def payer_of(user_id: int, chat_id: int) -> int:
    """Return whose limits a turn uses up: the person's, or the chat's for all who write there as a channel or group.

    One person may write as many channels, and Telegram does not say who it is. Ids of people are positive.
    """
    return user_id if user_id > 0 else chat_id


@dataclass(frozen=True, slots=True)
class LimitGuard:
    """Checks limits and books usage. Operators are exempt. Without limits a check costs nothing."""

    redis: RedisClient
    limits: UsageLimits
    _: KW_ONLY
    exempt: frozenset[int]
    clock: Callable[[], float]
    prices: Mapping[str, ModelChoice] = field(default_factory=dict[str, ModelChoice])
    """The models with known prices, by name."""

    async def check(
        self,
        update_ids: Sequence[int],
        words: Words,
        *,
        user_id: int,
        chat_id: int,
        always_says: bool = False,
    ) -> tuple[str, str] | None:
        """Count the updates of a turn, once for all calls. Return a refusal if a limit is reached, else None.

        The refusal is the reason for the update's record, and the sentence, "" if it was said a moment ago, unless
        `always_says`.
        Everybody who writes as a chat counts as one person: see `payer_of`. A turn of several updates is admitted if
        one of them would be, and counts as all of them. Usage is known when a turn ends, so the last turn of a day may
        exceed its tokens or money.
        """
        if self.limits.are_none or user_id in self.exempt:
            return None
        payer = payer_of(user_id, chat_id)
        now = self.clock()
        day, ends_in = _day(now), _day_ends_in(now)
        rules: dict[str, int | float] = {"now": now, "window": keys.MINUTE_TTL_S}
        month, most = month_key(month_of(now)), math.ceil(self.limits.money_per_month * MICROS)
        sums: list[tuple[str, str, tuple[str, ...], int, float]] = [
            ("all_money", month, ("micros", "memory_micros"), most, month_ends_in(now))
        ]
        for owner, owner_id, limits in (
            ("user", payer, self.limits.user),
            ("chat", chat_id, self.limits.chat),
        ):
            record, most = keys.global_key("{usage}:day", owner, owner_id, day), limits.tokens_per_day
            sums.append((f"{owner}_tokens", record, ("prompt", "completion"), most, ends_in))
            most = math.ceil(limits.money_per_day * MICROS)
            sums.append((f"{owner}_money", record, ("micros",), most, ends_in))
            rules[f"{owner}_messages"] = limits.messages_per_minute
        call = admit_turn(
            user_minute=keys.global_key("{usage}:minute", "user", payer),
            chat_minute=keys.global_key("{usage}:minute", "chat", chat_id),
            limit_told=keys.global_key("{usage}:told", chat_id),
            rules=rules,
            sums=[each for each in sums if each[3]],
            updates=sorted(update_ids),
        )
        answer = await self.redis.run(call)
        if not answer[0]:
            return None
        limit, wait_s, says_so = str(answer[0]), int(answer[1]), bool(int(answer[2]))
        metrics.LIMITED.labels(limit).inc()
        if limit == "all_money":
            text = words("limit-all-money", date=month_ends(now))
        else:
            text = refusal_text(words, self.limits, limit=limit, wait_s=wait_s)
        return f"limit_{limit}", text if says_so or always_says else ""

    async def has_room(self, usages: Sequence[Usage], *, user_id: int, chat_id: int) -> bool:
        """Return True if usages that are not booked yet stay within the limits of tokens and money."""
        if self.limits.are_none or user_id in self.exempt:
            return True
        usage, money = sum(usages, Usage()), (self.cost_of(usages) or 0) / MICROS
        used = await self.used_today(user_id=user_id, chat_id=chat_id)
        month, _ = await read_totals(self.redis, month_of(self.clock()))
        if self.limits.money_per_month and month.money + money > self.limits.money_per_month:
            return False
        tokens = usage.prompt_tokens + usage.completion_tokens
        of: tuple[tuple[Kind, OwnerLimits], ...] = (("user", self.limits.user), ("chat", self.limits.chat))
        return all(
            (not limits.tokens_per_day or used[kind].tokens + tokens <= limits.tokens_per_day)
            and (not limits.money_per_day or used[kind].money + money <= limits.money_per_day)
            for kind, limits in of
        )

    async def take_picture(self, call: str, *, user_id: int, chat_id: int, at_most: int) -> bool:
        """Count a picture of this person and day, once for each call. Return False beyond the limit; 0 is none."""
        if not at_most or user_id in self.exempt:
            return True
        key = self._pictures_of(user_id, chat_id)
        return bool(
            await self.redis.run(take_picture(pictures=key, call=call, at_most=at_most, ttl=keys.USAGE_TTL_S))
        )

    async def return_picture(self, call: str, *, user_id: int, chat_id: int) -> None:
        """Do not count this picture: it has failed."""
        await self.redis.call("SREM", self._pictures_of(user_id, chat_id), call)

    def _pictures_of(self, user_id: int, chat_id: int) -> Key:
        return keys.global_key("{usage}:pictures", payer_of(user_id, chat_id), _day(self.clock()))

    def cost_of(self, usages: Iterable[Usage]) -> int | None:
        """Return the cost in MICROS, rounded up; None if no price of these models is known."""
        costs = [
            self.prices[each.model].cost_of(each.prompt_tokens, each.completion_tokens)
            for each in usages
            if each.model in self.prices
        ]
        return math.ceil(sum(costs)) if costs else None

    def booking(
        self, usages: Sequence[Usage], *, update_id: int, user_id: int, chat_id: int, run: str = ""
    ) -> tuple[ScriptCall, ...]:
        """Return the call that books a turn's usages, once for its newest update; () if there are none.

        It goes with the turn's commit in one round trip, and counts whatever becomes of the commit. Each `run` is
        booked once: a turn begins again if somebody forgets a message meanwhile.
        """
        usage = sum(usages, Usage())
        if not usage.prompt_tokens and not usage.completion_tokens:
            return ()
        now = self.clock()
        day, month = _day(now), month_of(now)
        tokens, micros = usage.prompt_tokens + usage.completion_tokens, self.cost_of(usages) or 0
        owners = (("user", payer_of(user_id, chat_id)), ("chat", chat_id), ("all", 0))
        used = {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens, "micros": micros}
        amounts: list[tuple[str, ...]] = [
            (keys.global_key("{usage}:day", *owner, day), name, str(amount), str(keys.USAGE_TTL_S))
            for owner in owners
            for name, amount in used.items()
        ]
        for name, amount in (("tokens", tokens), ("micros", micros)):
            amounts.append((month_key(month), name, str(amount), str(months_kept_s(now))))
        book = book_usage(
            booked=keys.global_key("{usage}:booked", update_id, run),
            ttl=keys.USAGE_TTL_S,
            month_ttl=months_kept_s(now),
            amounts=amounts,
            rankings=rankings_of(month, user_id=user_id, chat_id=chat_id, tokens=tokens, micros=micros),
        )
        return (book,)

    async def book(self, usages: Sequence[Usage], *, update_id: int, user_id: int, chat_id: int) -> None:
        """Book the usages of a run that ends without a commit: its steps are forgotten, so no later run books them."""
        booking = self.booking(usages, update_id=update_id, user_id=user_id, chat_id=chat_id, run=uuid4().hex)
        if booking:
            await self.redis.run_all(booking)

    async def book_memory(self, usages: Sequence[Usage]) -> None:
        """Book the usages of summaries or facts in the month. They count for everybody, and for nobody's limits.

        A crash after the model's answer leaves them uncounted.
        """
        usage, now = sum(usages, Usage()), self.clock()
        month = month_key(month_of(now))
        await self.redis.calls(
            [
                ("HINCRBY", month, "memory_tokens", usage.prompt_tokens + usage.completion_tokens),
                ("HINCRBY", month, "memory_micros", self.cost_of(usages) or 0),
                ("EXPIRE", month, months_kept_s(now)),
            ]
        )

    async def used_today(self, *, user_id: int, chat_id: int) -> dict[Kind, Used]:
        """Return the usage since 00:00 UTC of the person, the chat and everybody; zeros if there is none."""
        day = _day(self.clock())
        owners: dict[Kind, int] = {"user": payer_of(user_id, chat_id), "chat": chat_id, "all": 0}
        rows = await self.redis.calls(
            [
                ("HMGET", keys.global_key("{usage}:day", kind, owner, day), "prompt", "completion", "micros")
                for kind, owner in owners.items()
            ]
        )
        return {kind: _used(cast("list[str | None]", row)) for kind, row in zip(owners, rows, strict=True)}

    def day_ends_in(self) -> float:
        """Return the seconds until usage counts from zero again."""
        return _day_ends_in(self.clock())


def _used(row: list[str | None]) -> Used:
    prompt, completion, micros = (int(value or 0) for value in row)
    return Used(tokens=prompt + completion, money=micros / MICROS)


def _day(now: float) -> str:
    return f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d}"


def _day_ends_in(now: float) -> float:
    return _DAY_S - now % _DAY_S


def refusal_text(words: Words, limits: UsageLimits, *, limit: str, wait_s: float) -> str:
    """Return the sentence for a reached limit, such as "user_messages" or "chat_tokens"."""
    owner, _, what = limit.partition("_")
    of = limits.user if owner == "user" else limits.chat
    most = {"messages": of.messages_per_minute, "tokens": of.tokens_per_day, "money": of.money_per_day}[what]
    return words(f"limit-{owner}-{what}", limit=most, wait=wait_text(words, wait_s))


def wait_text(words: Words, seconds: float) -> str:
    """Return a time to wait, rounded up to seconds, minutes or hours."""
    if seconds <= _MINUTE_S:
        return words("wait-seconds", count=math.ceil(seconds))
    if seconds <= _IN_MINUTES_UNTIL_S:
        return words("wait-minutes", count=math.ceil(seconds / _MINUTE_S))
    return words("wait-hours", count=math.ceil(seconds / _HOUR_S))


def usage_text(words: Words, guard: LimitGuard, *, user: Used, chat: Used) -> str:
    """Return the text of /usage for one person in one chat."""
    limits, owners = guard.limits, (("you", user), ("chat", chat))
    used = [used_text(words, whose, each, guard) for whose, each in owners if each.tokens]
    lines = [words("usage-title"), *used, ""] if used else [words("usage-none"), ""]
    if limits.are_none:
        lines.append(words("usage-limits-none"))
    if any(limits.user):
        lines.append(words("usage-limits-you", limits=_limits_text(words, limits.user)))
    if any(limits.chat):
        lines.append(words("usage-limits-chat", limits=_limits_text(words, limits.chat)))
    lines.append(words("usage-resets", wait=wait_text(words, guard.day_ends_in())))
    return "\n".join(lines)


def used_text(words: Words, whose: str, used: Used, guard: LimitGuard) -> str:
    """Return one line about usage, with money if prices are set. `whose` is "you", "chat" or "all"."""
    tokens = words("usage-tokens", count=used.tokens)
    if guard.prices:
        return words(f"usage-{whose}-money", tokens=tokens, money=used.money)
    return words(f"usage-{whose}", tokens=tokens)


def _limits_text(words: Words, limits: OwnerLimits) -> str:
    parts: list[str] = []
    if limits.messages_per_minute:
        parts.append(words("usage-limit-messages", count=limits.messages_per_minute))
    if limits.tokens_per_day:
        parts.append(words("usage-limit-tokens", count=limits.tokens_per_day))
    if limits.money_per_day:
        parts.append(words("usage-limit-money", money=limits.money_per_day))
    return words("list-separator").join(parts)
