"""The forms in which participants' names are written, and how a form must stand in a text to name somebody."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memory.recall.lexicon.known_names import NAMES_THAT_ARE_WORDS, NICKNAMES
from memory.recall.lexicon.languages import unaccented
from memory.recall.lexicon.scripts import CONTINUOUS, HAN, HANGUL, MARKS, normal, script_of
from memory.recall.lexicon.stop_words import STOP_WORDS

PEOPLE_LIMIT = 500
"""People whose names are looked for; those after them name nobody."""
WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
"""What stands in a text as one word, as far as names go."""
UNSPACED = re.compile(f"[{HAN}{HANGUL}]{{2,}}|[{CONTINUOUS}]{{3,}}")

_LONGEST_NAME = 256
"""Characters of a display name that are read; Telegram's have 128 at most."""
_LONGEST_PART = 32
_PARTS_OF_A_NAME = 6
_SHORTEST_PREFIX = 3

Ids = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForms:
    """Who is named by a casefolded word, by how it must stand.

    `anyhow`; `capital`: with a capital; `within`: with one, and not as the first word of a sentence; `vocative`: the
    same, or set off by a comma ("Mel, look"); `unspaced`: wherever these characters stand.
    """

    anyhow: Mapping[str, Ids]
    capital: Mapping[str, Ids]
    within: Mapping[str, Ids]
    vocative: Mapping[str, Ids]
    unspaced: Mapping[str, Ids]

    @property
    def sizes(self) -> list[int]:
        """The lengths of the unspaced names, the longest first."""
        return sorted({len(name) for name in self.unspaced}, reverse=True)


def name_forms(people: Mapping[int, str]) -> NameForms:
    """The forms of the display names, by sender id. Those of the last 200 chats are kept, for people change rarely."""
    return _of_people(tuple(people.items())[:PEOPLE_LIMIT])


@lru_cache(maxsize=200)
def _of_people(people: tuple[tuple[int, str], ...]) -> NameForms:
    tables: dict[str, defaultdict[str, set[int]]] = {
        table: defaultdict(set) for table in ("anyhow", "capital", "within", "vocative", "unspaced")
    }
    for sender_id, display_name in people:
        for table, form in _forms(normal(display_name[:_LONGEST_NAME])):
            tables[table][form].add(sender_id)
    frozen = {table: {form: frozenset(ids) for form, ids in forms.items()} for table, forms in tables.items()}
    return NameForms(**frozen)


def _forms(name: str) -> Iterator[tuple[str, str]]:
    """Each form of a normal display name, with the table in which it belongs."""
    for run in UNSPACED.findall(name):
        yield from (("unspaced", form) for form in _unspaced_forms(run[:_LONGEST_PART]))
    parts = [part for part in WORD.findall(UNSPACED.sub(" ", name)) if _is_name(part)][:_PARTS_OF_A_NAME]
    for place, written in enumerate(parts):
        part = written.casefold()[:_LONGEST_PART]
        yield from _placed(part, "capital" if place else "anyhow")
        if script_of(part) == "latin":
            yield from _placed(part + "s", "capital")
        for nickname in NICKNAMES.get(part, ()) if not place else ():
            for form in _inflected(nickname):
                yield from _placed(form, "capital")
    if parts:
        yield from (("vocative", form) for form in _prefixes(parts[0].casefold()[:_LONGEST_PART]))


def _is_name(part: str) -> bool:
    return len(part) > 1 and any(character.isalpha() for character in part)


def _placed(part: str, table: str) -> Iterator[tuple[str, str]]:
    """A part in its forms: a common word names somebody within a sentence only; "Will I?" is no name."""
    for form in _inflected(part):
        has_case = form.upper() != form
        yield ("within" if has_case and is_common_word(form) else table if has_case else "anyhow"), form


def is_common_word(word: str) -> bool:
    """Whether a casefolded name is a word of a language too, so that it names somebody only where a name stands."""
    return word in NAMES_THAT_ARE_WORDS or word in _STOP


_STOP = frozenset(word for words in STOP_WORDS.values() for word in words.split())
_CYRILLIC_ENDINGS = {
    "а": ("а", "ы", "и", "е", "у", "ой", "ою", "ей"),
    "я": ("я", "и", "е", "ю", "ей", "ею"),
    "й": ("й", "я", "ю", "ем", "е"),
    "ь": ("ь", "я", "ю", "ем", "е", "и", "ью"),
}
_AFTER_CONSONANT = ("", "а", "у", "ом", "ем", "е")


def _inflected(part: str) -> set[str]:
    """The part as it is, without accents, and in the cases of Russian."""
    forms = {part, unaccented(part)}
    if script_of(part) == "cyrillic" and part[-1] not in "еёиоуыэю":
        endings = _CYRILLIC_ENDINGS.get(part[-1])
        base = part[:-1] if endings else part
        forms |= {base + ending for ending in endings or _AFTER_CONSONANT}
    return {form for form in forms if len(form) > 1}


def _prefixes(first_name: str) -> Iterator[str]:
    """The beginnings that a friend may call one by: "mel" for "melanie"; never a common word."""
    if script_of(first_name) in ("latin", "cyrillic"):
        for size in range(_SHORTEST_PREFIX, len(first_name)):
            if not is_common_word(first_name[:size]):
                yield first_name[:size]


def _unspaced_forms(run: str) -> Iterator[str]:
    """The whole name, and of three Chinese, Japanese or Korean characters the given name."""
    yield run
    if len(run) == 3 and script_of(run) != "continuous":
        yield run[1:]
