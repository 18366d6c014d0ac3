"""Search of a history: filters in people's words, messages to exclude, and the neighbours of a hit."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from memory.history.message import Message, is_indexed
from memory.recall.lexicon.languages import normal
from memory.recall.lexicon.names import find_names
from memory.recall.recall import RecallHit
from memory.recall.vector_index import Where

ASSISTANT_NAMES = frozenset(["assistant", "bot", "you", "yourself"])
"""Names of the assistant, compared without case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMessage:
    """A message that a search messages. A higher score is likelier to be what was searched for.

    `before` and `after` are its neighbours in the session, oldest first. They give context and are no hits.
    """

    message: Message
    score: float
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()


def exclude_shown(where: Where, shown_ids: Collection[str], newest: Sequence[Message]) -> Where:
    """Return `where` without the messages that are already in the prompt (`shown_ids`).

    `newest` are the newest messages, oldest first. A bound on the sequence excludes the part of them that is all
    shown. Earlier messages are excluded one by one.
    """
    bound = where.before_sequence
    single_ids = set(shown_ids)
    for message in reversed(newest):
        if message.sequence is None or (message.id not in shown_ids and is_indexed(message)):
            break
        single_ids.discard(message.id)
        bound = message.sequence if bound is None else min(bound, message.sequence)
    return replace(where, before_sequence=bound, excluded=where.excluded | single_ids)


def add_neighbours(
    hits: Sequence[RecallHit],
    messages: Mapping[str, Sequence[Message]],
    shown_ids: Collection[str],
    *,
    k: int,
) -> list[RankedMessage]:
    """Return the first `k` hits that still exist with their neighbours, no message twice and none of `shown_ids`.

    `messages` has the session around each hit (by its id), oldest first. A neighbour of two hits goes to the better
    one.
    """
    present = [hit for hit in hits if _index_of(hit, messages.get(hit.message_id, ())) is not None][:k]
    taken = {*shown_ids, *(hit.message_id for hit in present)}
    ranked: list[RankedMessage] = []
    for hit in present:
        around = messages[hit.message_id]
        place = _index_of(hit, around) or 0
        before = _neighbours(around[place::-1], taken)[::-1]
        after = _neighbours(around[place:], taken)
        ranked.append(
            RankedMessage(message=around[place], score=hit.score, before=tuple(before), after=tuple(after))
        )
    return ranked


def _index_of(hit: RecallHit, around: Sequence[Message]) -> int | None:
    return next((place for place, message in enumerate(around) if message.id == hit.message_id), None)


def _neighbours(away_from_hit: Sequence[Message], taken: set[str]) -> list[Message]:
    """Return the messages after the first that are not taken, and take them."""
    neighbours: list[Message] = []
    for message in away_from_hit[1:]:
        if message.id not in taken and is_indexed(message):
            taken.add(message.id)
            neighbours.append(message)
    return neighbours


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_WORD = re.compile(r"\w+")


def find_people(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """Return the people (sender id → name) that a name means; nobody for a blank one.

    An exact match wins over people who have it partial their names, and these win over inflected and short forms.
    """
    searched = _words(name.removeprefix("@"))
    if not searched:
        return frozenset(
            each for each, display_name in people.items() if display_name.strip() == name.strip() != ""
        )
    names = {each: _words(display_name) for each, display_name in people.items()}
    exact = frozenset(each for each, words in names.items() if words == searched)
    if exact:
        return exact
    partial = frozenset(each for each, words in names.items() if set(searched) <= set(words))
    # Inside a sentence and with capitals: short forms and names that are common words need both.
    return partial or find_names(f"of {normal(name).title()}", people).ids


def parse_day(text: str) -> date:
    """Parse a day such as `2026-05-31`. Raises ValueError, which names the format."""
    try:
        if _DAY.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
    except ValueError:
        pass
    raise ValueError("must be a day such as 2026-05-31")


def on_days(where: Where, *, after: date | None, before: date | None) -> Where:
    """Return `where` limited to messages of these days (UTC), both included.

    Raises ValueError if the first day is after the last.
    """
    if after is not None and before is not None and after > before:
        raise ValueError(f"after ({after}) is later than before ({before}): nothing could be messages")
    is_last = before is None or before == date.max
    return replace(
        where,
        sent_from=None if after is None else _midnight(after),
        sent_before=None if is_last or before is None else _midnight(before + timedelta(days=1)),
    )


def _midnight(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()


def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(normal(name).casefold()))
