"""Printed output: tables for people at 80 columns, or one JSON document."""

import io
import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNKNOWN = "-"

Cell = str | float | None
"""Content of a table's cell. Integers get thousands separators, floats two decimals, None is printed as `-`."""

# Characters that move the cursor, colour the terminal or reverse the direction of writing. Texts of users are data.
_UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_DAY_S, _HOUR_S, _MINUTE_S = 86_400, 3_600, 60


def tolerate_any_terminal() -> None:
    """Print a question mark for each character that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


# Rich is imported where something is printed with it. The services print nothing, and the help must be quick.


def open_console() -> "Console":
    """Return a Rich console on stdout that prints texts unchanged: no markup, highlights or emoji codes."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def print_json(document: object) -> None:
    """Print one JSON document on stdout, in ASCII."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_line(line: str = "", *, style: str = "") -> None:
    """Print one line for a person."""
    from rich.text import Text

    open_console().print(Text(printable(line), style=style))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, wide: Sequence[str] = ()) -> None:
    """Print a table. A column whose name begins with ">" is aligned to the right.

    Columns named in `wide` hold text and are wrapped; the others keep their width.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        name, is_wide = column.removeprefix(">"), column in wide
        table.add_column(
            name,
            justify="left" if name == column else "right",
            no_wrap=not is_wide,
            overflow="fold",
            ratio=1 if is_wide else None,
        )
    for row in rows:
        table.add_row(*(Text(printable(_cell(cell))) for cell in row))
    open_console().print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, Text(printable(value)))
    open_console().print(table)


def printable(text: str) -> str:
    """Return the text with U+FFFD for each character that could control a terminal."""
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\t", "    "))


def one_line(text: str, *, longest: int) -> str:
    """Return the text on one line of at most `longest` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= longest else joined[: longest - 1] + "…"


def utc(seconds: float | None) -> str:
    """Return a time for people, to the minute, in UTC. The caller prints "UTC"."""
    return UNKNOWN if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def to_minute(at: str | None) -> str:
    """Return a time of a document for people, to the minute, in UTC. The caller prints "UTC"."""
    return UNKNOWN if at is None else at[:16].replace("T", " ")


def age(seconds: float | None) -> str:
    """Return a duration in its two largest units: `3 d 4 h`, `12 min`, `5 s`."""
    if seconds is None:
        return UNKNOWN
    whole = int(seconds)
    days, hours, minutes = whole // _DAY_S, whole % _DAY_S // _HOUR_S, whole % _HOUR_S // _MINUTE_S
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{whole} s"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 message`, `2 messages`. `many` is an irregular plural."""
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return UNKNOWN
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.2f}"
