"""The language of words: guessed by script, function words and telling letters; and the stems of its words."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import importlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Protocol

from memory.recall.lexicon.irregular import IRREGULAR
from memory.recall.lexicon.scripts import script_of
from memory.recall.lexicon.stop_words import STOP_WORDS

_BY_SCRIPT = {
    "latin": (
        "english",
        "spanish",
        "german",
        "portuguese",
        "french",
        "italian",
        "dutch",
        "swedish",
        "polish",
        "turkish",
    ),
    "cyrillic": ("russian", "ukrainian"),
    "arabic": ("persian", "arabic"),
    "devanagari": ("hindi",),
    "greek": ("greek",),
    "armenian": ("armenian",),
    "tamil": ("tamil",),
}
"""The first is what a text of this script is taken for when nothing tells."""

_LETTERS = {
    "ñ¿¡": "spanish",
    "ßäö": "german",
    "ãõ": "portuguese",
    "êœ": "french",
    "ìò": "italian",
    "å": "swedish",
    "łąężźćńś": "polish",
    "ığş": "turkish",
    "іїєґ": "ukrainian",
    "ыэъё": "russian",
    "پچژگکی": "persian",
    "ةىيكأإؤئ": "arabic",
}
_TELLING_LETTERS = {letter: language for letters, language in _LETTERS.items() for letter in letters}
_LETTER_WEIGHT = 0.7
_ALGORITHMS = {"ukrainian": "russian"}
"""Snowball has no Ukrainian; the Russian endings are the nearest."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def stop_words(language: str) -> frozenset[str]:
    """The language's words that are no terms, as written and without accents; empty for one we have no list of."""
    words = STOP_WORDS.get(language, "").split()
    return frozenset(words)


@cache
def _telling_words() -> dict[str, tuple[tuple[str, float], ...]]:
    """Each function word with the languages that have it; the fewer, the more it tells."""
    of_word: defaultdict[str, list[str]] = defaultdict(list)
    for language in STOP_WORDS:
        for word in stop_words(language):
            of_word[word].append(language)
    return {word: tuple((language, 1 / len(found)) for language in found) for word, found in of_word.items()}


def plausible_languages(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By script: the languages that these casefolded words may be in, the likeliest first, at least one each."""
    telling = _telling_words()
    evidence: defaultdict[str, float] = defaultdict(float)
    scripts: set[str] = set()
    for word in words:
        for language, weight in telling.get(word, ()):
            evidence[language] += weight
        if word.isascii():
            scripts.add("latin")
            continue
        scripts.add(script_of(word))
        for language in {_TELLING_LETTERS[letter] for letter in word if letter in _TELLING_LETTERS}:
            evidence[language] += _LETTER_WEIGHT
    return {script: _likeliest(_BY_SCRIPT.get(script, ("",)), evidence) for script in scripts}


def _likeliest(languages: tuple[str, ...], evidence: dict[str, float]) -> tuple[str, ...]:
    """Those with evidence, the most first, then the script's own; all when nothing tells."""
    told = sorted((each for each in languages if evidence.get(each)), key=lambda each: -evidence[each])
    told = [each for each in told if 2 * evidence[each] >= evidence[told[0]]]
    if not told:
        return languages
    return (*told, languages[0]) if languages[0] not in told else tuple(told)


def stem(word: str, language: str) -> str:
    """The casefolded word's stem without accents; the word itself where Snowball has no such language.

    The stemmer is made anew for each word (0.3 µs): it has a state, and threads would write it over.
    """
    stemmer = _stemmer_class(language)
    if language == "english":
        word = IRREGULAR.get(word, word)
    return unaccented(stemmer().stemWord(word) if stemmer else word)


@cache
def _stemmer_class(language: str) -> type[_Stemmer] | None:
    """By its module, not by `snowballstemmer.stemmer`: that would take PyStemmer of any version where it is installed."""
    name = _ALGORITHMS.get(language, language)
    if not name:
        return None
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    found: type[_Stemmer] = getattr(module, f"{name.capitalize()}Stemmer")
    return found


_ARABIC_LETTERS = str.maketrans(
    {
        "ي": "ی",
        "ى": "ی",
        "ك": "ک",
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ة": "ه",
        "ؤ": "و",
        "ـ": "",
        "\u200c": "",
        "\u200d": "",
    }
)


def unaccented(word: str) -> str:
    """Without accents and vowel marks, Persian and Arabic letters made one. Signs that spell (Hindi, Thai) stay."""
    return word if word.isascii() else _unaccented(word)


@lru_cache(maxsize=16_384)
def _unaccented(word: str) -> str:
    letters = [each for each in unicodedata.normalize("NFD", word) if not _is_accent(each)]
    return unicodedata.normalize("NFC", "".join(letters)).translate(_ARABIC_LETTERS)


def _is_accent(character: str) -> bool:
    return (
        "\u0300" <= character <= "\u036f"
        or "\u064b" <= character <= "\u0670"
        or "\u0591" <= character <= "\u05c7"
    )
