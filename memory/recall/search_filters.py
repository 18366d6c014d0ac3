"""Which messages a search may find, as people say it: those of somebody, and those of some days."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from memory.recall.lexicon.names import find_names
from memory.recall.lexicon.scripts import normal
from memory.recall.vector_index import Where

ASSISTANT_NAMES = frozenset(["assistant", "bot", "you", "yourself"])
"""What the assistant itself is called, in any case of letters."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_WORD = re.compile(r"\w+")


def people_named(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """The people (sender id → name) whom a name means: those of just that name, else those who have it among theirs,
    else those whom it names in a text: inflected, or short for theirs. Nobody for a blank one.
    """
    wanted = _words(name.removeprefix("@"))
    if not wanted:
        return frozenset(each for each, shown in people.items() if shown.strip() == name.strip() != "")
    called = {each: _words(shown) for each, shown in people.items()}
    whole = frozenset(each for each, words in called.items() if words == wanted)
    if whole:
        return whole
    among = frozenset(each for each, words in called.items() if set(wanted) <= set(words))
    # As within a sentence, and with capitals: short forms and names that are words too need both.
    return among or find_names(f"of {normal(name).title()}", people).ids


def parse_day(text: str) -> date:
    """The day in `2026-05-31`. Raises ValueError, in words that name the form."""
    try:
        if _DAY.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
    except ValueError:
        pass
    raise ValueError("must be a day such as 2026-05-31")


def on_days(where: Where, *, after: date | None, before: date | None) -> Where:
    """`where`, with only messages of these days (UTC), the first and the last included.

    Raises ValueError when the first comes after the last.
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
