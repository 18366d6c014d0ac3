"""Results of the lexicon: the values that the index stores and the ranker weighs."""

from dataclasses import dataclass

RECIPE = "1"
"""Version of the text analysis. It is part of the collection's name, so a change indexes everything again."""

BOT = 0
"""The author that "you" means. The bot's messages have no sender."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector:
    """Weights of terms. `indices` are hashes of the terms (unsigned 32 bits, each once). May be empty."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A period that a text names, in Unix seconds. `start` is inclusive, `end` exclusive."""

    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAnalysis:
    """A message as the index stores it.

    `masked` is the text without the participants' names, which is what gets embedded. `terms` are its BM25 weights.
    `signs` are names such as "question" (memory/recall/lexicon/analyser.py).
    """

    masked: str
    terms: SparseVector
    signs: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWord:
    """A word of a question that is no stop word, by the hashes of its terms. Either set may be empty.

    A message has the word if it has any of `whole`: the stems in all likely languages. `parts` are its n-grams, which
    related words share.
    """

    whole: frozenset[int]
    parts: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnalysis:
    """A question as a search uses it.

    `words` are its search words, each once. `author` is the id of the participant whose message it asks for, or BOT.
    `dates` are the periods that it names.
    """

    masked: str
    terms: SparseVector
    signs: frozenset[str]
    author: int | None = None
    dates: tuple[DateSpan, ...]
    words: tuple[QuestionWord, ...] = ()
