"""Tables as a chat can show them: aligned by display width, or one record after another."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

from bot.transport.rich_text import LINK, Span

Cell: TypeAlias = tuple[str, list[Span]]
Lines: TypeAlias = list[list[str]]

TABLE_WIDTH = 40
"""Columns of a code block that a phone shows in one line."""

_NUMBER = re.compile(r"[+\-\u2212]?[$€£]?\d[\d.,\u202f ]*%?")
_EMOJI_STYLE = "\ufe0f"
_ZWJ = "\u200d"


def lay_out(rows: Sequence[Sequence[Cell]], room: int) -> Cell | None:
    """Return the text of a table, the header first, and its formatting; None if it needs more than `room`.

    Tables with links, and those that are too wide for a phone, become records.
    """
    columns = max(map(len, rows))
    filled = sum(map(len, rows))
    if columns * len(rows) > filled + room:
        return None
    full = [[*row, *[("", list[Span]())] * (columns - len(row))] for row in rows]
    has_links = any(span.type == LINK for row in full for _, spans in row for span in spans)
    if not has_links or len(full) < 2:
        cells = [[[line.strip() for line in text.split("\n")] for text, _ in row] for row in full]
        widths = [
            max(display_width(line) for cell in column for line in cell)
            for column in zip(*cells, strict=True)
        ]
        if sum(widths) + 3 * (columns - 1) <= TABLE_WIDTH or len(full) < 2:
            text = _aligned(cells, widths)
            return (text, [Span(0, len(text), "pre")]) if len(text) <= room else None
    names = sum(
        len(name) for row in full[1:] for (name, _), (text, _) in zip(full[0], row, strict=True) if text
    )
    return _records(full) if names <= room else None


def display_width(text: str) -> int:
    """Return the columns in a monospaced font: 0 for marks, 2 for wide East Asian letters and emoji."""
    if text.isascii():
        return len(text)
    width = last = 0
    joined = False
    for character in text:
        if character == _EMOJI_STYLE:
            columns = 1 if last == 1 else 0
        elif joined or _is_mark(character):
            columns = 0
        else:
            columns = last = 1 + (unicodedata.east_asian_width(character) in "WF")
        width += columns
        joined = character == _ZWJ
    return width


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me", "Cf"} or "\U0001f3fb" <= character <= "\U0001f3ff"


def _aligned(rows: Sequence[Lines], widths: Sequence[int]) -> str:
    numeric = [
        all(_NUMBER.fullmatch(" ".join(cell)) for cell in column[1:]) for column in zip(*rows, strict=True)
    ]
    head, *body = [_row_lines(row, widths, numeric) for row in rows]
    rule = ["-+-".join("-" * width for width in widths)] if body else []
    return "\n".join([*head, *rule, *(line for lines in body for line in lines)])


def _row_lines(cells: Lines, widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """Return the lines of a row; a cell with `<br>` has several."""
    return [
        " | ".join(
            _padded(lines[number] if number < len(lines) else "", width, is_number)
            for lines, width, is_number in zip(cells, widths, numeric, strict=True)
        ).rstrip()
        for number in range(max(map(len, cells)))
    ]


def _padded(text: str, width: int, is_number: bool) -> str:
    blanks = " " * (width - display_width(text))
    return blanks + text if is_number else text + blanks


def _records(rows: Sequence[Sequence[Cell]]) -> Cell:
    """Return one paragraph per row: the first cell in bold, then each cell, after the names of their columns.

    A column without any cell is named too, so that no word is lost.
    """
    head, *body = [[(text.replace("\n", " "), spans) for text, spans in row] for row in rows]
    named = [any(row[column][0] for row in body) for column in range(len(head))]
    pieces: list[str] = []
    spans: list[Span] = []
    length = 0

    for row in body:
        lines = [
            (name, cell)
            for name, cell, is_filled in zip(head, row, named, strict=True)
            if cell[0] or (name[0] and not is_filled)
        ]
        for number, (name, cell) in enumerate(lines):
            is_title = number == 0 and bool(row[0][0])
            for text, ranges in (
                ("" if not pieces else "\n\n" if number == 0 else "\n", []),
                ("" if is_title else "• ", []),
                name,
                (": " if name[0] and cell[0] else "", []),
                (cell[0], [*cell[1], Span(0, len(cell[0]), "bold")] if is_title else cell[1]),
            ):
                spans += [each._replace(start=length + each.start, end=length + each.end) for each in ranges]
                pieces.append(text)
                length += len(text)
    return "".join(pieces), spans
