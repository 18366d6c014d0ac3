"""What is allowed a minute and a day, and what is said of it (pure)."""

import math
from dataclasses import dataclass

from bot.transport.words import Words

MICROS = 1_000_000
"""Money is counted in millionths of the unit of the prices, which are for a million tokens."""
_MINUTE_S, _HOUR_S = 60, 3600
_IN_MINUTES_UNTIL_S = 90 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost; zeros where nobody wants to know."""

    per_million_input: float = 0
    per_million_output: float = 0

    @property
    def are_known(self) -> bool:
        """Whether there is anything to say about money."""
        return bool(self.per_million_input or self.per_million_output)

    def micros_of(self, prompt_tokens: int, completion_tokens: int) -> int:
        """The cost in MICROS, rounded up."""
        return math.ceil(prompt_tokens * self.per_million_input + completion_tokens * self.per_million_output)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerLimits:
    """What each person, or each chat, may have; 0 is no limit."""

    messages_per_minute: int = 0
    tokens_per_day: int = 0
    money_per_day: float = 0

    @property
    def are_none(self) -> bool:
        """Whether nothing is limited."""
        return not (self.messages_per_minute or self.tokens_per_day or self.money_per_day)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLimits:
    """The limits of the settings."""

    user: OwnerLimits = OwnerLimits()
    chat: OwnerLimits = OwnerLimits()
    prices: Prices = Prices()

    @property
    def are_none(self) -> bool:
        """Whether nothing is limited."""
        return self.user.are_none and self.chat.are_none


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Tokens of prompts and answers, and what they cost."""

    tokens: int = 0
    money: float = 0


def refusal_text(words: Words, limits: UsageLimits, *, limit: str, wait_s: float) -> str:
    """Which limit is reached, how much it is, and when it is free again. `limit`: "user_messages", "chat_tokens" …"""
    owner, _, what = limit.partition("_")
    of = limits.user if owner == "user" else limits.chat
    most = {"messages": of.messages_per_minute, "tokens": of.tokens_per_day, "money": of.money_per_day}[what]
    return words(f"limit-{owner}-{what}", limit=most, wait=wait_text(words, wait_s))


def wait_text(words: Words, seconds: float) -> str:
    """A time to wait, rounded up: in seconds, minutes or hours."""
    if seconds <= _MINUTE_S:
        return words("wait-seconds", count=math.ceil(seconds))
    if seconds <= _IN_MINUTES_UNTIL_S:
        return words("wait-minutes", count=math.ceil(seconds / _MINUTE_S))
    return words("wait-hours", count=math.ceil(seconds / _HOUR_S))


def usage_text(words: Words, limits: UsageLimits, *, user: Used, chat: Used, resets_in_s: float) -> str:
    """What /usage says to one person in one chat."""
    used = [
        used_text(words, whose, each, limits.prices)
        for whose, each in (("you", user), ("chat", chat))
        if each.tokens
    ]
    lines = [words("usage-title"), *used, ""] if used else [words("usage-none"), ""]
    if limits.are_none:
        lines.append(words("usage-limits-none"))
    if not limits.user.are_none:
        lines.append(words("usage-limits-you", limits=_limits_text(words, limits.user)))
    if not limits.chat.are_none:
        lines.append(words("usage-limits-chat", limits=_limits_text(words, limits.chat)))
    lines.append(words("usage-resets", wait=wait_text(words, resets_in_s)))
    return "\n".join(lines)


def used_text(words: Words, whose: str, used: Used, prices: Prices) -> str:
    """One line of what was used; with money where prices are set. `whose`: "you", "chat", or "all"."""
    tokens = words("usage-tokens", count=used.tokens)
    if prices.are_known:
        return words(f"usage-{whose}-money", tokens=tokens, money=used.money)
    return words(f"usage-{whose}", tokens=tokens)


def _limits_text(words: Words, limits: OwnerLimits) -> str:
    told: list[str] = []
    if limits.messages_per_minute:
        told.append(words("usage-limit-messages", count=limits.messages_per_minute))
    if limits.tokens_per_day:
        told.append(words("usage-limit-tokens", count=limits.tokens_per_day))
    if limits.money_per_day:
        told.append(words("usage-limit-money", money=limits.money_per_day))
    return words("list-separator").join(told)
