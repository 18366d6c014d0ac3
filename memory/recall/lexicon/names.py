"""Names of participants in a text, the text without them, and the people that a name means."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from memory.recall.lexicon.languages import (
    CONTINUOUS,
    HAN,
    HANGUL,
    MARKS,
    all_stop_words,
    load_words,
    normal,
    script_of,
    unaccented,
)

Ids = frozenset[int]
PEOPLE_LIMIT = 500
"""People whose names are searched. The rest are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Place of a name in a text, and the people it names: several if they share the name. `end` is exclusive."""

    start: int
    end: int
    ids: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatches:
    """Mentions in a text, in order. `masked` is the text without names of participants, with tidy white space."""

    mentions: tuple[Mention, ...]
    masked: str

    @property
    def ids(self) -> Ids:
        """Sender ids of all mentioned people."""
        return frozenset(each for mention in self.mentions for each in mention.ids)


def find_names(text: str, people: Mapping[int, str]) -> NameMatches:
    """Find mentions of these people (sender id → display name) in a normal text (see languages.normal).

    "Anna Smith" means only those Annas who are Smiths, if there are any. People of the same name all match. A text of
    names alone is masked to "".
    """
    forms = _forms_of(tuple(people.items())[:PEOPLE_LIMIT])
    mentions = [*_spaced_mentions(text, forms)]
    if forms.unspaced:
        mentions += _unspaced_mentions(text, forms.unspaced)
    if not mentions:
        return NameMatches(mentions=(), masked=_SPACES.sub(" ", text).strip())
    joined = _join_adjacent(text, sorted(mentions, key=lambda mention: mention.start))
    return NameMatches(mentions=joined, masked=_remove_names(text, joined))


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForms:
    """Sender ids by casefolded form of a name. The table says how the form must stand in a text."""

    anywhere: Mapping[str, Ids]
    capital: Mapping[str, Ids]
    """With a capital."""
    inside: Mapping[str, Ids]
    """With a capital, and not as the first word of a sentence."""
    vocative: Mapping[str, Ids]
    """Like `inside`, or before a comma ("Mel, look")."""
    unspaced: Mapping[str, Ids]
    """Any place where these characters stand."""


_POSSESSIVE = re.compile(r"'(?:[^\W\d_]{1,4}(?![^\W_]))?")
"""Suffix of a name: 's, ' alone, and Turkish endings."""
_SENTENCE_ENDS = '.!?…\n:;—"“«(-*'
_TITLES = ("Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Sr.", "Sra.")
_CONTEXT_CHARACTERS = 24
_NAMES_OF_MONTHS = frozenset(
    ("may", "april", "june", "august", "mai", "avril", "mars", "май", "мая", "мае", "августа")
)
_BEFORE_A_MONTH = re.compile(
    r"(?:\d|\b(?:in|since|last|next|this|until|till|by|of|early|mid|late|im|seit|letzten|en|de|em|в|с|до))\W{0,2}$",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[,.?!;:，。？！；：؟،…)])")
_DOUBLE_COMMA = re.compile(r"[,;，、،](?=\s*[,;.!?，。！？،؟])")
_LEADING_MARKS = re.compile(r"^[\s,;:，、،.!?。！？؟-]+")
_NOT_ONLY_MARKS = re.compile(r"[^\W_]|[^\x00-\x7f]")


def _spaced_mentions(text: str, forms: NameForms) -> Iterator[Mention]:
    end, last = -2, frozenset[int]()
    for match in (ASCII_WORD if text.isascii() else WORD).finditer(text):
        written = match.group()
        word = written.casefold()
        ids = forms.anywhere.get(word)
        if ids is None and written[0].isupper():
            ids = _capitalised_ids(word, text, match.span(), forms)
        if ids is None and match.start() == end + 1:
            ids = last & (forms.capital.get(word) or forms.inside.get(word) or frozenset())
        if ids:
            possessive = _POSSESSIVE.match(text, match.end())
            end, last = possessive.end() if possessive else match.end(), ids
            yield Mention(start=match.start(), end=end, ids=ids)


def _capitalised_ids(word: str, text: str, span: tuple[int, int], forms: NameForms) -> Ids | None:
    if word in forms.capital:
        return forms.capital[word]
    if word in forms.inside:
        return forms.inside[word] if _stands_as_a_name(word, text, span) else None
    if word in forms.vocative and (
        _is_inside_sentence(text, span[0]) or text[span[1] : span[1] + 1] in (",", "'", "!")
    ):
        return forms.vocative[word]
    return None


def _stands_as_a_name(word: str, text: str, span: tuple[int, int]) -> bool:
    """Return True if a common word is a name here: one capital, inside the sentence, and not a month."""
    start, end = span
    if text[start + 1 : end].upper() == text[start + 1 : end] or not _is_inside_sentence(text, start):
        return False
    return not (
        word in _NAMES_OF_MONTHS
        and (
            _BEFORE_A_MONTH.search(text[max(0, start - _CONTEXT_CHARACTERS) : start])
            or text[end : end + 2].strip().isdigit()
        )
    )


def _is_inside_sentence(text: str, start: int) -> bool:
    """Return True if the word that begins at `start` is not the first of its sentence."""
    before = text[max(0, start - _CONTEXT_CHARACTERS) : start].rstrip(" ")
    return before.endswith(_TITLES) or (before != "" and before[-1] not in _SENTENCE_ENDS)


def _unspaced_mentions(text: str, ids_of: Mapping[str, Ids]) -> Iterator[Mention]:
    sizes = sorted({len(name) for name in ids_of}, reverse=True)
    for run in UNSPACED.finditer(text):
        place = run.start()
        while place < run.end():
            candidates = (text[place : min(place + size, run.end())] for size in sizes)
            name = next((each for each in candidates if each in ids_of), "")
            if name:
                yield Mention(start=place, end=place + len(name), ids=ids_of[name])
            place += len(name) or 1


def _join_adjacent(text: str, mentions: list[Mention]) -> tuple[Mention, ...]:
    """Join adjacent names ("Anna Smith") into one mention of the people who have them all, if there are any."""
    joined = mentions[:1]
    for mention in mentions[1:]:
        last = joined[-1]
        both = last.ids & mention.ids
        if both and text[last.end : mention.start].strip(" .") == "":
            joined[-1] = Mention(start=last.start, end=mention.end, ids=both)
        else:
            joined.append(mention)
    return tuple(joined)


def _remove_names(text: str, mentions: tuple[Mention, ...]) -> str:
    """Return the text without the names, and without the commas and spaces around them."""
    pieces: list[str] = []
    end = 0
    for name in mentions:
        pieces.append(text[end : name.start])
        end = max(end, name.end)
    left = _SPACES.sub(" ", " ".join([*pieces, text[end:]]))
    left = _LEADING_MARKS.sub("", _DOUBLE_COMMA.sub("", _SPACE_BEFORE_MARK.sub("", left))).strip()
    return left if _NOT_ONLY_MARKS.search(left) else ""


WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_WORD_OF_NAME = re.compile(r"\w+")
"""A word of a text, as far as names are concerned."""
UNSPACED = re.compile(f"[{HAN}{HANGUL}]{{2,}}|[{CONTINUOUS}]{{3,}}")
_LONGEST_NAME = 256
"""Characters of a display name that are read. Telegram allows 128."""
_LONGEST_PART = 32
_PARTS_OF_A_NAME = 6
_SHORTEST_PREFIX = 3
_FEW_PEOPLE = 50
_People: TypeAlias = tuple[tuple[int, str], ...]


def _forms_of(people: _People) -> NameForms:
    return (_forms_of_few if len(people) <= _FEW_PEOPLE else _forms_of_many)(people)


@lru_cache(maxsize=50)
def _forms_of_few(people: _People) -> NameForms:
    """Return the same as `_build_forms`. The cache takes up to 3 MB."""
    return _build_forms(people)


@lru_cache(maxsize=16)
def _forms_of_many(people: _People) -> NameForms:
    """Return the same as `_build_forms`. 500 people take 0.5 MB, and every newcomer to a group makes a new entry."""
    return _build_forms(people)


def _build_forms(people: _People) -> NameForms:
    """Return the forms of the display names, by sender id."""
    tables: dict[str, defaultdict[str, set[int]]] = {
        table: defaultdict(set) for table in ("anywhere", "capital", "inside", "vocative", "unspaced")
    }
    for sender_id, display_name in people:
        for table, form in _display_name_forms(normal(display_name[:_LONGEST_NAME])):
            tables[table][form].add(sender_id)
    frozen = {table: {form: frozenset(ids) for form, ids in forms.items()} for table, forms in tables.items()}
    return NameForms(**frozen)


def _display_name_forms(name: str) -> Iterator[tuple[str, str]]:
    """Yield each form of a normal display name with its table."""
    for run in UNSPACED.findall(name):
        yield from (("unspaced", form) for form in _unspaced_forms(run[:_LONGEST_PART]))
    parts = [part for part in WORD.findall(UNSPACED.sub(" ", name)) if _is_name(part)][:_PARTS_OF_A_NAME]
    for place, written in enumerate(parts):
        part = written.casefold()[:_LONGEST_PART]
        yield from _inflected_forms(part, "capital" if place else "anywhere")
        if script_of(part) == "latin":
            yield from _inflected_forms(part + "s", "capital")
        for nickname in _nicknames().get(part, ()) if not place else ():
            for form in _inflected(nickname):
                yield from _inflected_forms(form, "capital")
    if parts:
        yield from (("vocative", form) for form in _prefixes(parts[0].casefold()[:_LONGEST_PART]))


def _is_name(part: str) -> bool:
    return len(part) > 1 and any(character.isalpha() for character in part)


def _inflected_forms(part: str, table: str) -> Iterator[tuple[str, str]]:
    """Yield the inflected forms of a part. A common word goes to `inside`: "Will I?" names nobody."""
    for form in _inflected(part):
        has_case = form.upper() != form
        yield ("inside" if has_case and is_common_word(form) else table if has_case else "anywhere"), form


def is_common_word(word: str) -> bool:
    """Return True if a casefolded name is also a word of a language."""
    return word in _names_that_are_words() or word in all_stop_words()


@cache
def _names_that_are_words() -> frozenset[str]:
    return frozenset(load_words("names")["words"].split())


@cache
def _nicknames() -> dict[str, list[str]]:
    """Map each casefolded name to its short forms, and each short form to its names."""
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for group in load_words("names")["nicknames"].split("|"):
        name, *nicknames = group.split()
        forms[name] += nicknames
        for nickname in nicknames:
            forms[nickname].append(name)
    return dict(forms)


_CYRILLIC_ENDINGS = {
    "а": ("а", "ы", "и", "е", "у", "ой", "ою", "ей"),
    "я": ("я", "и", "е", "ю", "ей", "ею"),
    "й": ("й", "я", "ю", "ем", "е"),
    "ь": ("ь", "я", "ю", "ем", "е", "и", "ью"),
}
_AFTER_CONSONANT = ("", "а", "у", "ом", "ем", "е")


def _inflected(part: str) -> set[str]:
    """Return the part as it is, without accents, and in the cases of Russian."""
    forms = {part, unaccented(part)}
    if script_of(part) == "cyrillic" and part[-1] not in "еёиоуыэю":
        endings = _CYRILLIC_ENDINGS.get(part[-1])
        base = part[:-1] if endings else part
        forms |= {base + ending for ending in endings or _AFTER_CONSONANT}
    return {form for form in forms if len(form) > 1}


def _prefixes(first_name: str) -> Iterator[str]:
    """Yield short forms that friends may use: "mel" for "melanie". Common words are left out."""
    if script_of(first_name) in ("latin", "cyrillic"):
        for size in range(_SHORTEST_PREFIX, len(first_name)):
            if not is_common_word(first_name[:size]):
                yield first_name[:size]


def _unspaced_forms(run: str) -> Iterator[str]:
    """Yield the whole name, and the given name if it has three Chinese, Japanese or Korean characters."""
    yield run
    if len(run) == 3 and script_of(run) != "continuous":
        yield run[1:]


def find_people(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """Return the people (sender id → name) that a name means; nobody for a blank one.

    An exact match wins over people who have it among their names, and these win over inflected and short forms.
    """
    exact, name_words = find_same_name(name, people), set(_words_of(name.removeprefix("@")))
    if exact or not name_words:
        return exact
    partial = frozenset(each for each, full_name in people.items() if name_words <= set(_words_of(full_name)))
    # Inside a sentence and with capitals: short forms and names that are common words need both.
    return partial or find_names(f"of {normal(name).title()}", people).ids


def find_same_name(name: str, people: Mapping[int, str]) -> frozenset[int]:
    """Return the people (sender id → name) with exactly this name, compared by its words; nobody for a blank one."""
    words = _words_of(name.removeprefix("@"))
    if not words:  # a name of signs
        return frozenset(
            each for each, full_name in people.items() if full_name.strip() == name.strip() != ""
        )
    return frozenset(each for each, full_name in people.items() if _words_of(full_name) == words)


def _words_of(name: str) -> tuple[str, ...]:
    return tuple(_WORD_OF_NAME.findall(normal(name).casefold()))
