"""What the lexicon makes of a message and of a question: the values that the index keeps and the ranker weighs."""

from dataclasses import dataclass

RECIPE = "1"
"""Part of the collection's name: it changes when texts are analysed otherwise, and everything is indexed anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector:
    """Weights of terms: `indices` (unsigned 32 bits, each once) are the hashes of the terms. May be empty."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A stretch of time that a text names: Unix seconds, `start` included, `end` not."""

    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAnalysis:
    """A message as the index keeps it.

    `masked` is the text without the participants' names: it is what is embedded. `terms` are its BM25 weights,
    `signs` names such as "question" (memory/recall/lexicon/signs.py).
    """

    masked: str
    terms: SparseVector
    signs: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWord:
    """A word of a question that is no stop word, by the hashes of its terms.

    A message that has any of `whole` (its stem, in each language that it may be in) has the word; `parts` are its
    n-grams, of which kindred words share some. Either may be empty.
    """

    whole: frozenset[int]
    parts: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnalysis:
    """A question as it is searched with.

    `words` are what it asks for, each once. `author` is the id of the participant whose message it asks for, `dates`
    the stretches of time that it names.
    """

    masked: str
    terms: SparseVector
    signs: frozenset[str]
    author: int | None = None
    dates: tuple[DateSpan, ...]
    words: tuple[QuestionWord, ...] = ()
