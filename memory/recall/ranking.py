"""Ranking: orders candidate messages by a weighted sum of named features, and drops irrelevant ones."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from memory.recall.lexicon.analyser import ASKS, BARE, FIRST_PERSON, NAME, QUESTION, TIME, WHEN
from memory.recall.lexicon.analysis import DateSpan, QuestionAnalysis, QuestionWord
from memory.recall.vector_index import Candidate, Hit

SHORTLIST = 100
"""Messages that are ranked, with some neighbours. A longer list finds no more (docs/recall.md)."""
BEST = 30
"""Messages of the shortlist whose neighbours are ranked too."""
REACH = 2
"""Messages on each side that count as neighbours."""
FEATURES = (
    "words",  # BM25 score, as a share of the best one
    "words_log",  # ln(1 + BM25 score)
    "meaning",  # cosine
    "words_and_meaning",  # product of "words" and "meaning"
    "window",  # overlap of the question with the message and its neighbours
    "session_words",  # best "words" in its session
    "session_meaning",  # best cosine in its session
    "answers_words",  # "words" of the message before it, if another person asks a question there
    "answers_meaning",  # cosine of that message
    "author",  # written by the person that the question is about
    "author_of_self",  # … in the first person
    "date",  # written in the period that the question names
    "tells_time",  # names a time, and the question asks for one
    "tells_name",  # contains a name, and the question asks for one
    "question",  # ends with a question mark
    "session_start",  # first of its session
)
"""Columns of `compute_features`, in order. Unknown values (no neighbour, no vector) are 0."""
HYBRID_FEATURES = tuple(name for name in FEATURES if name not in ("session_words", "answers_words"))
"""Features used with vectors. "session_meaning" and "answers_meaning" make the two others redundant."""
LEXICAL_FEATURES = tuple(name for name in FEATURES if "meaning" not in name)
"""Features used without vectors."""
Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Minimum score of the best message. It rises with the number of scored messages, whose best is high by chance.

    If the best passes, messages up to `margin` below the floor are recalled too.
    """

    base: float
    growth: float
    margin: float

    def among(self, scored: int) -> float:
        """Return the floor for this number of scored messages (at least one)."""
        return self.base + self.growth * math.log(scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerWeights:
    """Weights of the features and the floors: `hybrid` with vectors, `lexical` for words alone.

    A feature without a weight counts as 0.
    """

    hybrid: Mapping[str, float]
    lexical: Mapping[str, float]
    hybrid_floor: Floor
    lexical_floor: Floor


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A message and its score. Within one question, one point more means e times as likely to answer it."""

    candidate: Candidate
    score: float


@cache
def load_weights() -> RankerWeights:
    """Load ranker_weights.json, which says how the weights were learned."""
    content = json.loads(files("memory.recall").joinpath("ranker_weights.json").read_text(encoding="utf-8"))
    floors, margin = content["floor"], content["floor"]["margin"]
    return RankerWeights(
        hybrid=content["hybrid"],
        lexical=content["lexical"],
        hybrid_floor=Floor(**floors["hybrid"], margin=margin),
        lexical_floor=Floor(**floors["lexical"], margin=margin),
    )


def shortlist(hits: Sequence[Hit]) -> list[int]:
    """Return the sequences of at most SHORTLIST hits, the best by words and by meaning in turns."""
    by_words: list[tuple[float, int]] = []
    by_meaning: list[tuple[float, int]] = []
    for each in hits:
        if each.sparse > 0:
            by_words.append((each.sparse, each.sequence))
        if each.dense is not None:
            by_meaning.append((each.dense, each.sequence))
    listed: dict[int, None] = {}
    for pair in zip_longest(sorted(by_words, reverse=True), sorted(by_meaning, reverse=True)):
        for _, sequence in filter(None, pair):
            listed[sequence] = None
    return list(listed)[:SHORTLIST]


def plan_lookups(listed: Sequence[int]) -> set[int]:
    """Return the sequences to score exactly: the shortlist, and the neighbours of its BEST first."""
    offsets = range(-REACH, REACH + 1)
    near = {each + offset for each in listed[:BEST] for offset in offsets if each + offset >= 0}
    return near.union(listed)


def rank(
    question: QuestionAnalysis,
    messages: Sequence[Candidate],
    *,
    listed: Collection[int],
    weights: RankerWeights,
) -> list[RankedCandidate]:
    """Return all messages, best first, and the newer first at equal scores. See `compute_features` for `listed`."""
    if not messages:
        return []
    weights_by_name = weights.hybrid if _have_vectors(messages) else weights.lexical
    vector = np.array([weights_by_name.get(name, 0.0) for name in FEATURES])
    # Rounded, because the order of summation depends on the row and must not decide between equal scores.
    scores = (compute_features(question, messages, listed=listed) @ vector).round(9)
    newest_first = np.array([-each.sequence for each in messages])
    best_first: list[int] = np.lexsort((newest_first, -scores)).tolist()
    return [RankedCandidate(candidate=messages[row], score=float(scores[row])) for row in best_first]


def select_relevant(
    question: QuestionAnalysis,
    ranked: Sequence[RankedCandidate],
    *,
    scored: Sequence[Candidate],
    weights: RankerWeights,
) -> list[RankedCandidate]:
    """Return the relevant ones of `ranked`, a subset of the `scored` messages, best first.

    For bare search words ("4711", "bike lock?"), messages that contain all of them are always relevant.
    """
    if _have_vectors(scored):
        floors = weights.hybrid_floor
        floor = floors.among(len(scored)) + _usual_similarity(scored, weights)
        is_above = bool(ranked) and ranked[0].score >= floor
    else:
        floors = weights.lexical_floor
        floor = floors.among(len(scored)) if scored else 0.0
        best = [each.candidate for each in ranked[:_BEST_COUNT]]
        is_above = bool(best) and ranked[0].score >= floor and _share_words(question, best)
    least = floor - floors.margin if is_above else math.inf
    if BARE not in question.signs:
        return [each for each in ranked if each.score >= least]
    return [each for each in ranked if each.score >= least or _has_all_words(question, each.candidate)]


_BEST_COUNT = 5
_LEAST_SHARE = 0.2
"""Share of a question's words that one of the best messages must have. In other languages than English a few n-grams
always match.
"""
_USUAL_COSINE, _USUAL_MESSAGES = 0.05, 5
"""MiniLM's cosine between any English texts, counted as this number of extra messages: a few messages alone mean
little.
"""
_TOLERATED_COSINE = 0.12


def _usual_similarity(scored: Sequence[Candidate], weights: RankerWeights) -> float:
    """Return the rise of the floor if even unrelated messages are similar to the question.

    MiniLM's cosine between any two Spanish texts is 0.4, between German ones 0.3; other embedders have other scales.
    The median of the scored messages counts as unrelated.
    """
    cosines = sorted(each.dense for each in scored if each.dense is not None)
    middle = cosines[len(cosines) // 2]
    usual = (len(cosines) * middle + _USUAL_MESSAGES * _USUAL_COSINE) / (len(cosines) + _USUAL_MESSAGES)
    weights_by_name = weights.hybrid.get("meaning", 0.0) + weights.hybrid.get("session_meaning", 0.0)
    return max(0.0, usual - _TOLERATED_COSINE) * weights_by_name


def _share_words(question: QuestionAnalysis, messages: Sequence[Candidate]) -> bool:
    return bool(question.dates) or any(share_of_words(question, each) >= _LEAST_SHARE for each in messages)


def _has_all_words(question: QuestionAnalysis, message: Candidate) -> bool:
    return all(word.whole & message.terms for word in question.words)


def _have_vectors(messages: Sequence[Candidate]) -> bool:
    """Return True if the question was compared by meaning with any of them."""
    return any(each.dense is not None for each in messages)


_WINDOW_TERMS = 256
"""Terms of a question that count. A text of pages has more, and they would take as long as everything else."""
_RELATED_SHARE = 0.4
"""Words that share a smaller part of their n-grams are unrelated."""
_DISTANCE_DECAY = 0.9
_WINDOW_SCALE = 10.0
_DAY_S = 86_400.0
_WEEK_S = 7 * _DAY_S
_LONGEST_DATE_S = 100 * _DAY_S
"""A season. A whole year does not say which of its messages is meant."""


def compute_features(
    question: QuestionAnalysis, messages: Sequence[Candidate], *, listed: Collection[int]
) -> NDArray[np.float64]:
    """Return a row of FEATURES for each message: the shortlist and its neighbours, each once.

    `listed` are the sequences of the shortlist, among which the rarity of terms is counted.
    """
    context = _Neighbourhood.of(messages)
    words = np.array([each.sparse for each in messages])
    best = words.max(initial=0.0)
    share = words / best if best > 0 else words
    meaning = np.array([each.dense or 0.0 for each in messages])
    similarity = np.maximum(meaning, 0.0)
    none = np.zeros(len(messages))
    author, of_self = none, none
    if question.author is not None:
        author = _flags([each.sender_id == question.author for each in messages])
        of_self = author * context.with_sign(FIRST_PERSON)
    follows_question = _follows_question(context)
    columns: dict[str, Column] = {
        "words": share,
        "words_log": np.log1p(words),
        "meaning": meaning,
        "words_and_meaning": share * similarity,
        "window": _window(question, context, listed),
        "session_words": context.best_of_session(share),
        "session_meaning": context.best_of_session(meaning),
        "answers_words": follows_question * context.of_neighbour(share, -1),
        "answers_meaning": follows_question * context.of_neighbour(similarity, -1),
        "author": author,
        "author_of_self": of_self,
        "date": _date_nearness(messages, question.dates) if question.dates else none,
        "tells_time": context.with_sign(TIME) if WHEN in question.signs else none,
        "tells_name": context.with_sign(NAME) if NAME in question.signs else none,
        "question": context.with_sign(QUESTION),
        "session_start": _flags(context.sequences == context.sessions),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def share_of_words(question: QuestionAnalysis, message: Candidate) -> float:
    """Return the share of the question's words that the message has. A related word counts by its common n-grams."""
    shares = [_share_of_word(word, message.terms) for word in question.words]
    return sum(shares) / len(shares) if shares else 0.0


def _share_of_word(word: QuestionWord, terms: frozenset[int]) -> float:
    if word.whole & terms:
        return 1.0
    share = len(word.parts & terms) / len(word.parts) if word.parts else 0.0
    return share if share >= _RELATED_SHARE else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Neighbourhood:
    """Messages, their places, and for each offset the rows of their neighbours.

    A row is -1 without a neighbour in the session.
    """

    messages: Sequence[Candidate]
    sequences: NDArray[np.int64]
    sessions: NDArray[np.int64]
    neighbours: dict[int, NDArray[np.intp]]

    @staticmethod
    def of(messages: Sequence[Candidate]) -> "_Neighbourhood":
        sequences = np.array([each.sequence for each in messages], np.int64)
        sessions = np.array([each.session for each in messages], np.int64)
        in_order = np.argsort(sequences)
        offsets = [sign * distance for distance in range(1, REACH + 1) for sign in (-1, 1)]
        neighbours: dict[int, NDArray[np.intp]] = {}
        for offset in offsets:
            wanted = sequences + offset
            rows = in_order[np.searchsorted(sequences, wanted, sorter=in_order).clip(max=len(messages) - 1)]
            is_there = (sequences[rows] == wanted) & (sessions[rows] == sessions)
            neighbours[offset] = np.where(is_there, rows, -1)
        return _Neighbourhood(
            messages=messages, sequences=sequences, sessions=sessions, neighbours=neighbours
        )

    def with_sign(self, sign: str) -> Column:
        """Return 1 for each message with this sign."""
        return _flags([sign in each.signs for each in self.messages])

    def of_neighbour(self, values: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
        """Return for each message the value (or row of values) of its neighbour, 0 without one."""
        rows = self.neighbours[offset]
        taken = values[rows]
        taken[rows < 0] = 0.0
        return taken

    def best_of_session(self, values: Column) -> Column:
        """Return for each message the highest value in its session."""
        starts, session_of_row = np.unique(self.sessions, return_inverse=True)
        best = np.full(len(starts), -np.inf)
        np.maximum.at(best, session_of_row, values)
        return best[session_of_row]


def _window(question: QuestionAnalysis, context: _Neighbourhood, listed: Collection[int]) -> Column:
    """Sum the rarity of the question's terms that the message has. Terms of its neighbours count less."""
    columns = {term: column for column, term in enumerate(question.terms.indices[:_WINDOW_TERMS])}
    wanted = frozenset(columns)
    has = np.zeros((len(context.messages), len(columns)))
    for row, message in enumerate(context.messages):
        for term in wanted & message.terms:
            has[row, columns[term]] = 1.0
    reached = has.copy()
    for offset in context.neighbours:
        np.maximum(reached, _DISTANCE_DECAY ** abs(offset) * context.of_neighbour(has, offset), out=reached)
    shortlisted = has[[each.sequence in listed for each in context.messages]]
    frequency = shortlisted.sum(axis=0)
    rarity = np.log1p((len(shortlisted) - frequency + 0.5) / (frequency + 0.5))
    return reached @ (rarity * np.array(question.terms.values[:_WINDOW_TERMS])) / _WINDOW_SCALE


def _follows_question(context: _Neighbourhood) -> Column:
    """Return 1 for messages after another person's question."""
    follows = np.zeros(len(context.messages))
    asks = np.array([ASKS in each.signs for each in context.messages])
    rows = context.neighbours[-1]
    after = np.flatnonzero((rows >= 0) & asks[rows])
    befores: list[int] = rows[after].tolist()
    afters: list[int] = after.tolist()
    for row, before in zip(afters, befores, strict=True):
        follows[row] = _author(context.messages[before]) != _author(context.messages[row])
    return follows


def _author(message: Candidate) -> tuple[str, int | None]:
    return message.role, message.sender_id


def _date_nearness(messages: Sequence[Candidate], dates: Sequence[DateSpan]) -> Column:
    """Return 1 within a period of the question, less on days around a short one, 0 without any."""
    sent_at = np.array([each.sent_at for each in messages])
    nearness = np.zeros(len(messages))
    for date in dates:
        length = date.end - date.start
        if length > _LONGEST_DATE_S:
            continue
        away = np.maximum(np.maximum(date.start - sent_at, sent_at - date.end), 0.0)
        near = np.exp(-away / _WEEK_S) if length <= _WEEK_S else _flags(away == 0)
        np.maximum(nearness, near, out=nearness)
    return nearness


def _flags(values: Sequence[bool] | NDArray[np.bool_]) -> Column:
    return np.asarray(values, np.float64)
