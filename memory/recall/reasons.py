"""Reasons of a search hit: the kinds of evidence that made recall find a message, and the words that match."""

from typing import Literal

from memory.recall.lexicon.languages import normal
from memory.recall.lexicon.terms import find_words, question_terms, tokenize

_WORDS_AT_MOST = 8

Reason = Literal["words", "meaning", "date", "writer"]
"""words: the message has a word of the question. meaning: it says something similar. date: it was written in the period
that the question names. writer: it was written by the person that the question is about.
"""


def matched_words(question: str, text: str) -> tuple[str, ...]:
    """Return the words of a text that the question has too, as the text writes them, each once and at most eight.

    Words match by their stems, as in a search, and stop words never do. There are none in languages that a search
    reads by parts of words, such as Thai. Takes about a millisecond: compute it only to show it.
    """
    _, asked = question_terms(tokenize(normal(question)))
    wanted = frozenset[int]().union(*(word.whole for word in asked))
    found: dict[str, str] = {}
    for word in find_words(normal(text), wanted):
        found.setdefault(word.casefold(), word)
    return tuple(found.values())[:_WORDS_AT_MOST]
