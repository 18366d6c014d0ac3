"""Conversations as lines of quoted data, for a model that reads them to summarise."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from memory.characters import as_read, well_formed
from memory.history.ledger import LedgerEntry
from memory.history.message import Message, clock_of, foreign_origins, text_origin
from memory.zones.clocks import ON_UTC, Clocks

_NAME_CHARACTERS = 40
_NOT_IN_NAMES = re.compile(r"[^\w .'’-]+")  # noqa: RUF001 - the apostrophe of names
_RESERVED_NAMES = frozenset(["assistant", "bot", "developer", "me", "system", "tool", "user", "you"])
_INPUT_CHARACTERS = 400
_OUTPUT_CHARACTERS = 800
"""Limits of a call in a transcript: the summary needs its result, and the ledger or an artifact has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A message, or one of the `parts` that it was cut into; `text` is the text of that part."""

    message: Message
    text: str
    part: int = 1
    parts: int = 1


Line = Excerpt | LedgerEntry
"""One line of a transcript."""


def render_line(line: Line, clocks: Clocks = ON_UTC) -> str:
    """Render the line. Its texts are JSON strings, so nothing in them can end the quotation or imitate a line.

    The time is that on the clock of its writer, because "tomorrow" is a day there: MemTensor/MemOS#2369.
    """
    return _render_entry(line) if isinstance(line, LedgerEntry) else _render_excerpt(line, clocks)


def quote(text: str) -> str:
    """Return the text as a JSON string on one line, also for readers that know other line breaks."""
    quoted = json.dumps(well_formed(text), ensure_ascii=False)
    for separator in ("\u0085", "\u2028", "\u2029"):  # JSON leaves these as they are
        quoted = quoted.replace(separator, f"\\u{ord(separator):04x}")
    return quoted


def quote_json(value: object) -> str:
    """Return plain JSON data on one line, with every text quoted by `quote`."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return "{" + ", ".join(f"{quote(name)}: {quote_json(inner)}" for name, inner in fields.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(quote_json, cast("Sequence[object]", value))) + "]"
    return quote(str(value))


def _render_excerpt(excerpt: Excerpt, clocks: Clocks) -> str:
    message = excerpt.message
    when = clocks.minute(message.sent_at, clock_of(message))
    part = f" (part {excerpt.part} of {excerpt.parts})" if excerpt.parts > 1 else ""
    # Round brackets tell what is attached, but a part of a long message may begin in the middle of that.
    shown = message if excerpt.parts > 1 else replace(message, origin=text_origin(message), note="")
    origins = ", ".join(foreign_origins(replace(shown, quote=None)))
    quoting = f" [quoting: {origins}]" if origins else ""
    imported = f" [imported from {message.imported_from}]" if message.imported_from else ""
    return f"[{when}] {render_speaker(message)}{imported}{quoting}{part}: {quote(excerpt.text)}"


def render_speaker(message: Message) -> str:
    """Return the role and name of the sender, without characters that imitate a line and without reserved names."""
    if message.role != "user" or message.sender is None:
        return message.role
    return render_name(message.sender.name)


def render_name(display_name: str) -> str:
    """Return the name of a person as `render_speaker` shows it; "user" for a blank one."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", display_name).split())[:_NAME_CHARACTERS].strip()
    is_taken = as_read(name).strip(".'’-") in _RESERVED_NAMES  # noqa: RUF001
    return f"user {name}".strip() if not name or is_taken else name


def _render_entry(entry: LedgerEntry) -> str:
    artifact = {"artifact": entry.artifact_id} if entry.artifact_id else {}
    request, result = _cut(entry.input, _INPUT_CHARACTERS), _cut(entry.output, _OUTPUT_CHARACTERS)
    kind = "error" if entry.is_error else "output"
    return quote_json({entry.kind: entry.name, **artifact, "input": request, kind: result})


def _cut(text: str, at_most: int) -> str:
    half = at_most // 2
    return text if len(text) <= at_most else f"{text[:half]} […] {text[-half:]}"
