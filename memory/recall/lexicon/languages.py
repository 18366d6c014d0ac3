"""Languages of words, guessed by script, function words and typical letters; and the stems of words."""

import importlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Protocol

from memory.recall.lexicon.scripts import script_of
from memory.recall.lexicon.word_lists import load_words

_LATIN = "english spanish german portuguese french italian dutch swedish polish turkish"
_BY_SCRIPT: dict[str, tuple[str, ...]] = {
    "latin": tuple(_LATIN.split()),
    "cyrillic": ("russian", "ukrainian"),
    "arabic": ("persian", "arabic"),
    "devanagari": ("hindi",),
    "greek": ("greek",),
    "armenian": ("armenian",),
    "tamil": ("tamil",),
}
"""Languages by script. The first is the default if there is no evidence."""
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
_LANGUAGE_OF_LETTER = {letter: language for letters, language in _LETTERS.items() for letter in letters}
_LETTER_WEIGHT = 0.7
_ALGORITHMS = {"ukrainian": "russian"}
"""Snowball has no Ukrainian; the Russian endings are the nearest."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language; empty if we have no list."""
    return frozenset(load_words("stop_words")["languages"].get(language, "").split())


@cache
def all_stop_words() -> frozenset[str]:
    """Return the stop words of all languages."""
    return frozenset(
        word for words in load_words("stop_words")["languages"].values() for word in words.split()
    )


@cache
def _words_by_language() -> dict[str, tuple[tuple[str, float], ...]]:
    """Map each function word to its languages. The fewer languages, the higher its weight."""
    of_word: defaultdict[str, list[str]] = defaultdict(list)
    for language in load_words("stop_words")["languages"]:
        for word in stop_words(language):
            of_word[word].append(language)
    return {
        word: tuple((language, 1 / len(languages)) for language in languages)
        for word, languages in of_word.items()
    }


def plausible_languages(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the likely languages of these casefolded words by script, the likeliest first, at least one each."""
    languages_of = _words_by_language()
    evidence: defaultdict[str, float] = defaultdict(float)
    scripts: set[str] = set()
    for word in words:
        for language, weight in languages_of.get(word, ()):
            evidence[language] += weight
        if word.isascii():
            scripts.add("latin")
            continue
        scripts.add(script_of(word))
        for language in {_LANGUAGE_OF_LETTER[letter] for letter in word if letter in _LANGUAGE_OF_LETTER}:
            evidence[language] += _LETTER_WEIGHT
    return {script: _likeliest(_BY_SCRIPT.get(script, ("",)), evidence) for script in scripts}


def _likeliest(languages: tuple[str, ...], evidence: dict[str, float]) -> tuple[str, ...]:
    """Return the languages with evidence, strongest first, then the default; all of them without evidence."""
    supported = sorted((each for each in languages if evidence.get(each)), key=lambda each: -evidence[each])
    supported = [each for each in supported if 2 * evidence[each] >= evidence[supported[0]]]
    if not supported:
        return languages
    return (*supported, languages[0]) if languages[0] not in supported else tuple(supported)


def stem(word: str, language: str) -> str:
    """Return the stem of a casefolded word without accents, or the word if Snowball has no such language.

    The stemmer has state and threads share it, so each word makes a new one (0.3 µs).
    """
    stemmer = _stemmer_class(language)
    if language == "english":
        word = _base_words().get(word, word)
    return unaccented(stemmer().stemWord(word) if stemmer else word)


@cache
def _base_words() -> dict[str, str]:
    """Return the base words of English forms that no stemmer unifies."""
    groups = (group.split() for group in load_words("irregular_forms")["forms"].split("|"))
    return {form: word for word, *forms in groups for form in forms}


@cache
def _stemmer_class(language: str) -> type[_Stemmer] | None:
    """Import Snowball's own module, because `snowballstemmer.stemmer` would use any PyStemmer that is installed."""
    name = _ALGORITHMS.get(language, language)
    if not name:
        return None
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stemmer: type[_Stemmer] = getattr(module, f"{name.capitalize()}Stemmer")
    return stemmer


_ARABIC_LETTERS = str.maketrans("يىكأإآةؤ", "ییکاااهو", "ـ\u200c\u200d")


def unaccented(word: str) -> str:
    """Return a word without accents and vowel marks, with Persian and Arabic letters unified. Hindi and Thai keep
    theirs.
    """
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
