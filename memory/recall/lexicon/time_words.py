"""Words for times, in eight languages, by their role in a date."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import re
from functools import cache

from memory.recall.lexicon.languages import unaccented
from memory.recall.lexicon.scripts import MARKS
from memory.recall.lexicon.word_lists import load_words

HOUR, DAY, WEEK, MONTH, YEAR, WEEKEND = range(6)
SINCE = 1
YEARS = range(1900, 2101)
"""Numbers that count as years."""


Meaning = tuple[str, int]
"""Kind of a word (a letter, see words/time_words.toml) and its value."""
_FIRST_VALUES = {"M": 1, "a": 1, "I": 1}
"""Value of the first line of a table; 0 for all others."""


@cache
def time_words() -> dict[str, Meaning]:
    """Return the kind (a letter) and value of each word, casefolded and without accents."""
    lists = load_words("time_words")
    words: dict[str, Meaning] = {}
    for kind, table in lists["by_line"].items():
        for value, line in enumerate(table.strip().split("\n"), _FIRST_VALUES.get(kind, 0)):
            words |= dict.fromkeys(line.split(), (kind, value))
    for meaning, others in lists["by_value"].items():
        kind, value = meaning.split()
        words |= dict.fromkeys(others.split(), (kind, int(value)))
    return {unaccented(word): meaning for word, meaning in words.items()}


_WORD = re.compile(rf"\d{{1,4}}(?!\d)|[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\bday before yesterday\b", "ereyesterday"),
        (r"\bfin de semana\b|\bfim de semana\b|\bfine settimana\b|\bweek-end\b|آخر هفته", "weekend"),
        (r"\b(segunda|ter[cç]a|quarta|quinta|sexta)[- ]feira\b", r"\1feira"),
        (r"\bil y a\b", "ilya"),
        (r"\b(یک|دو|سه|چهار|پنج) شنبه", r"\1شنبه"),
    )
)


def time_meanings(text: str) -> list[Meaning]:
    """Return the meaning of each word of a normal text, in order: "x" for no time, "D" and its value for a number."""
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    lexicon = time_words()
    meanings: list[Meaning] = []
    for word in _WORD.findall(text):
        if word.isdecimal():
            meanings.append(("D", int(word)))
        else:
            meanings.append(lexicon.get(unaccented(word.casefold()), ("x", 0)))
    return [meaning for meaning in meanings if meaning[0] != "X"]
