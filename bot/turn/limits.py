"""How much of the bot one person and one chat may have: counted and checked in Redis, before a model is asked."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast
from uuid import uuid4

from bot.agent.model import Usage
from bot.observe import metrics
from bot.transport.words import Words
from bot.turn.limit_texts import MICROS, OwnerLimits, UsageLimits, Used, refusal_text
from memory import keys
from memory.redis.client import RedisClient, ScriptCall, load_script

_SCRIPTS = "bot.turn.scripts"
_DAY_S = 24 * 3600

Kind = Literal["user", "chat", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The updates of a turn, ascending, and for whom they count. Of an anonymous sender the chat is the user."""

    update_ids: tuple[int, ...]
    user_id: int
    chat_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A limit that is reached: the `reason` for the update's record, and the sentence, "" where it was just said."""

    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageToday:
    """What was used since 00:00 UTC by somebody, in a chat, and by everybody; and when that begins anew."""

    user: Used
    chat: Used
    everybody: Used
    resets_in_s: float


class LimitGuard:
    """Checks, and says how to book; `exempt` are the operators. Where no limit is set, a check costs nothing."""

    def __init__(
        self, redis: RedisClient, limits: UsageLimits, *, exempt: frozenset[int], clock: Callable[[], float]
    ) -> None:
        self._redis = redis
        self._limits = limits
        self._exempt = exempt
        self._clock = clock

    @property
    def limits(self) -> UsageLimits:
        """What is allowed."""
        return self._limits

    async def check(self, asked: Asked, words: Words) -> Refusal | None:
        """Count the updates of a turn, once however often this is asked; or why they are not answered.

        A turn of several updates is admitted while one of them would be, and counts as all of them. What is used
        is known when a turn ends, so the last one of a day may go over its tokens or money.
        """
        if self._limits.are_none or asked.user_id in self._exempt:
            return None
        now = self._clock()
        day, ends_in = _day(now), _day_ends_in(now)
        answer = await self._redis.run(
            load_script(_SCRIPTS, "admit_asked"),
            [
                keys.minute_key("user", asked.user_id),
                keys.usage_key("user", asked.user_id, day),
                keys.minute_key("chat", asked.chat_id),
                keys.usage_key("chat", asked.chat_id, day),
                keys.limit_told_key(asked.chat_id),
            ],
            [
                now,
                keys.MINUTE_TTL_S,
                ends_in,
                *_numbers(self._limits.user),
                *_numbers(self._limits.chat),
                *asked.update_ids,
            ],
        )
        if not answer[0]:
            return None
        limit, wait_s, is_told = str(answer[0]), int(answer[1]), bool(int(answer[2]))
        metrics.LIMITED.labels(limit).inc()
        told = refusal_text(words, self._limits, limit=limit, wait_s=wait_s)
        return Refusal(reason=f"limit_{limit}", text=told if is_told else "")

    def cost_of(self, usage: Usage) -> int | None:
        """What this use costs in MICROS; None where no price is set."""
        prices = self._limits.prices
        return prices.micros_of(usage.prompt_tokens, usage.completion_tokens) if prices.are_known else None

    def booking(self, asked: Asked, usage: Usage, *, run: str = "") -> tuple[ScriptCall, ...]:
        """What counts a turn's use, once for its newest update however often it is run; () where nothing was used.

        It goes with the turn's commit, in one trip, and counts whatever becomes of that. A `run` that comes to nothing
        counts by itself, beside that of the turn.
        """
        if not usage.prompt_tokens and not usage.completion_tokens:
            return ()
        day = _day(self._clock())
        book = ScriptCall(
            script=load_script(_SCRIPTS, "book_usage"),
            keys=[
                keys.booked_key(asked.update_ids[-1], run),
                keys.usage_key("user", asked.user_id, day),
                keys.usage_key("chat", asked.chat_id, day),
                keys.usage_key("all", 0, day),
            ],
            arguments=[
                keys.USAGE_TTL_S,
                usage.prompt_tokens,
                usage.completion_tokens,
                self._limits.prices.micros_of(usage.prompt_tokens, usage.completion_tokens),
            ],
        )
        return (book,)

    async def book(self, asked: Asked, usage: Usage) -> None:
        """Count what a run used that ends without a commit, and whose steps are forgotten: no other has them in its use."""
        booking = self.booking(asked, usage, run=uuid4().hex)
        if booking:
            await self._redis.run_all(booking)

    async def used_today(self, *, user_id: int, chat_id: int) -> UsageToday:
        """What was used today; zeros where nothing was."""
        now = self._clock()
        day = _day(now)
        owners: tuple[tuple[Kind, int], ...] = (("user", user_id), ("chat", chat_id), ("all", 0))
        rows = await self._redis.calls(
            [
                ("HMGET", keys.usage_key(kind, owner, day), "prompt", "completion", "micros")
                for kind, owner in owners
            ]
        )
        user, chat, everybody = (_used(cast("list[str | None]", row)) for row in rows)
        return UsageToday(user=user, chat=chat, everybody=everybody, resets_in_s=_day_ends_in(now))


def _numbers(limits: OwnerLimits) -> tuple[int, int, int]:
    return limits.messages_per_minute, limits.tokens_per_day, math.ceil(limits.money_per_day * MICROS)


def _used(row: list[str | None]) -> Used:
    prompt, completion, micros = (int(value or 0) for value in row)
    return Used(tokens=prompt + completion, money=micros / MICROS)


def _day(now: float) -> str:
    return f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d}"


def _day_ends_in(now: float) -> float:
    return _DAY_S - now % _DAY_S
