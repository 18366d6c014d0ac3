"""Which participants a text names, and the text without their names."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memory.recall.lexicon.name_forms import ASCII_WORD, UNSPACED, WORD, Ids, NameForms, name_forms

_POSSESSIVE = re.compile(r"'(?:[^\W\d_]{1,4}(?![^\W_]))?")
"""After a name: 's, ' alone, and Turkish endings."""
_SENTENCE_ENDS = '.!?…\n:;—"“«(-*'
_TITLES = ("Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Sr.", "Sra.")
_LOOKED_BACK = 24
_MONTHS_TOO = frozenset(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Where a text names somebody (its end not in it), and whom: several people if they share the name."""

    start: int
    end: int
    ids: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesRead:
    """Whom a text names, in order, and the text without any name of a participant, its white space tidied."""

    mentions: tuple[Mention, ...]
    masked: str

    @property
    def named(self) -> Ids:
        """Everybody who is named."""
        return frozenset(each for mention in self.mentions for each in mention.ids)


def read_names(text: str, people: Mapping[int, str]) -> NamesRead:
    """Whom of the people (sender id → display name) a normal text names (see scripts.normal).

    Of "Anna Smith" only the Annas who are Smiths, if there are any. People of the same name are all named.
    A text that was nothing but names is masked to "".
    """
    forms = name_forms(people)
    found = [*_spaced(text, forms), *_unspaced(text, forms)]
    if not found:
        return NamesRead(mentions=(), masked=_SPACES.sub(" ", text).strip())
    mentions = _joined(text, sorted(found, key=lambda mention: mention.start))
    return NamesRead(mentions=mentions, masked=_without(text, mentions))


def _spaced(text: str, forms: NameForms) -> Iterator[Mention]:
    end, last = -2, frozenset[int]()
    for match in (ASCII_WORD if text.isascii() else WORD).finditer(text):
        written = match.group()
        word = written.casefold()
        ids = forms.anyhow.get(word)
        if ids is None and written[0].isupper():
            ids = _of_capital(word, text, match.span(), forms)
        if ids is None and match.start() == end + 1:
            ids = last & (forms.capital.get(word) or forms.within.get(word) or frozenset())
        if ids:
            possessive = _POSSESSIVE.match(text, match.end())
            end, last = possessive.end() if possessive else match.end(), ids
            yield Mention(start=match.start(), end=end, ids=ids)


def _of_capital(word: str, text: str, span: tuple[int, int], forms: NameForms) -> Ids | None:
    if word in forms.capital:
        return forms.capital[word]
    if word in forms.within:
        return forms.within[word] if _stands_as_a_name(word, text, span) else None
    if word in forms.vocative and (
        _is_within(text, span[0]) or text[span[1] : span[1] + 1] in (",", "'", "!")
    ):
        return forms.vocative[word]
    return None


def _stands_as_a_name(word: str, text: str, span: tuple[int, int]) -> bool:
    """Whether a common word is a name here: with one capital only, within the sentence, and not a month."""
    start, end = span
    if text[start + 1 : end].upper() == text[start + 1 : end] or not _is_within(text, start):
        return False
    return not (
        word in _MONTHS_TOO
        and (
            _BEFORE_A_MONTH.search(text[max(0, start - _LOOKED_BACK) : start])
            or text[end : end + 2].strip().isdigit()
        )
    )


def _is_within(text: str, start: int) -> bool:
    """Whether a word that begins here is not the first of its sentence."""
    before = text[max(0, start - _LOOKED_BACK) : start].rstrip(" ")
    return before.endswith(_TITLES) or (before != "" and before[-1] not in _SENTENCE_ENDS)


def _unspaced(text: str, forms: NameForms) -> Iterator[Mention]:
    sizes = forms.sizes if forms.unspaced else ()
    for run in UNSPACED.finditer(text) if sizes else ():
        place = run.start()
        while place < run.end():
            name = next(
                (
                    name
                    for size in sizes
                    if (name := text[place : min(place + size, run.end())]) in forms.unspaced
                ),
                "",
            )
            if name:
                yield Mention(start=place, end=place + len(name), ids=forms.unspaced[name])
            place += len(name) or 1


def _joined(text: str, found: list[Mention]) -> tuple[Mention, ...]:
    """Names side by side ("Anna Smith") are one, of those who have them all, if anybody has."""
    joined = found[:1]
    for mention in found[1:]:
        last = joined[-1]
        both = last.ids & mention.ids
        if both and text[last.end : mention.start].strip(" .") == "":
            joined[-1] = Mention(start=last.start, end=mention.end, ids=both)
        else:
            joined.append(mention)
    return tuple(joined)


def _without(text: str, mentions: tuple[Mention, ...]) -> str:
    """The text without the names, and without the commas and spaces that they leave."""
    pieces: list[str] = []
    end = 0
    for name in mentions:
        pieces.append(text[end : name.start])
        end = max(end, name.end)
    left = _SPACES.sub(" ", " ".join([*pieces, text[end:]]))
    left = _LEADING_MARKS.sub("", _DOUBLE_COMMA.sub("", _SPACE_BEFORE_MARK.sub("", left))).strip()
    return left if _NOT_ONLY_MARKS.search(left) else ""
