"""The form of a summary at rest, and of the ids that it covers."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from memory.history.summary import ArtifactNote, Fact, Summary, SummaryText


def dump_summary(summary: Summary) -> str:
    """The summary as one line of ASCII JSON."""
    return json.dumps(asdict(summary), separators=(",", ":"))


def parse_summary(line: str) -> Summary:
    """The inverse of `dump_summary`; raises ValueError, KeyError or TypeError on a line that is not one."""
    found = cast(dict[str, Any], json.loads(line))
    told = _parse_text(cast(dict[str, Any], found.pop("text")))
    return Summary(text=told, **found)


def dump_covers(ids: Sequence[str]) -> str:
    """The ids of messages as one line of ASCII JSON."""
    return json.dumps(list(ids), separators=(",", ":"))


def parse_covers(line: str | None) -> tuple[str, ...]:
    """The inverse of `dump_covers`; none for None."""
    return tuple(json.loads(line)) if line else ()


def _parse_text(found: dict[str, Any]) -> SummaryText:
    """A field that is missing is empty: one that a later version adds is not in an older summary."""
    facts = tuple(Fact(**fact) for fact in found.pop("facts", ()))
    notes = tuple(ArtifactNote(**note) for note in found.pop("artifacts", ()))
    lists: dict[str, Any] = {
        name: tuple(cast(list[str], value)) if isinstance(value, list) else value
        for name, value in found.items()
    }
    return SummaryText(facts=facts, artifacts=notes, **lists)
