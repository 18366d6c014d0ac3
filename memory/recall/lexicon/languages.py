"""Scripts and languages of texts, their normal form, word lists and stems."""

import importlib
import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Protocol

from memory.characters import well_formed


@cache
def load_words(name: str) -> dict[str, Any]:
    """Return the tables of words/NAME.toml. All files together take 7 ms."""
    file = files("memory.recall.lexicon").joinpath("words", f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))


@cache
def load_pattern(name: str, key: str) -> re.Pattern[str]:
    """Compile a pattern of words/NAME.toml."""
    return re.compile(join_lines(load_words(name)[key]))


def join_lines(pattern: str) -> str:
    """Join the lines of a pattern without their indentation."""
    return "".join(line.strip() for line in pattern.splitlines())


READ_LIMIT = 16_000
"""Characters of a text that are read, from its beginning: four of Telegram's longest messages."""

CONTINUOUS = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff"
"""Thai, Lao, Tibetan, Burmese, Khmer: scripts without spaces between words."""
HAN = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
"""Chinese characters and Japanese kana."""
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0970-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u200c\u200d\u3099\u309a"
)
"""Parts of words that Python's \\w does not match: vowel signs, accents, Persian's narrow joiner."""

_SCRIPTS = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff",
    "han": HAN,
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "armenian": "\u0530-\u058f",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "tamil": "\u0b80-\u0bff",
    "hangul": HANGUL,
    "continuous": CONTINUOUS,
}
SCRIPTS = frozenset([*_SCRIPTS, "other"])
UNSPACED_SCRIPTS = frozenset(["han", "hangul", "continuous"])
_OF_SCRIPT = {name: re.compile(f"[{characters}]") for name, characters in _SCRIPTS.items()}
_LETTER = re.compile(r"[^\W\d_]")
_UNSEEN = re.compile("[\xad\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Soft hyphens and direction marks, which separate nothing. Emoji and Persian words need joiners, so they stay."""
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b]")
_COMBINING = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u094d"
    "\u0e38-\u0e3a\u0e48-\u0e4b\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_PILED_MARKS = re.compile(f"([{_COMBINING}]{{16}})[{_COMBINING}]+")
"""More marks on one letter than any language has. The time to normalise a pile grows with the square of its height.
"""
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u02b9\u0060\u00b4", "'"))


def normal(text: str) -> str:
    """Return the beginning of a text in normal form: NFKC, straight apostrophes, no invisible or broken characters."""
    text = text[:READ_LIMIT]
    if text.isascii() and text.isprintable():
        return text.translate(_APOSTROPHES) if "`" in text else text
    text = _PILED_MARKS.sub(r"\1", _UNSEEN.sub("", well_formed(text).translate(_APOSTROPHES)))
    return _CONTROLS.sub(" ", unicodedata.normalize("NFKC", text)[:READ_LIMIT])


def script_of(word: str) -> str:
    """Return the script of the first letter in a script that we know; "other" if there is none."""
    if word.isascii():
        return "latin"
    for character in word:
        for name, pattern in _OF_SCRIPT.items():
            if pattern.match(character):
                return name
    return "other"


def is_latin(text: str) -> bool:
    """Return True if more than half of the letters are Latin, or there are no letters. English-only embedders read no
    other texts.

    Only the first READ_LIMIT characters count.
    """
    if text.isascii():
        return True
    text = text[:READ_LIMIT]
    letters = len(_LETTER.findall(text))
    return not letters or 2 * len(_OF_SCRIPT["latin"].findall(text)) > letters


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


def plausible_languages(pieces: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the likely languages of casefolded words by script, the likeliest first, at least one for each script.

    A piece is a script and a word. Others, such as numbers, are ignored. Without evidence all languages are likely.
    """
    languages_of = _words_by_language()
    evidence: defaultdict[str, float] = defaultdict(float)
    scripts: set[str] = set()
    for script, word in pieces:
        if script not in SCRIPTS:
            continue
        scripts.add(script)
        for language, weight in languages_of.get(word, ()):
            evidence[language] += weight
        if not word.isascii():
            for language in {_LANGUAGE_OF_LETTER[letter] for letter in word if letter in _LANGUAGE_OF_LETTER}:
                evidence[language] += _LETTER_WEIGHT
    return {script: _likeliest(_BY_SCRIPT.get(script, ("",)), evidence) for script in scripts}


def _likeliest(languages: tuple[str, ...], evidence: Mapping[str, float]) -> tuple[str, ...]:
    """Return the languages with at least half of the strongest evidence, strongest first, then the default."""
    strongest = max(map(evidence.__getitem__, languages))
    supported = [each for each in languages if 2 * evidence[each] >= strongest]
    supported.sort(key=evidence.__getitem__, reverse=True)
    return (*supported, languages[0]) if languages[0] not in supported else tuple(supported)


def stem(word: str, language: str) -> str:
    """Return the stem of a casefolded word without accents, or the word if Snowball has no such language.

    The stemmer has state and threads share it, so each word makes a new one (0.3 µs).
    """
    stemmer = _stemmer_class(language)
    if language == "english":
        word = _base_words().get(word, word)
    stemmed = stemmer().stemWord(word) if stemmer else word
    return stemmed if stemmed.isascii() else _unaccented(stemmed)


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


@lru_cache(maxsize=2_048)
def _unaccented(word: str) -> str:
    letters = [each for each in unicodedata.normalize("NFD", word) if not _is_accent(each)]
    return unicodedata.normalize("NFC", "".join(letters)).translate(_ARABIC_LETTERS)


def _is_accent(character: str) -> bool:
    return (
        "\u0300" <= character <= "\u036f"
        or "\u064b" <= character <= "\u0670"
        or "\u0591" <= character <= "\u05c7"
    )
