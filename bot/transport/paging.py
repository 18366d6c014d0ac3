"""Pages of a list in one message: where they begin, and the buttons that turn them (pure)."""

from collections.abc import Callable

from bot.transport.telegram_api import Button
from bot.transport.words import Words

PAGE_SIZE = 5
"""Entries of one page."""


def page_start(first: int, total: int) -> int:
    """Return the place of the first entry of the page with this place. Beyond the end it is the last page."""
    last = max(0, total - 1)
    return min(first, last) // PAGE_SIZE * PAGE_SIZE


def page_line(words: Words, *, first: int, total: int) -> str:
    """Return the line that names the entries of this page; "" if there is only one page."""
    if total <= PAGE_SIZE:
        return ""
    return words("list-page", first=first + 1, last=min(first + PAGE_SIZE, total), total=total)


def page_buttons(
    words: Words, *, first: int, total: int, row: int, data: Callable[[int], str]
) -> list[Button]:
    """Return the buttons that turn the page. `data` returns a button's data for the first entry of its page."""
    targets = {"list-back": first - PAGE_SIZE, "list-more": first + PAGE_SIZE}
    return [
        Button(text=words(key), data=data(target), row=row)
        for key, target in targets.items()
        if 0 <= target < total
    ]
