"""Previews of long texts: their type, their size and their first lines."""

import json
import re
from typing import cast

from memory.characters import well_formed

_OPENS_JSON = re.compile(r"\s*[\[{]")
_ROOM_FOR_REST = 40
"""Characters of the last line, which counts what is left out."""


def preview(text: str, *, at_most: int) -> str:
    """Return a preview of `text` with up to `at_most` characters, without lone surrogates.

    The last line is cut if leaving it out would cost more than half of what is shown.
    """
    lines = text.count("\n") + bool(text)
    heading = f"{_type_of(text)}, {_counted(lines, 'line')}, {_counted(len(text), 'character')}:"
    room = at_most - len(heading) - 1
    if len(text) <= room:
        return f"{heading}\n{well_formed(text)}"
    shown = text[: max(room - _ROOM_FOR_REST, 0)]
    last = shown.rfind("\n")
    if last > len(shown) // 2:
        shown = shown[:last]
    rest = f"… {len(text) - len(shown)} more characters"
    return "\n".join([heading, well_formed(shown), rest])[: max(at_most, 0)]


def _type_of(text: str) -> str:
    """Return the type of a text, with the number of rows or keys of JSON. Damaged or too deep JSON is text."""
    if _OPENS_JSON.match(text):
        try:
            value = cast("list[object] | dict[str, object]", json.loads(text))
        except (ValueError, RecursionError):
            return "Text"
        if isinstance(value, list):
            return f"JSON array of {_counted(len(value), 'row')}"
        return f"JSON object of {_counted(len(value), 'key')}"
    return "Text"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
