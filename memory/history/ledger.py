"""The ledger: tool calls, their results, delegations and transfers, kept beside the two-way conversation."""

import json
import math
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NoReturn

EntryKind = Literal["tool", "delegation", "transfer"]

_NAME_CHARACTERS = 64
_NOT_IN_NAMES = re.compile(r"[^\w .-]+")
# JSON leaves these as they are: the first three may be taken for line ends, surrogates cannot be encoded.
_NOT_PLAIN = re.compile("[\u0085\u2028\u2029\ud800-\udfff]")
_DEEPEST = 20
"""JSON that is nested deeper is told as a string: indentation would multiply it, and readers fail on it."""
_BRACKETS = re.compile(r"[\[\]{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One call and what it gave. `input` is JSON text; `output` is what the model read, an artifact's reference too.

    `name` is the tool's; of a delegation or a transfer it is the agent's to whom it went. `delegation_id` is the
    path of the delegation within which it ran ("" for the agent that talks with the chat, `a` for one that it
    delegated to, `a/b` below that). A delegation's own entry belongs to who delegated; its `opened` is the path
    that it opened. `quotes` are the ids, with spaces, of the messages and artifacts that the output quotes: what
    erases one of these erases the entry's turn too.
    """

    id: str
    kind: EntryKind
    agent: str
    name: str
    input: str
    output: str
    is_error: bool = False
    delegation_id: str = ""
    opened: str = ""
    artifact_id: str = ""
    quotes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTurn:
    """What one turn called, and the messages of that turn: the sequences of its first and its last one."""

    first_sequence: int
    last_sequence: int
    entries: tuple[LedgerEntry, ...]


def is_visible(entry: LedgerEntry, delegation_id: str) -> bool:
    """Whether an agent that runs within this delegation sees the entry (rows I10 and I11).

    It sees what ran at the top level, within its own delegation, within those above it and below it; never
    what an unrelated one did. The agent that talks with the chat ("") sees everything.
    """
    theirs, ours = entry.delegation_id, delegation_id
    return theirs == ours or _is_above(theirs, ours) or _is_above(ours, theirs)


def is_within(entry: LedgerEntry, delegation_id: str) -> bool:
    """Whether the entry was called within this delegation, or within one below it."""
    return entry.delegation_id == delegation_id or _is_above(delegation_id, entry.delegation_id)


def render_entry(entry: LedgerEntry) -> str:
    """The entry as a prompt tells it (row I8). Input and output are JSON: objects and arrays are indented, any other
    text is one JSON string, so that nothing in them can begin a line with `## ` or `**`.
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
    told = json.dumps(text if value is None else value, ensure_ascii=False, indent=2)
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", told)


def _read_structure(text: str) -> object:
    """The JSON object or array in the text; None where it is neither, or where reading it would lose something."""
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
