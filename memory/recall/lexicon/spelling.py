"""A word's terms: its stem, and its parts where endings, compounds or missing spaces hide it."""

import re
from functools import lru_cache
from hashlib import blake2b

from memory.recall.lexicon.languages import stem, stop_words
from memory.recall.lexicon.scripts import script_of
from memory.recall.lexicon.stop_words import CHINESE_WORDS, UNSPACED_PHRASES

_PARTS_WEIGHT = 0.25
_CHARACTER_WEIGHT = 0.3
_HIRAGANA_WEIGHT = 0.3
_UNSPACED_WEIGHTS = {2: 0.05, 3: 0.15, 4: 0.25}
_SYLLABLES_WEIGHT = 1.0
"""How much the parts of a word weigh in a question beside the word's 1.

Set by benchmarks/sanity_pairs.json, and held against LoCoMo: at most 0.3 costs nothing there.
"""

_DIGIT_ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50"
_DIGITS = str.maketrans({chr(ord(zero) + n): str(n) for zero in _DIGIT_ZEROS for n in range(10)})
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_STYLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_ADDRESS_FILLERS = frozenset(("http", "https", "www", "com", "org", "net", "html", "htm", "php", "index"))
_READ_OF_AN_ADDRESS = 500
_WORDS_OF_AN_ADDRESS = 12
_LONGEST_KEPT = 24
"""Characters of the words whose terms are kept (some 20 MB at most); longer ones hardly come again."""

Weighted = tuple[tuple[int, float], ...]
"""Hashes of terms, each with its weight in a question."""
_Spelt = list[tuple[str, float]]


def word_terms(word: str, language: str) -> Weighted:
    """The terms of one casefolded word in this language; none for a stop word. What has no spaces is one word."""
    return (
        _short_word_terms(word, language)
        if len(word) <= _LONGEST_KEPT
        else _hashed(spell_word(word, language))
    )


def other_terms(kind: str, text: str) -> Weighted:
    """The terms of a piece of this kind (see terms.Token) that is no word."""
    return _hashed(spell_other(kind, text))


@lru_cache(maxsize=16_384)
def _short_word_terms(word: str, language: str) -> Weighted:
    return _hashed(spell_word(word, language))


def _hashed(spelt: _Spelt) -> Weighted:
    return tuple((term_index(term), weight) for term, weight in spelt)


def term_index(term: str) -> int:
    """The term's hash, 32 bits, the same in every process. Terms of one hash are taken for the same."""
    return int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=4).digest(), "big")


def spell_word(word: str, language: str) -> _Spelt:
    """A casefolded word's terms in letters, each with its weight in a question."""
    script = script_of(word)
    if script == "han":
        return _han_terms(word)
    if script == "continuous":
        return [
            ("~" + word[at : at + size], weight)
            for size, weight in _UNSPACED_WEIGHTS.items()
            for at in range(len(word) - size + 1)
        ]
    if script == "hangul":
        return [(word, 1.0), *_parts(word, 2, _SYLLABLES_WEIGHT)]
    stops = stop_words(language)
    found: _Spelt = []
    for part in () if word in stops else word.split("'"):
        if part and part not in stops:
            stemmed = stem(part, language).translate(_DIGITS)
            found.append((stemmed, 1.0))
            if language != "english":
                found += _parts("^" + stemmed, 3, _PARTS_WEIGHT)
    return found


def _parts(word: str, size: int, weight: float) -> _Spelt:
    """The word's n-grams. The more there are the less each weighs, the square root's way."""
    grams = {word[at : at + size] for at in range(len(word) - size + 1)}
    return [("~" + gram, weight / len(grams) ** 0.5) for gram in sorted(grams)]


def _han_terms(run: str) -> _Spelt:
    """Pairs of characters of what stands between function words, and each character for a little."""
    for phrase in UNSPACED_PHRASES:
        run = run.replace(phrase, " ")
    found: _Spelt = []
    for piece in "".join(" " if each in CHINESE_WORDS else each for each in run).split():
        found += [
            (each, 1.0 if len(piece) == 1 else _CHARACTER_WEIGHT) for each in piece if not _is_hiragana(each)
        ]
        pairs = [piece[at : at + 2] for at in range(len(piece) - 1)]
        found += [(pair, _HIRAGANA_WEIGHT if _is_hiragana(pair) else 1.0) for pair in pairs]
    return found


def _is_hiragana(text: str) -> bool:
    return all("\u3040" <= each <= "\u309f" for each in text)


def spell_other(kind: str, text: str) -> _Spelt:
    """The terms in letters of a number, an address, a tag or an emoji."""
    if kind == "number":
        return [(_number(text.translate(_DIGITS)), 1.0)]
    if kind == "emoji":
        return [(_STYLE.sub("", text), 1.0)]
    if kind == "tag":
        return [(text, 1.0)]
    parts = [part for part in re.split(r"[\W_]+", text[:_READ_OF_AN_ADDRESS]) if part not in _ADDRESS_FILLERS]
    words = [stem(part, "english") for part in parts if part][:_WORDS_OF_AN_ADDRESS]
    return [(text, 1.0), *((word, 0.5) for word in words)]


def _number(text: str) -> str:
    """1,000 and 1000 are one term; 3,5 and 3.5 too."""
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".")
