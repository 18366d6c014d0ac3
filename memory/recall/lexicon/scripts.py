"""Scripts of texts, and the normal form in which texts are read."""

import re
import unicodedata

from memory.characters import well_formed

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
