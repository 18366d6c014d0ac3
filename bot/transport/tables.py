"""Tables as people can read them in a chat: in columns where they fit a phone, one record after another where not."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from bot.transport.concealing import JOINT, LABEL_END, LINE_BREAK, LINK_END
from bot.transport.rich_text import Span

TABLE_WIDTH = 40
"""Columns that a phone shows of a block of code in one line."""

Rows: TypeAlias = list[list[str]]

_RULE = re.compile(r"-*(?:-\+-+)*")
_NUMBER = re.compile(r"[+\-\u2212]?[$€£]?\d[\d.,\u202f ]*%?")
_LINK = re.compile(f"(?P<label>[^{LABEL_END}{LINK_END}]*){LABEL_END}(?P<url>[^{LINK_END}]*){LINK_END}")
_EMOJI_STYLE = "\ufe0f"
_ZWJ = "\u200d"


def lay_out(block: str) -> tuple[str, list[Span]]:
    """The library's table, whose columns are padded by code points: aligned by display width, or as records.

    The ranges are the formatting of the new text. What is no such table comes back as a block of code.
    """
    rows = _rows(block)
    if rows is None:
        return block, [Span(0, len(block), "pre")]
    if len(rows) > 1 and LABEL_END in block:
        return _records(rows)
    aligned = _aligned(rows)
    if max(map(display_width, aligned.split("\n"))) <= TABLE_WIDTH or len(rows) < 2:
        return aligned, [Span(0, len(aligned), "pre")]
    return _records(rows)


def display_width(text: str) -> int:
    """Columns of a monospaced font: none for marks, two for the wide letters of East Asia and for emoji."""
    width = last = 0
    joined = False
    for character in text:
        if character == _EMOJI_STYLE:
            shown = 1 if last == 1 else 0
        elif joined or _is_mark(character):
            shown = 0
        else:
            shown = last = 1 + (unicodedata.east_asian_width(character) in "WF")
        width += shown
        joined = character == _ZWJ
    return width


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me", "Cf"} or "\U0001f3fb" <= character <= "\U0001f3ff"


def _rows(block: str) -> Rows | None:
    """The cells, the head's first; None for anything that the library did not pad as a table."""
    lines = block.split("\n")
    rule = lines[1] if len(lines) > 1 else "-" * len(lines[0])
    if not _RULE.fullmatch(rule) or {len(line) for line in lines} != {len(rule)}:
        return None
    widths = [len(dashes) for dashes in rule.split("-+-")]
    starts = list(accumulate(widths, lambda start, width: start + width + 3, initial=0))
    return [
        [
            line[start : start + width].replace(JOINT, "").strip()
            for start, width in zip(starts, widths, strict=False)
        ]
        for line in (lines[0], *lines[2:])
    ]


def _aligned(rows: Rows) -> str:
    widths = [
        max(display_width(line) for cell in column for line in cell.split(LINE_BREAK))
        for column in zip(*rows, strict=True)
    ]
    numeric = [all(map(_NUMBER.fullmatch, column[1:])) for column in zip(*rows, strict=True)]
    head, *body = [_row_lines(row, widths, numeric) for row in rows]
    rule = ["-+-".join("-" * width for width in widths)] if body else []
    return "\n".join([*head, *rule, *(line for lines in body for line in lines)])


def _row_lines(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """The row's lines: a cell may have several, of a `<br>`."""
    cells = [[line.strip() for line in cell.split(LINE_BREAK)] for cell in row]
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


def _records(rows: Rows) -> tuple[str, list[Span]]:
    """A paragraph a row: its first cell in bold, then the others, each after its column's name. Links work here."""
    head, *body = [[cell.replace(LINE_BREAK, " ") for cell in row] for row in rows]
    names = [_LINK.sub(r"\g<label>", name) for name in head]
    text = ""
    spans: list[Span] = []
    for first, *others in body:
        text += "\n\n" if text else ""
        begin = len(text)
        text, links = _with_links(text, first)
        spans += [Span(begin, len(text), "bold"), *links]
        for name, cell in zip(names[1:], others, strict=True):
            if cell:
                line_break = "" if len(text) == begin else "\n"
                text, links = _with_links(f"{text}{line_break}• {name}{': ' if name else ''}", cell)
                spans += links
    return text, spans


def _with_links(text: str, cell: str) -> tuple[str, list[Span]]:
    """The text with the cell after it, and the links of the cell."""
    links: list[Span] = []
    done = 0
    for link in _LINK.finditer(cell):
        text += cell[done : link.start()]
        links.append(Span(len(text), len(text) + len(link["label"]), "text_link", link["url"]))
        text += link["label"]
        done = link.end()
    return text + cell[done:], links
