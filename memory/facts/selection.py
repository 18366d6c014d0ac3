"""Selection of the memories that a prompt tells, within a number of lines and of tokens."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from memory.history.fact import Fact
from memory.history.message import EXPIRED

if TYPE_CHECKING:
    from memory.chat_history import RankedMessage
    from memory.history.message import Message

Line = TypeVar("Line", "RankedMessage", Fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """Messages and facts to tell, both with the best first."""

    messages: "tuple[RankedMessage, ...]" = ()
    facts: tuple[Fact, ...] = ()
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """Names of the people of the context, by sender id."""
    is_incomplete: bool = False
    """True if the index was being filled after a loss of data: the search may have missed messages."""


def _costs_nothing(_: "RankedMessage | Fact") -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallBudget:
    """The room for memories in a prompt."""

    lines: int
    tokens: int = 0
    """Of all lines, with their headings."""
    cost: "Callable[[RankedMessage | Fact], int]" = _costs_nothing
    """Return the tokens of a line."""
    heading: int = 0
    """Tokens of the heading above the messages, and of that above the facts, each."""


def facts_share(whole: int) -> int:
    """Return the part of this number of lines, or of tokens, that may be of facts."""
    return max(0, whole) * 3 // 8


def select_memories(
    ranked: "Sequence[RankedMessage]",
    budget: RecallBudget,
    *,
    visible_ids: Collection[str] = (),
    shorten: "Callable[[RankedMessage], RankedMessage]" = lambda hit: hit,
) -> Memories:
    """Return memories of a ranking within a budget, the best first. No message and no fact is told twice.

    The best messages are told, after `shorten`. Facts stand for the messages after them, as far as `facts_share`
    allows. A fact whose message is told, or is visible already, adds nothing, unless a person has corrected it.
    Messages take what facts leave. A kind of memory ends at the first line that does not fit. An expired message has
    no words: only its facts are told.
    """
    room = _Room(budget)
    marked = mark_updates(ranked)
    share = facts_share(budget.lines)
    living = [each for each in marked if each.message.note != EXPIRED]
    messages = room.fill(map(shorten, living), lines=budget.lines - share, spared=facts_share(budget.tokens))
    taken = {each.message.id for each in messages}
    rest = [each for each in marked if each.message.id not in taken]
    told = {*visible_ids, *(each.message.id for each in messages)}
    corrected = (fact for fact in _facts_of(messages) if fact.is_corrected)
    others = (fact for fact in _facts_of(rest) if fact.is_corrected or told.isdisjoint(fact.message_ids))
    facts = room.fill({fact.id: fact for fact in chain(corrected, others)}.values(), lines=share)
    told.update(each for fact in facts for each in fact.message_ids)
    untold = (shorten(each) for each in living if each.message.id not in told)
    messages += room.fill(untold, lines=budget.lines - len(messages) - len(facts))
    return Memories(messages=tuple(mark_updates(messages)), facts=tuple(facts))


class _Room:
    """The tokens that are left of a budget."""

    def __init__(self, budget: RecallBudget) -> None:
        self._budget = budget
        self._left = budget.tokens
        self._has_heading: set[type] = set()

    def fill(self, items: Iterable[Line], *, lines: int, spared: int = 0) -> list[Line]:
        """Return the first items that fit in this number of lines and in the room without the `spared` tokens."""
        taken: list[Line] = []
        for item in items:
            cost = self._budget.cost(item)
            cost += 0 if type(item) in self._has_heading else self._budget.heading
            if len(taken) >= lines or cost > self._left - spared:
                break
            self._has_heading.add(type(item))
            self._left -= cost
            taken.append(item)
        return taken


def mark_updates(messages: "Sequence[RankedMessage]") -> "list[RankedMessage]":
    """Return the messages with their updates among them: the nearest one, or one whose fact closes a fact of theirs.

    A message that updates another one is marked too.
    """
    by_sequence = {each.message.sequence: each for each in messages}
    by_fact = {fact.id: each for each in messages for fact in each.facts}
    updates: dict[str, Message] = {}
    for each in messages:
        closers = (by_fact.get(fact.closed_by) for fact in each.facts if fact.closed_by)
        found = (*map(by_sequence.get, each.newer), *closers)
        later = [hit.message for hit in found if hit and hit.message.sent_at > each.message.sent_at]
        if later:
            updates[each.message.id] = later[0]
    newer = {message.id for message in updates.values()}
    newer.update(
        by_sequence[sequence].message.id
        for each in messages
        for sequence in each.newer
        if sequence in by_sequence
    )
    return [
        replace(each, update=updates.get(each.message.id), is_update=each.message.id in newer)
        for each in messages
    ]


def _facts_of(ranked: "Iterable[RankedMessage]") -> Iterator[Fact]:
    """Yield the facts of each message, first those that hold, without standing wishes.

    The prompts of their writers have these anyway, and those of others must not.
    """
    for each in ranked:
        told = (fact for fact in each.facts if not fact.is_standing)
        yield from sorted(told, key=lambda fact: fact.valid_to is not None)
