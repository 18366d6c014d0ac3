"""Filters of a search in people's words: names of senders, and days."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from memory.recall.lexicon.languages import normal
from memory.recall.lexicon.names import find_names
from memory.recall.vector_index import Where

ASSISTANT_NAMES = frozenset(["assistant", "bot", "you", "yourself"])
"""Names of the assistant, compared without case."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_WORD = re.compile(r"\w+")


def find_people(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """Return the people (sender id → name) that a name means; nobody for a blank one.

    An exact match wins over people who have it among their names, and these win over inflected and short forms.
    """
    exact, name_words = find_same_name(name, people), set(_words(name.removeprefix("@")))
    if exact or not name_words:
        return exact
    partial = frozenset(each for each, full_name in people.items() if name_words <= set(_words(full_name)))
    # Inside a sentence and with capitals: short forms and names that are common words need both.
    return partial or find_names(f"of {normal(name).title()}", people).ids


def find_same_name(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """Return the people (sender id → name) with exactly this name, compared by its words; nobody for a blank one."""
    words = _words(name.removeprefix("@"))
    if not words:  # a name of signs
        return frozenset(
            each for each, full_name in people.items() if full_name.strip() == name.strip() != ""
        )
    return frozenset(each for each, full_name in people.items() if _words(full_name) == words)


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
        raise ValueError(f"after ({after}) is later than before ({before}): nothing could be found")
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
