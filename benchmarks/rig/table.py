"""Prints figures as a table."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print one table; the first column is text, the others are figures."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)
