"""What speaks for a message that was found: named features, computed from the question and from what stands around it."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.recall.lexicon.analysis import DateSpan, QuestionAnalysis, QuestionWord
from memory.recall.lexicon.signs import ASKS, FIRST_PERSON, NAME, QUESTION, TIME, WHEN
from memory.recall.vector_index import Candidate

Column = NDArray[np.float64]

REACH = 2
"""Messages on each side that count as what stands around a message."""

FEATURES = (
    "words",  # its BM25 score, as a share of the best one
    "words_log",  # ln(1 + its BM25 score)
    "meaning",  # its cosine
    "words_and_meaning",  # the product of the two
    "window",  # how much of the question it and the messages around it have in common
    "session_words",  # the best "words" in its stretch of talk
    "session_meaning",  # the best cosine in its stretch of talk
    "answers_words",  # the "words" of the message before it, where another person asks something in that
    "answers_meaning",  # the cosine of that one
    "author",  # it is by the person that is asked about
    "author_of_self",  # … and speaks in the first person
    "date",  # it was written when the question says
    "time_told",  # it tells a time, and the question asks for one
    "name_told",  # it tells a name, and the question asks for one
    "question",  # it ends with a question mark
    "session_start",  # it begins a stretch of talk
)
"""The columns of `featurise`, in order. What is not known (no neighbour, no vector) is 0."""

HYBRID_FEATURES = tuple(name for name in FEATURES if name not in ("session_words", "answers_words"))
"""Those that tell something where there are vectors: with "session_meaning" and "answers_meaning", the two add nothing."""
LEXICAL_FEATURES = tuple(name for name in FEATURES if "meaning" not in name)
"""Those that tell something without vectors."""

_WINDOW_TERMS = 256
"""Of a question's terms; more come with a text of pages, and would take as long as all else together."""
_KINDRED = 0.4
"""Words that share fewer of their parts than this have nothing to do with each other."""
_DISTANCE_DECAY = 0.9
_WINDOW_SCALE = 10.0
_DAY_S = 86_400.0
_WEEK_S = 7 * _DAY_S
_LONGEST_DATE_S = 100 * _DAY_S
"""A season; a whole year tells nothing about which of its messages is meant."""


def featurise(
    question: QuestionAnalysis, messages: Sequence[Candidate], *, listed: Collection[int]
) -> NDArray[np.float64]:
    """A row of FEATURES for each of these messages: those on the shortlist and those beside them, each once.

    `listed` are the sequences of the former: how rare a term of the question is, is counted among them.
    """
    talk = _Talk.of(messages)
    words = np.array([each.sparse for each in messages])
    share = words / words.max(initial=0.0) if words.max(initial=0.0) > 0 else words
    meaning = np.array([0.0 if each.dense is None else each.dense for each in messages])
    likeness = np.maximum(meaning, 0.0)
    author = _flags(question.author is not None and each.sender_id == question.author for each in messages)
    asked_before = _asked_before(talk)
    columns: dict[str, Column] = {
        "words": share,
        "words_log": np.log1p(words),
        "meaning": meaning,
        "words_and_meaning": share * likeness,
        "window": _window(question, talk, listed),
        "session_words": _best_of_session(share, talk),
        "session_meaning": _best_of_session(meaning, talk),
        "answers_words": asked_before * talk.shifted(share, -1),
        "answers_meaning": asked_before * talk.shifted(likeness, -1),
        "author": author,
        "author_of_self": author * talk.having(FIRST_PERSON),
        "date": np.array([_nearness(each.sent_at, question.dates) for each in messages]),
        "time_told": talk.having(TIME) * (WHEN in question.signs),
        "name_told": talk.having(NAME) * (NAME in question.signs),
        "question": talk.having(QUESTION),
        "session_start": _flags(each.sequence == each.session for each in messages),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def share_of_words(question: QuestionAnalysis, message: Candidate) -> float:
    """How many of the question's words the message has, 0 to 1; a kindred word counts by the parts that it shares."""
    shares = [_share_of_word(word, message.terms) for word in question.words]
    return sum(shares) / len(shares) if shares else 0.0


def _share_of_word(word: QuestionWord, terms: frozenset[int]) -> float:
    if word.whole & terms:
        return 1.0
    share = len(word.parts & terms) / len(word.parts) if word.parts else 0.0
    return share if share >= _KINDRED else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Talk:
    """Messages, and their neighbours by offset: rows, -1 where there is none, or one of another stretch of talk."""

    messages: Sequence[Candidate]
    beside: dict[int, NDArray[np.intp]]

    @staticmethod
    def of(messages: Sequence[Candidate]) -> "_Talk":
        rows = {each.sequence: row for row, each in enumerate(messages)}
        offsets = [sign * distance for distance in range(1, REACH + 1) for sign in (-1, 1)]
        return _Talk(
            messages=messages, beside={offset: _rows_beside(messages, rows, offset) for offset in offsets}
        )

    def having(self, sign: str) -> Column:
        """1 for each message with this sign."""
        return _flags(sign in each.signs for each in self.messages)

    def shifted(self, values: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
        """For each message the value (or row of values) of the one beside it, 0 without one."""
        rows = self.beside[offset]
        taken = values[rows]
        taken[rows < 0] = 0.0
        return taken


def _rows_beside(messages: Sequence[Candidate], rows: dict[int, int], offset: int) -> NDArray[np.intp]:
    beside = np.full(len(messages), -1, np.intp)
    for row, message in enumerate(messages):
        other = rows.get(message.sequence + offset, -1)
        if other >= 0 and messages[other].session == message.session:
            beside[row] = other
    return beside


def _window(question: QuestionAnalysis, talk: _Talk, listed: Collection[int]) -> Column:
    """Over the question's terms: how rare, times 1 if the message has it, less if only one around it has."""
    columns = {term: column for column, term in enumerate(question.terms.indices[:_WINDOW_TERMS])}
    has = np.zeros((len(talk.messages), len(columns)))
    for row, message in enumerate(talk.messages):
        for term in columns.keys() & message.terms:
            has[row, columns[term]] = 1.0
    reached = has.copy()
    for offset in talk.beside:
        np.maximum(reached, _DISTANCE_DECAY ** abs(offset) * talk.shifted(has, offset), out=reached)
    found = has[[each.sequence in listed for each in talk.messages]]
    having = found.sum(axis=0)
    rarity = np.log1p((len(found) - having + 0.5) / (having + 0.5))
    return reached @ (rarity * np.array(question.terms.values[:_WINDOW_TERMS])) / _WINDOW_SCALE


def _best_of_session(values: Column, talk: _Talk) -> Column:
    best: dict[int, float] = {}
    for message, value in zip(talk.messages, values.tolist(), strict=True):
        best[message.session] = max(value, best.get(message.session, value))
    return np.array([best[message.session] for message in talk.messages])


def _asked_before(talk: _Talk) -> Column:
    """1 where the message before is another person's and asks something."""
    asked = np.zeros(len(talk.messages))
    rows: list[int] = talk.beside[-1].tolist()
    for number, (row, message) in enumerate(zip(rows, talk.messages, strict=True)):
        before = talk.messages[row]
        asked[number] = row >= 0 and ASKS in before.signs and _author(before) != _author(message)
    return asked


def _author(message: Candidate) -> tuple[str, int | None]:
    return message.role, message.sender_id


def _nearness(sent_at: float, dates: Sequence[DateSpan]) -> float:
    """1 within a stretch that the question names, less in the days around a short one; 0 without one."""
    return max((_nearness_to(sent_at, date) for date in dates), default=0.0)


def _nearness_to(sent_at: float, date: DateSpan) -> float:
    length = date.end - date.start
    if length > _LONGEST_DATE_S:
        return 0.0
    away = max(date.start - sent_at, sent_at - date.end, 0.0)
    if away > 0 and length > _WEEK_S:
        return 0.0
    return math.exp(-away / _WEEK_S)


def _flags(values: Iterable[bool]) -> Column:
    return np.array(list(values), np.float64)
