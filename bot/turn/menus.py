"""Menus: one value out of some, and lists with a page of entries in one message."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from bot.transport.controls import press_data
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from bot.turn.commit import Reply

CONFIRM_WITHIN_S = 600.0
"""A button that erases something does not work for longer: nobody remembers its question after ten minutes."""
PAGE_SIZE = 5
"""Entries of one page."""

Verb = Literal["page", "delete", "correct"]
T = TypeVar("T")
_VERBS: Mapping[str, Verb] = {"p": "page", "d": "delete", "c": "correct"}
_LIST_PRESS = re.compile(r"(-?\d{1,19})?:([pdc]):(\d{1,6}):((?:[0-9a-f]{8}){0,2})", re.ASCII)


def choice_buttons(word: str, labels: Mapping[str, str], current: str | None = None) -> list[Button]:
    """Return a row with a button for each value. The present one has a mark."""
    return [
        Button(text=f"✓ {label}" if value == current else label, data=press_data(word, value), row=row)
        for row, (value, label) in enumerate(labels.items())
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPress:
    """The meaning of a button of a list."""

    verb: Verb = "page"
    owner: int = 0
    """The person who asked for the list."""
    first: int = 0
    """Place of the first entry of the page, from 0."""
    token: str = ""
    """Names the entry in 8 or 16 hexadecimal digits; "" for a page."""

    def dump(self, word: str) -> str:
        """Return the data of the button; at most 56 bytes."""
        return press_data(word, f"{self.verb[0]}:{self.first}:{self.token}", owner=self.owner or "")


def parse_list_press(owner: str, value: str) -> ListPress | None:
    """Return the meaning of a button with this owner and value; None if no list has such a button."""
    match = _LIST_PRESS.fullmatch(f"{owner}:{value}")
    if match is None or bool(match[4]) == (match[2] == "p"):
        return None
    return ListPress(verb=_VERBS[match[2]], owner=int(match[1] or 0), first=int(match[3]), token=match[4])


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """An entry as it is shown: its line below its heading, and the token of its buttons."""

    heading: str
    line: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMenu:
    """A list in one message, with a row of buttons for each action and one that turns the page."""

    word: str
    actions: Mapping[Verb, str]
    """Action → catalogue's key of its label."""

    def page(
        self,
        words: Words,
        entries: Sequence[T],
        show: Callable[[T, int], ListEntry],
        *,
        at: ListPress,
        notice: str,
        notes: Sequence[str],
    ) -> Reply:
        """Return the page of this press between a notice and notes. Nothing of it is rendered as markup.

        `show` returns the entry with this number. A place beyond the end shows the last page.
        """
        first, total = page_start(at.first, len(entries)), len(entries)
        shown = {
            number: show(each, number)
            for number, each in enumerate(entries[first : first + PAGE_SIZE], first + 1)
        }
        lines: list[str] = []
        for each in shown.values():
            lines += [each.line] if each.heading in lines else [each.heading, each.line]
        if total > PAGE_SIZE:
            lines.append(words("list-page", first=first + 1, last=first + len(shown), total=total))
        buttons = [
            self._button(
                words(key, number=number), row, replace(at, verb=verb, first=first, token=each.token)
            )
            for row, (verb, key) in enumerate(self.actions.items())
            for number, each in shown.items()
        ]
        buttons += [
            self._button(words(key), len(self.actions), ListPress(owner=at.owner, first=target))
            for key, target in (("list-back", first - PAGE_SIZE), ("list-more", first + PAGE_SIZE))
            if 0 <= target < total
        ]
        parts = [notice, "\n".join(lines), "\n".join(filter(None, notes))]
        return Reply(rich=RichText(text="\n\n".join(filter(None, parts))), buttons=buttons)

    def _button(self, text: str, row: int, press: ListPress) -> Button:
        return Button(text=text, data=press.dump(self.word), row=row)


def page_start(first: int, total: int) -> int:
    """Return the place of the first entry of the page that has this place, or of the last page beyond the end."""
    return min(first, max(0, total - 1)) // PAGE_SIZE * PAGE_SIZE
