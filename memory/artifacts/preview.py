"""Previews of long texts: a few lines with keys, counts and first rows, or the beginning and the end."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import cast

from memory.characters import well_formed

_SAMPLE_CHARACTERS = 100_000
"""Characters that are examined to find the format of a text."""
_SAMPLE_ROWS = 20
_DEEPEST_ROW = 3
_NAME_CHARACTERS = 60

_OPENS_JSON = re.compile(r"\s*[\[{]")
_TABLE_LINE = re.compile(r"[^\n|]*\|[^\n]*(?:\n|\Z)")
_DELIMITERS = {",": "CSV", "\t": "TSV", ";": "CSV (with semicolons)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """Limits of a preview: levels of nesting, rows of an array, keys of an object, characters of a value."""

    depth: int
    rows: int
    keys: int
    width: int


_DETAILS = (
    _Detail(depth=4, rows=5, keys=40, width=240),
    _Detail(depth=4, rows=3, keys=30, width=140),
    _Detail(depth=3, rows=3, keys=24, width=100),
    _Detail(depth=3, rows=2, keys=16, width=70),
    _Detail(depth=2, rows=2, keys=12, width=50),
    _Detail(depth=2, rows=1, keys=8, width=40),
    _Detail(depth=1, rows=1, keys=5, width=30),
)

Describe = Callable[[_Detail], Iterable[str]]


def preview(text: str, *, at_most: int) -> str:
    """Return a preview of `text` with up to `at_most` characters, without lone surrogates.

    JSON, JSON lines, CSV, TSV and Markdown tables show their structure; other texts their beginning and end. Damaged
    and too deeply nested data is treated as plain text.
    """
    describe = _json(text) or _json_lines(text) or _markdown_table(text) or _delimited(text)
    if describe is None:
        return _plain(text, at_most)
    shown = ""
    for detail in _DETAILS:
        shown = well_formed("\n".join(describe(detail)))
        if len(shown) <= at_most:
            break
    return shown[: max(at_most, 0)]


# JSON -----------------------------------------------------------------------------------------------------
def _json(text: str) -> Describe | None:
    if not _OPENS_JSON.match(text):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    counts = _KeyCounts()
    return lambda detail: _outline("JSON ", value, detail, counts)


def _json_lines(text: str) -> Describe | None:
    if not _OPENS_JSON.match(text) or "\n" not in text:
        return None
    sample = [line for line in text[:_SAMPLE_CHARACTERS].split("\n")[:_SAMPLE_ROWS] if line.strip()]
    if len(sample) < 2 or any(not _OPENS_JSON.match(line) for line in sample):
        return None
    rows, damaged = _read_lines(text)
    if damaged > len(rows):
        return None
    counts = _KeyCounts()
    label = f"JSON lines ({damaged} more cannot be read), " if damaged else "JSON lines, "
    return lambda detail: _outline(label, rows, detail, counts)


def _read_lines(text: str) -> tuple[list[object], int]:
    """Return the values of the lines, and the number of lines that cannot be read."""
    try:  # many times faster than line by line
        return json.loads("[" + text.strip().replace("\n", ",") + "]"), 0
    except (ValueError, RecursionError):
        pass
    rows: list[object] = []
    damaged = 0
    for line in io.StringIO(text):
        if not line.isspace():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                damaged += 1
    return rows, damaged


class _KeyCounts:
    """Counts of the rows of an array that have each key, made once for all details."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[str]] = {}

    def of(self, rows: Sequence[object]) -> Counter[str]:
        if id(rows) not in self._counts:
            objects = (cast("dict[str, object]", row) for row in rows if isinstance(row, dict))
            self._counts[id(rows)] = Counter(chain.from_iterable(objects))
        return self._counts[id(rows)]


def _outline(
    label: str, value: object, detail: _Detail, counts: _KeyCounts, *, depth: int = 0
) -> Iterator[str]:
    """Yield the lines of one value, with its inner values indented below it."""
    indent = "  " * depth
    if depth >= detail.depth or not isinstance(value, dict | list) or not value:
        yield f"{indent}{label}{_compact(cast(object, value), detail.width)}"
    elif isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        yield f"{indent}{label}object, {_counted(len(fields), 'key')}:"
        for key, inner in islice(fields.items(), detail.keys):
            yield from _outline(f"{_quoted(key, _NAME_CHARACTERS)}: ", inner, detail, counts, depth=depth + 1)
        yield from _left_out(len(fields) - detail.keys, "key", indent)
    else:
        rows = cast("list[object]", value)
        yield f"{indent}{label}array of {_kinds(rows)}:"
        keys = counts.of(rows)
        if keys:
            yield f"{indent}  keys: {_key_counts(keys, detail.keys)}"
        for number, row in enumerate(rows[: detail.rows]):
            if len(rows) <= detail.rows:
                yield from _outline(f"[{number}] ", row, detail, counts, depth=depth + 1)
            else:
                yield f"{indent}  [{number}] {_compact(row, detail.width)}"
        yield from _left_out(len(rows) - detail.rows, "row", indent)


def _compact(value: object, width: int, deeper: int = _DEEPEST_ROW) -> str:
    """The value on one line of about `width` characters; what it leaves out is counted."""
    if isinstance(value, str):
        more = f"… ({len(value)} characters)" if len(value) > width else ""
        return _quoted(value, width) + more
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        if fields and deeper == 0:
            return f"{{… {_counted(len(fields), 'key')}}}"
        each = (
            f"{_quoted(key, _NAME_CHARACTERS)}: {_compact(inner, width // 2, deeper - 1)}"
            for key, inner in fields.items()
        )
        return "{" + _joined(each, len(fields), width) + "}"
    if isinstance(value, list):
        rows = cast("list[object]", value)
        if rows and deeper == 0:
            return f"[… {_counted(len(rows), 'row')}]"
        return "[" + _joined((_compact(row, width // 2, deeper - 1) for row in rows), len(rows), width) + "]"
    shown = json.dumps(value)
    return shown if len(shown) <= width else f"{shown[:width]}… ({len(shown)} characters)"


def _joined(parts: Iterable[str], number: int, width: int) -> str:
    """As many of them as `width` characters hold, and at least the first."""
    taken: list[str] = []
    room = width
    for part in parts:
        if taken and len(part) > room:
            break
        taken.append(part)
        room -= len(part) + 2
    more = [f"… {number - len(taken)} more"] if number > len(taken) else []
    return ", ".join([*taken, *more])


def _kinds(rows: Sequence[object]) -> str:
    """`3 objects`, or `3 (2 objects, 1 null)`."""
    kinds = Counter(map(type, rows)).most_common()
    told: Counter[str] = Counter()
    for kind, number in kinds:
        told[_KIND_NAMES.get(kind, "other")] += number
    each = [_counted(number, name) for name, number in told.items()]
    return each[0] if len(each) == 1 else f"{len(rows)} ({', '.join(each)})"


_KIND_NAMES: Mapping[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def _key_counts(keys: Counter[str], at_most: int) -> str:
    shown = [f"{_quoted(key, _NAME_CHARACTERS)} in {number}" for key, number in keys.most_common(at_most)]
    more = [f"… {len(keys) - at_most} more"] if len(keys) > at_most else []
    return ", ".join([*shown, *more])


# Tables ---------------------------------------------------------------------------------------------------
def _markdown_table(text: str) -> Describe | None:
    """A table that begins within the first lines; what stands before and after it is counted."""
    lines = text[:_SAMPLE_CHARACTERS].split("\n")[:_SAMPLE_ROWS]
    rule = next((at for at, line in enumerate(lines) if at and _is_rule(line) and "|" in lines[at - 1]), None)
    if rule is None:
        return None
    header = _cells(lines[rule - 1])
    before = sum(len(line) + 1 for line in lines[: rule - 1])
    at = min(before + len(lines[rule - 1]) + len(lines[rule]) + 2, len(text))
    first: list[list[str]] = []
    number = 0
    while at < len(text) and (line := _TABLE_LINE.match(text, at)):
        if len(first) < _SAMPLE_ROWS:
            first.append(_cells(line[0]))
        number, at = number + 1, line.end()
    name = f"Markdown table ({before} characters before it, {len(text) - at} after it)"
    return lambda detail: _table(name, header, first, detail, number=number)


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and set(line) <= set("|:- \t\r")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _delimited(text: str) -> Describe | None:
    """CSV or TSV: a header of distinct names, and rows of as many cells."""
    whole = len(text) <= _SAMPLE_CHARACTERS
    sample = text[:_SAMPLE_CHARACTERS]
    for delimiter, name in _DELIMITERS.items():
        if delimiter not in sample:
            continue
        try:
            rows = _records(sample, delimiter)
            first = list(islice(rows, _SAMPLE_ROWS + 1))
            # The sample may end within its last row.
            checked = first if whole or len(first) > _SAMPLE_ROWS else first[:-1]
            if not _is_table(checked):
                continue
            number = sum(1 for _ in _records(text, delimiter)) - 1
        except csv.Error:
            continue
        return lambda detail, name=name: _table(name, checked[0], checked[1:], detail, number=number)
    return None


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    if len(rows) < 3:
        return False
    header = [name.strip() for name in rows[0]]
    is_header = len(header) > 1 and all(header) and len(set(header)) == len(header)
    is_prose = header[-1].endswith((".", "!", "?"))
    return is_header and not is_prose and all(len(row) == len(header) for row in rows)


def _table(
    name: str, header: Sequence[str], rows: Sequence[Sequence[str]], detail: _Detail, *, number: int
) -> Iterator[str]:
    names = [_quoted(cell, _NAME_CHARACTERS) for cell in header[: detail.keys]]
    more = [f"… {len(header) - detail.keys} more"] if len(header) > detail.keys else []
    yield f"{name}, {_counted(number, 'row')}, {_counted(len(header), 'column')}: {', '.join([*names, *more])}"
    for at, row in enumerate(rows[: detail.rows]):
        yield f"  [{at}] {_compact(list(row), detail.width)}"
    yield from _left_out(number - min(detail.rows, len(rows)), "row", "")


# Everything else ------------------------------------------------------------------------------------------
def _plain(text: str, at_most: int) -> str:
    lines = text.count("\n") + 1 if text else 0
    heading = f"Text, {_counted(lines, 'line')}, {_counted(len(text), 'character')}:"
    room = at_most - len(heading) - 1
    if len(text) <= room:
        return f"{heading}\n{well_formed(text)}"
    room -= 50  # for the line between
    if room < 60:
        return heading[: max(at_most, 0)]
    beginning, end = _whole_lines(text[: 2 * room // 3], text[-(room // 3) :])
    left_out = len(text) - len(beginning) - len(end)
    return "\n".join(
        [heading, well_formed(beginning), f"… {left_out} characters left out …", well_formed(end)]
    )


def _whole_lines(beginning: str, end: str) -> tuple[str, str]:
    """Both without the line that was cut, where that costs less than half of them."""
    last, first = beginning.rfind("\n"), end.find("\n")
    return (
        beginning[:last] if last > len(beginning) // 2 else beginning,
        end[first + 1 :] if 0 <= first < len(end) // 2 else end,
    )


def _quoted(text: str, at_most: int) -> str:
    return json.dumps(text[:at_most], ensure_ascii=False)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "null" else f"{number} {noun}s"


def _left_out(number: int, noun: str, indent: str) -> Iterator[str]:
    if number > 0:
        yield f"{indent}  … {_counted(number, f'more {noun}')}"
