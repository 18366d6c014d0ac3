"""A text as its readers take it, whatever characters it is made of (pure)."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_UNSEEN_CATEGORIES = frozenset(["Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs"])
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800")
"""Fillers and the empty braille pattern: letters and symbols to Unicode, blanks to the eye."""
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁӏοναι【〔〖〘〚⟦⁅❲｢「『", "aeopcyxijshdlovai[[[[[[[[[[[")  # noqa: RUF001
"""Cyrillic and Greek letters and brackets that readers take for those of our marks."""


def as_read(text: str) -> str:
    """All of its `seen_characters`."""
    return "".join(seen_characters(text))


def seen_characters(text: str) -> Iterator[str]:
    """The characters as readers take them: plain and in lower case, without blanks and without what has no width."""
    for character in text:
        yield from _plain(character)


@lru_cache(maxsize=4_096)
def _plain(character: str) -> str:
    plain = unicodedata.normalize("NFKC", character).casefold()
    return "".join(
        each.translate(_LOOKALIKES)
        for each in plain
        if each not in _BLANK_LETTERS and unicodedata.category(each) not in _UNSEEN_CATEGORIES
    )
