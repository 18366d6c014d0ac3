"""Corrections of facts that people were asked for: a reply to the question becomes the fact's statement (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.codec import dump_json, parse_json

CORRECTION_WAITS_S = 3600
"""Seconds in which a reply counts as the correction. Later it is a message like others."""
CORRECTIONS_AT_MOST = 10
"""Questions of one chat or topic that wait at the same time, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedCorrection:
    """A question of the bot about one fact, whose answer is awaited."""

    telegram_id: int
    """Telegram id of the question. The answer replies to it."""
    fact_id: str
    sender_id: int
    """The person who was asked."""
    owner_id: int
    """The person whose list of facts was shown there."""
    first: int
    """Place of the first fact of the page that was shown there."""
    asked_at: float
    """Unix seconds."""


def find_correction(
    awaited: Sequence[AwaitedCorrection], *, telegram_id: int, sender_id: int | None, now: float
) -> AwaitedCorrection | None:
    """Return the question that a reply to this message by this person answers, or None."""
    for each in awaited:
        is_recent = now - each.asked_at < CORRECTION_WAITS_S
        if is_recent and (each.telegram_id, each.sender_id) == (telegram_id, sender_id):
            return each
    return None


def without_correction(
    awaited: Sequence[AwaitedCorrection], telegram_id: int
) -> tuple[AwaitedCorrection, ...]:
    """Return the questions except those in this message."""
    return tuple(each for each in awaited if each.telegram_id != telegram_id)


def with_correction(
    awaited: Sequence[AwaitedCorrection], new: AwaitedCorrection
) -> tuple[AwaitedCorrection, ...]:
    """Return the questions with a new one, without the one that its message had and those that have expired."""
    recent = [each for each in awaited if new.asked_at - each.asked_at < CORRECTION_WAITS_S]
    return (*without_correction(recent, new.telegram_id), new)[-CORRECTIONS_AT_MOST:]


def dump_corrections(awaited: Sequence[AwaitedCorrection]) -> str:
    """Return the questions as the store keeps them; "" if there are none."""
    return dump_json(tuple[AwaitedCorrection, ...], tuple(awaited)) if awaited else ""


def parse_corrections(line: str) -> tuple[AwaitedCorrection, ...]:
    """Return the questions that `dump_corrections` wrote."""
    return parse_json(tuple[AwaitedCorrection, ...], line) if line else ()
