"""Safe places to cut a text, text without lone surrogates, and text that shows nothing."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_JOINER = "\u200d"
# Characters that join with the next one: a joiner, viramas of Indic conjuncts, signs before a number.
_JOINERS = frozenset(
    f"{_JOINER}\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2"
)
_EXTENDERS = frozenset(f"{_JOINER}\u200c\u0e33\u0eb3\uff9e\uff9f")
_LONGEST_CHARACTER = 32
"""Code points that are searched for a safe cut. Longer piles of accents are cut anyway."""

# Telegram refuses a text of only these as empty (`clean_input_string` and `strip_empty_characters` of TDLib).
_INVISIBLE = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u030a\u0333\u033f\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]*+"
)


def well_formed(text: str) -> str:
    """Return the text with surrogate pairs joined and lone surrogates as U+FFFD: only this can be sent as
    UTF-8.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str, at_most: int | None = None) -> str:
    """Return the text on one line, cut to `at_most` characters, without invisible and direction characters.

    Joiners stay: emoji and Persian words need them.
    """
    line = " ".join("".join(map(_visible, well_formed(text))).split())
    return line if at_most is None or len(line) <= at_most else line[: seam_before(line, at_most)].rstrip()


def _visible(character: str) -> str:
    """Return the character, a blank for one that breaks lines, and "" for an invisible one."""
    if " " <= character <= "~":
        return character
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    is_needed = character in "\u200c\u200d" or "\U000e0020" <= character <= "\U000e007f"
    return "" if category == "Cf" and not is_needed else character


def is_blank(text: str) -> bool:
    """Return True if a chat shows nothing of this text: it has only spaces, line breaks and invisible characters."""
    return _INVISIBLE.fullmatch(text) is not None


def seam_before(text: str, position: int) -> int:
    """Return the nearest place at or before `position` where a cut divides no emoji sequence or accented
    letter.
    """
    for place in range(position, max(position - _LONGEST_CHARACTER, -1), -1):
        if is_seam(text, place):
            return place
    return position


def seam_after(text: str, position: int) -> int:
    """Return the nearest place at or after `position` where a cut divides no emoji sequence or accented
    letter.
    """
    for place in range(position, min(position + _LONGEST_CHARACTER, len(text)) + 1):
        if is_seam(text, place):
            return place
    return position


def is_seam(text: str, place: int) -> bool:
    """Return True if a cut at `place` divides no character that a reader sees as one.

    A run of flags counts as one character.
    """
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    return not (are_joined(before, after) or (is_flag_letter(before) and is_flag_letter(after)))


def are_joined(left: str, right: str) -> bool:
    """Return True if two characters are drawn as one: grapheme clusters of UAX #29 without flags, and a little more."""
    return (
        left in _JOINERS
        or right in _EXTENDERS
        or unicodedata.category(right) in {"Mn", "Mc", "Me"}  # combining marks and variation selectors
        or "\U0001f3fb" <= right <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= right <= "\U000e007f"  # tags of regional flags
        or (_is_hangul(left) and "\u1100" <= right <= "\u11ff")
        or ("\u1100" <= left <= "\u115f" and _is_hangul(right))
        or left + right == "\r\n"
    )


def _is_hangul(character: str) -> bool:
    """Return True for letters and syllables of Hangul."""
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"


def is_flag_letter(character: str) -> bool:
    """Return True for a regional indicator: two of them are a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


_UNSEEN_CATEGORIES = frozenset(["Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs"])
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800")
"""Fillers and the empty braille pattern: letters and symbols to Unicode, blanks to the eye."""
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁӏοναι【〔〖〘〚⟦⁅❲｢「『", "aeopcyxijshdlovai[[[[[[[[[[[")  # noqa: RUF001
"""Cyrillic and Greek letters and brackets that readers take for those of our marks."""


def as_read(text: str) -> str:
    """Return all `seen_characters` of the text."""
    return "".join(seen_characters(text))


def seen_characters(text: str) -> Iterator[str]:
    """Yield the characters as readers see them: plain, in lower case, without blanks and invisible characters."""
    for character in text:
        if "!" <= character <= "~":
            yield character.lower()
        else:
            yield from _plain(character)


@lru_cache(maxsize=4_096)
def _plain(character: str) -> str:
    plain = unicodedata.normalize("NFKC", character).casefold()
    return "".join(
        each.translate(_LOOKALIKES)
        for each in plain
        if each not in _BLANK_LETTERS and unicodedata.category(each) not in _UNSEEN_CATEGORIES
    )
