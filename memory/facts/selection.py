"""Selection of the memories that a prompt tells: the best messages, and facts in place of the next ones."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.history.fact import Fact
from memory.history.message import EXPIRED

if TYPE_CHECKING:
    from memory.chat_history import RankedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """Messages and facts to tell, both with the best first."""

    messages: "tuple[RankedMessage, ...]" = ()
    facts: tuple[Fact, ...] = ()
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """Names of the people of the context, by sender id."""
    is_incomplete: bool = False
    """True if the index was being filled after a loss of data: the search may have missed messages."""


def facts_share(k: int) -> int:
    """Return how many of `k` memories may be facts."""
    return max(0, k) * 3 // 8


def select_memories(
    ranked: "Sequence[RankedMessage]", k: int, *, visible_ids: Collection[str] = ()
) -> Memories:
    """Return up to `k` memories of a ranking, the best first. No message and no fact is told twice.

    The best messages are told as they are. Facts stand for the messages after them, as far as `facts_share` allows.
    A fact whose message is told, or is visible already, adds nothing, unless a person has corrected it. Messages take
    what facts leave. An expired message has no words: only its facts are told.
    """
    limit = facts_share(k)
    count = max(0, k) - limit
    messages = [each for each in ranked if each.message.note != EXPIRED][:count]
    others = [each for each in ranked if each not in messages]
    told = {*visible_ids, *(each.message.id for each in messages)}
    facts = {each.id: each for each in _facts_of(messages) if each.is_corrected}
    for fact in _facts_of(others):
        if fact.is_corrected or told.isdisjoint(fact.message_ids):
            facts.setdefault(fact.id, fact)
    chosen = tuple(facts.values())[:limit]
    told.update(each for fact in chosen for each in fact.message_ids)
    messages += _untold(others, told)[: limit - len(chosen)]
    return Memories(messages=tuple(messages), facts=chosen)


def _facts_of(ranked: "Sequence[RankedMessage]") -> Iterator[Fact]:
    """Yield the facts of each message, first those that still hold."""
    for each in ranked:
        yield from sorted(each.facts, key=lambda fact: fact.valid_to is not None)


def _untold(ranked: "Sequence[RankedMessage]", told: Collection[str]) -> "list[RankedMessage]":
    return [each for each in ranked if each.message.id not in told and each.message.note != EXPIRED]
