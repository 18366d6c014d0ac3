"""Words of a text, compared without case, accents and the commonest endings."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_HYPHEN = re.compile(r"(?<=\w)[-‐](?=\w)")
_BREVE = "\u0306"
"""Stays: й and и are different letters, é and e are the same letter in two spellings."""
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|[аеиоуыьэюяй]{1,2})$")
_ENGLISH = """a an the this that these those there here it its he she they them him her his their we us our i me my mine
you your yours am is are was were be been do does did have has had will would can could shall should may might must
not no yes and or but if so as at by for from in into of off on out over to up with about what whats when where which
who whom whose why how old many much tell told say said mention mentioned remember recall know please just now then
again ever also too very some any all one s t m re ve ll d name called city town country place date day colour color
number time put find found keep kept"""
_SPANISH = (
    "el la los las un una y o de del al en con por para que quien donde cuando como cual mi mis tu su es son"
)
_RUSSIAN = "и а но не в на с у о об от до за из по что кто где когда как какой какого я ты мы он она мне меня моя мой"
_FUNCTION_WORDS = frozenset(f"{_ENGLISH} {_SPANISH} {_RUSSIAN}".split())
"""Words that carry little meaning, and those that say which kind of answer is wanted."""


def fold(text: str) -> str:
    """Return the text without case and accents: "Él vive" and "EL VIVE" are equal."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = (mark for mark in decomposed if mark == _BREVE or not unicodedata.combining(mark))
    return unicodedata.normalize("NFC", "".join(letters))


def folded_words(text: str) -> list[str]:
    """Return every word in order; an apostrophe ends a word, a hyphen does not."""
    return _WORD.findall(_HYPHEN.sub("", fold(text)))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(_ENDING.sub("", word) for word in folded_words(text) if word not in _FUNCTION_WORDS)


def function_words(text: str) -> frozenset[str]:
    """Return the function words: they decide between statements that say equally much ("I", "my")."""
    return frozenset(word for word in folded_words(text) if word in _FUNCTION_WORDS)
