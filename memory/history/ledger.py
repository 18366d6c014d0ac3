"""The ledger: tool calls, their results, delegations and transfers of the turns of a conversation."""

import json
import math
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Literal, NoReturn

from memory.codec import Id

EntryKind = Literal["tool", "delegation", "transfer"]

_NAME_CHARACTERS = 64
_NOT_IN_NAMES = re.compile(r"[^\w .-]+")
# JSON does not escape these: readers may take the first three for line ends, and surrogates cannot be encoded.
_NOT_PLAIN = re.compile("[\u0085\u2028\u2029\ud800-\udfff]")
_DEEPEST = 20
"""JSON with deeper nesting is rendered as a string: indentation would multiply it, and readers fail on it."""
_BRACKETS = re.compile(r"[\[\]{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFile:
    """A file that a call has made for the chat."""

    id: str
    """Under which its bytes wait to be sent (memory/artifacts/store.py)."""
    name: str
    is_picture: bool = False
    prompt: str = ""
    """The words that it was made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One call and its result."""

    id: str
    kind: EntryKind
    agent: str
    """The agent that called."""
    name: str
    """The tool, or the agent that a delegation or a transfer went to."""
    input: str
    """JSON text."""
    output: str
    """The result as the model read it; for an artifact, its reference."""
    is_error: bool = False
    delegation_id: str = ""
    """Path of the delegation that it ran in: "" for the chat's agent, `a` for its delegate, `a/b` below that."""
    opened: str = ""
    """Path that a delegation's own entry opened."""
    artifact_id: str = ""
    quotes: str = ""
    """Ids, with spaces, of quoted messages and artifacts. Erasing one of them erases this entry's turn too."""
    files: tuple[LedgerFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTurn:
    """Calls of one turn, with the sequences of its first and last message."""

    SCRIPT_FIELDS: ClassVar = frozenset({"first_sequence", "last_sequence"})
    first_sequence: Id
    last_sequence: Id
    entries: tuple[LedgerEntry, ...]


def is_visible(entry: LedgerEntry, delegation_id: str) -> bool:
    """Return True if an agent in this delegation may see the entry.

    It sees entries of the top level, of its own delegation, and of those above and below it. The chat's agent ("")
    sees everything.
    """
    other, own = entry.delegation_id, delegation_id
    return other == own or _is_above(other, own) or _is_above(own, other)


def is_within(entry: LedgerEntry, delegation_id: str) -> bool:
    """Return True if the entry belongs to this delegation, or to one below it."""
    return entry.delegation_id == delegation_id or _is_above(delegation_id, entry.delegation_id)


def render_entry(entry: LedgerEntry) -> str:
    """Render the entry for a prompt. Input and output are JSON, so no line of them begins with `## ` or `**`.

    Objects and arrays are indented; any other text is one JSON string.
    """
    failed = " (failed)" if entry.is_error else ""
    return f"## {_title(entry)}\n\n**Input:**\n{_as_json(entry.input)}\n\n**Output{failed}:**\n{_as_json(entry.output)}"


def _is_above(path: str, other: str) -> bool:
    return not path or other.startswith(f"{path}/")


def _title(entry: LedgerEntry) -> str:
    if entry.kind == "tool":
        return f"Tool: {_safe_name(entry.name)}"
    return f"{entry.kind.capitalize()}: {_safe_name(entry.agent)} → {_safe_name(entry.name)}"


def _safe_name(name: str) -> str:
    return " ".join(_NOT_IN_NAMES.sub(" ", name).split())[:_NAME_CHARACTERS].strip() or "unnamed"


def _as_json(text: str) -> str:
    value = _read_structure(text)
    line = json.dumps(text if value is None else value, ensure_ascii=False, indent=2)
    return _NOT_PLAIN.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def _read_structure(text: str) -> object:
    """Return the JSON object or array in the text; None if there is none, or if reading would lose something."""
    if not text.lstrip().startswith(("{", "[")) or _is_deep(text):
        return None
    try:
        return json.loads(
            text, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_refuse_constant
        )
    except ValueError:
        return None


def _is_deep(text: str) -> bool:
    depths = accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKETS.findall(text))
    return any(depth > _DEEPEST for depth in depths)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("no such number")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
