"""The list of facts that /facts shows: its order, text and buttons, and the data of the buttons (pure)."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from bot.transport.controls import FACTS_BUTTON
from bot.transport.paging import PAGE_SIZE, page_buttons, page_line
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from memory.characters import one_line
from memory.history.fact import Fact

Verb = Literal["page", "delete", "correct"]
_VERBS: dict[str, Verb] = {"p": "page", "d": "delete", "c": "correct"}
_LETTERS = {verb: letter for letter, verb in _VERBS.items()}
_DATA = re.compile(rf"{FACTS_BUTTON}:([pdc]):(-?\d{{1,19}}):(\d{{1,6}}):([0-9a-f]{{16}})?")
_DELETE_ROW, _CORRECT_ROW, _PAGES_ROW, _LINK_ROW = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPress:
    """The meaning of a button."""

    verb: Verb
    owner: int
    """The person whose facts the list shows."""
    first: int = 0
    """Place of the first fact of the page, from 0."""
    token: str = ""
    """Names the fact as it was shown; see `token_of`. "" for a page."""

    def dump(self) -> str:
        """Return the data of the button; at most 50 bytes."""
        return f"{FACTS_BUTTON}:{_LETTERS[self.verb]}:{self.owner}:{self.first}:{self.token}"


def parse_press(data: str) -> FactPress | None:
    """Return the meaning of a button's data; None if no list has such a button."""
    match = _DATA.fullmatch(data)
    if match is None:
        return None
    press = FactPress(verb=_VERBS[match[1]], owner=int(match[2]), first=int(match[3]), token=match[4] or "")
    return press if bool(press.token) == (press.verb != "page") else None


def token_of(fact: Fact) -> str:
    """Return a digest of the fact's id and statement: a corrected fact has another one."""
    return hashlib.sha256(f"{fact.id}\n{fact.statement}".encode(errors="replace")).hexdigest()[:16]


def facts_text(
    words: Words, facts: Sequence[Fact], *, first: int, title: str, notice: str, notes: Sequence[str]
) -> RichText:
    """Return one page of the sorted facts between a notice and notes. Nothing of it is rendered as markup.

    Standing wishes and other facts have a title each. Without facts there is none.
    """
    lines: list[str] = []
    for number, fact in enumerate(facts[first : first + PAGE_SIZE], first + 1):
        heading = words("facts-standing") if fact.is_standing else title
        lines += [heading] if heading not in lines else []
        lines.append(_line(words, fact, number))
    lines.append(page_line(words, first=first, total=len(facts)))
    paragraphs = [notice, "\n".join(filter(None, lines)), "\n".join(filter(None, notes))]
    return RichText(text="\n\n".join(filter(None, paragraphs)))


def facts_buttons(words: Words, facts: Sequence[Fact], *, first: int, owner: int) -> list[Button]:
    """Return the buttons of a page: a row that deletes, a row that corrects, a row that turns the page."""
    shown = list(enumerate(facts[first : first + PAGE_SIZE], first + 1))
    page = FactPress(verb="page", owner=owner)
    buttons: list[Button] = []
    for key, verb, row in (
        ("list-delete", "delete", _DELETE_ROW),
        ("facts-correct", "correct", _CORRECT_ROW),
    ):
        press = replace(page, verb=verb, first=first)
        buttons += [
            Button(text=words(key, number=number), data=replace(press, token=token_of(fact)).dump(), row=row)
            for number, fact in shown
        ]
    return buttons + page_buttons(
        words,
        first=first,
        total=len(facts),
        row=_PAGES_ROW,
        data=lambda first: replace(page, first=first).dump(),
    )


def link_row(links: Sequence[Button]) -> list[Button]:
    """Return these buttons in a row below those of the list."""
    return [replace(link, row=_LINK_ROW) for link in links]


def _line(words: Words, fact: Fact, number: int) -> str:
    """Return the line of a fact. A statement that does not name its subject gets it in front."""
    subject, statement = one_line(fact.subject), one_line(fact.statement)
    if subject and subject.casefold() not in statement.casefold():
        statement = f"{subject}: {statement}"
    if fact.valid_to is None:
        return words("facts-line", number=number, statement=statement)
    until = datetime.fromtimestamp(fact.valid_to, UTC).date()
    return words("facts-line-closed", number=number, statement=statement, date=until)
