"""Ranking: orders candidate messages by a weighted sum of named features, and drops irrelevant ones."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from memory.recall.excerpts import Reason
from memory.recall.lexicon.analyser import ASKS, BARE, FIRST_PERSON, NAME, QUESTION, TIME, WHEN
from memory.recall.lexicon.analysis import DateSpan, QuestionAnalysis, QuestionWord
from memory.recall.scored_messages import REACH, Column, ScoredMessages
from memory.recall.vector_index import Hit

SHORTLIST = 100
"""Messages that are ranked, with some neighbours. A longer list finds no more (docs/recall.md)."""
BEST = 30
"""Messages of the shortlist whose neighbours are ranked too."""


FEATURES = (
    "words",  # BM25 score, as a share of the best one
    "words_log",  # ln(1 + BM25 score)
    "meaning",  # cosine
    "words_and_meaning",  # product of "words" and the cosine: less is added if both are high
    "window",  # overlap of the question with the message and short messages next to it
    "session_words",  # best "words" in its session
    "session_meaning",  # best cosine in its session
    "after_meaning",  # cosine of the message after it
    "answers_words",  # "words" of the message before it, if another person asks a question there
    "answers_meaning",  # cosine of that message, if a person answers
    "reply_meaning",  # cosine of that message, if the bot answers
    "author",  # written by the person that the question is about
    "author_of_self",  # … in the first person
    "date",  # written in the period that the question names
    "tells_time",  # names a time, and the question asks for one
    "tells_name",  # contains a name, and the question asks for one
    "question",  # ends with a question mark
    "length",  # ln(number of its terms / USUAL_TERMS)
)
"""Columns of `compute_features`, in order. Unknown values (no neighbour, no vector) are 0."""
_OF_WORDS_ALONE = ("session_words", "answers_words")
HYBRID_FEATURES = tuple(name for name in FEATURES if name not in _OF_WORDS_ALONE)
"""Features used with vectors. "session_meaning" and "answers_meaning" make the two others redundant."""
LEXICAL_FEATURES = tuple(name for name in FEATURES if "meaning" not in name and name != "length")
"""Features used without vectors. The length in terms differs between languages."""
USUAL_TERMS = 10.0
"""Terms of a message of 23 words, the mean of LoCoMo's. Points have no number of words."""
_LONGEST_TALK = 2.5
_SHORT = 1.0
"""Length of a short message, see `measure_lengths`: 63 words. A model's reply has hundreds."""
_COVERED_WORDS = 100
_RELATED_SHARE = 0.4
"""Words that share a smaller part of their n-grams are unrelated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Minimum score of the best message.

    It rises with the number of scored messages, whose best is high by chance, up to `many`, and with their length. It
    falls with the share of the question's words that one of the best messages has, and with the best cosine. If the
    best passes, the others need the floor without these two, or the score of the best if that is lower, less `margin`.
    None is more than `spread` below the best.
    """

    base: float
    growth: float
    many: int
    """Number of scored messages from which the floor rises no more."""
    coverage: float
    meaning: float
    talk: float
    margin: float
    spread: float

    def among(self, scored: int, *, talk: float = 0.0, coverage: float = 0.0, meaning: float = 0.0) -> float:
        """Return the floor for this number of scored messages (at least one), their length as in `measure_talk`, share
        of the words, and best cosine.
        """
        rise = self.growth * math.log(min(scored, self.many)) + self.talk * talk
        return self.base + rise - self.coverage * coverage - self.meaning * meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerWeights:
    """Weights of the features and the floors. A feature without a weight counts as 0."""

    hybrid: Mapping[str, float]
    """Weights with vectors."""
    in_long_talk: Mapping[str, float]
    """Added to `hybrid` times the length of talk, see `measure_talk`."""
    for_statements: Mapping[str, float]
    """Added to `hybrid` if the text asks nothing."""
    for_new_words: Mapping[str, float]
    """Added to `hybrid` times the share of the question's words that no message has."""
    lexical: Mapping[str, float]
    """Weights for words alone."""
    hybrid_floor: Floor
    lexical_floor: Floor


class RankedHit(NamedTuple):
    """A message and its score. Within one question, one point more means e times as likely to answer it."""

    message_id: str
    sequence: int
    score: float
    reasons: tuple[Reason, ...] = ()
    """The strongest first; none before `explain`."""
    is_likely: bool = True
    """False for a hit below the floor, or far below the best one."""
    newer: tuple[int, ...] = ()
    """Sequences of its updates, the nearest first; only for a question with `updates`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Scored messages in order: `rows` of some of the `messages`, best first, and the scores of these rows."""

    messages: ScoredMessages
    rows: NDArray[np.intp]
    scores: Column
    features: NDArray[np.float64]
    """A row of FEATURES for each of `messages`."""
    weights: Column
    """The weight of each feature for this question."""

    def only(self, wanted: NDArray[np.bool_]) -> "Ranking":
        """Return this order of the wanted messages; `wanted` has a value for each of `messages`."""
        kept = wanted[self.rows]
        return replace(self, rows=self.rows[kept], scores=self.scores[kept])

    def best(self, k: int) -> list[RankedHit]:
        """Return the first `k` hits."""
        rows: list[int] = self.rows[:k].tolist()
        scores: list[float] = self.scores[:k].tolist()
        return [
            RankedHit(self.messages.ids[row], int(self.messages.sequences[row]), score)
            for row, score in zip(rows, scores, strict=True)
        ]


@cache
def load_weights() -> RankerWeights:
    """Load ranker_weights.json, which says how the weights were learned."""
    content = json.loads(files("memory.recall").joinpath("ranker_weights.json").read_text(encoding="utf-8"))
    floors = content["floor"]
    return RankerWeights(
        hybrid=content["hybrid"],
        in_long_talk=content["in_long_talk"],
        for_statements=content["for_statements"],
        for_new_words=content["for_new_words"],
        lexical=content["lexical"],
        hybrid_floor=Floor(**floors["hybrid"]),
        lexical_floor=Floor(**floors["lexical"]),
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
    near = {each + offset for each in listed[:BEST] for offset in offsets}
    return near.union(listed)


def rank(
    question: QuestionAnalysis, messages: ScoredMessages, *, listed: Collection[int], weights: RankerWeights
) -> Ranking:
    """Rank all messages, best first, and the newer first at equal scores. See `compute_features` for `listed`."""
    features = compute_features(question, messages, listed=listed)
    weight = weigh_features(question, messages, weights)
    # Rounded, because the order of summation depends on the row and must not decide between equal scores.
    scores = (features @ weight).round(9)
    rows = np.lexsort((-messages.sequences, -scores))
    return Ranking(messages=messages, rows=rows, scores=scores[rows], features=features, weights=weight)


def weigh_features(question: QuestionAnalysis, messages: ScoredMessages, weights: RankerWeights) -> Column:
    """Return the weight of each feature for this question among these messages."""
    if not messages.have_vectors():
        return _in_order(weights.lexical)
    weight = _in_order(weights.hybrid) + measure_talk(question, messages) * _in_order(weights.in_long_talk)
    if ASKS not in question.signs:
        weight += _in_order(weights.for_statements)
    return weight + (1 - cover_words(question, messages)) * _in_order(weights.for_new_words)


def _in_order(weights: Mapping[str, float]) -> Column:
    return np.array([weights.get(name, 0.0) for name in FEATURES])


def select_relevant(question: QuestionAnalysis, ranking: Ranking, *, weights: RankerWeights) -> Ranking:
    """Return the relevant hits of a ranking of some of the scored messages, best first.

    For bare search words ("4711", "bike lock?"), messages that contain all of them are always relevant.
    """
    messages = ranking.messages
    if not len(ranking.rows):
        return ranking
    evidence = weigh_best(question, ranking)
    floors = weights.hybrid_floor if messages.have_vectors() else weights.lexical_floor
    highest = floors.among(len(messages), talk=measure_talk(question, messages)) + evidence.rise
    floor = highest - floors.coverage * evidence.coverage - floors.meaning * evidence.meaning
    best = ranking.scores[0]
    is_relevant = np.zeros(len(messages), np.bool_)
    if best >= floor and evidence.is_enough:
        # Words and meaning of the best message say nothing about the others.
        least = max(min(highest, best) - floors.margin, best - floors.spread)
        is_relevant[ranking.rows[ranking.scores >= least]] = True
    if BARE in question.signs:
        is_relevant |= _have_all_words(question, messages)
    return ranking.only(is_relevant)


class BestEvidence(NamedTuple):
    """Evidence that the floor considers besides the score of the best message."""

    coverage: float
    """Share of the question's words that one of the best messages has."""
    meaning: float
    """The best cosine, less that of unrelated messages; 0 without vectors."""
    rise: float
    """Rise of the floor if even unrelated messages are similar to the question; 0 without vectors."""
    is_enough: bool
    """False if words alone were searched and the best messages have too few of them."""


def weigh_best(question: QuestionAnalysis, ranking: Ranking) -> BestEvidence:
    """Return the evidence of the best messages of a ranking, which is not empty."""
    messages = ranking.messages
    coverage = cover_words(question, messages, ranking.rows[:_BEST_COUNT])
    if not messages.have_vectors():
        is_enough = bool(question.dates) or coverage >= _LEAST_SHARE
        return BestEvidence(coverage, meaning=0.0, rise=0.0, is_enough=is_enough)
    usual = _usual_cosine(messages)
    # Other embedders have other scales: MiniLM's cosine between any two Spanish texts is 0.4, between German ones 0.3.
    # Words of the question tell more than such cosines.
    weight = float(ranking.weights[_COSINES].sum())
    rise = max(0.0, usual - _USUAL_COSINE) * weight * (1 - coverage)
    return BestEvidence(coverage, meaning=float(np.nanmax(messages.dense)) - usual, rise=rise, is_enough=True)


LIKELY_WITHIN = 4.0
"""Points below the best hit. A hit further below is 55 times less likely to answer than the best one."""


def mark_likely(hits: Sequence[RankedHit], relevant: Sequence[RankedHit]) -> list[RankedHit]:
    """Return the hits, best first, and say which are likely: the `relevant` ones within LIKELY_WITHIN of the best.

    In a chat of a dozen messages the floor lets all of them pass if the best does.
    """
    above = {hit.sequence for hit in relevant}
    least = hits[0].score - LIKELY_WITHIN if hits else 0.0
    return [hit._replace(is_likely=hit.sequence in above and hit.score >= least) for hit in hits]


_BEST_COUNT = 5
_LEAST_SHARE = 0.2
"""Share of a question's words that one of the best messages must have. In other languages than English a few n-grams
always match.
"""
_USUAL_COSINE, _USUAL_MESSAGES = 0.05, 3
"""MiniLM's cosine between any English texts, counted as this number of extra messages: a few messages alone mean
little.
"""
_TOLERATED_COSINE = 0.12
_UNRELATED_SHARE, _UNRELATED_SHARE_OF_FEW, _FEW = 0.3, 0.5, 20
"""Share of the scored messages that counts as unrelated. The others are hits, or near one.

Among few messages there are fewer of those.
"""


def _usual_cosine(messages: ScoredMessages) -> float:
    """Return the cosine of messages that have nothing to do with the question. Some message has a vector.

    The scored messages that are least similar count as unrelated.
    """
    cosines = np.sort(messages.dense[~np.isnan(messages.dense)])
    share = _UNRELATED_SHARE_OF_FEW if len(cosines) < _FEW else _UNRELATED_SHARE
    unrelated = cosines[int(len(cosines) * share)]
    return (len(cosines) * unrelated + _USUAL_MESSAGES * _USUAL_COSINE) / (len(cosines) + _USUAL_MESSAGES)


def _have_all_words(question: QuestionAnalysis, messages: ScoredMessages) -> NDArray[np.bool_]:
    columns = _columns_of(question, messages)
    has_all = np.ones(len(messages), np.bool_)
    for word in question.words:
        has_all &= _having(word.whole, messages.terms, columns).any(axis=1)
    return has_all


REASONS: tuple[Reason, ...] = get_args(Reason)
_EVIDENCE: Mapping[Reason, Sequence[str]] = {
    "words": ("words", "words_log", "window", "session_words", "answers_words"),
    "meaning": tuple(name for name in FEATURES if name.endswith("meaning")),
    "date": ("date",),
    "writer": ("author", "author_of_self"),
}
"""Features that are evidence of each kind."""
_EVIDENCE_SHARES = np.array([[float(name in _EVIDENCE[reason]) for reason in REASONS] for name in FEATURES])
_MEANING, _DATE, _AUTHOR = map(FEATURES.index, ("meaning", "date", "author"))
_COSINES = list(map(FEATURES.index, ("meaning", "session_meaning", "after_meaning", "answers_meaning")))
_FIRST = 1e6
"""Larger than any score: kinds of evidence that a message has come before the others."""
_IN_THE_PERIOD = 0.5
"""Date nearness of messages that were written in the period of the question, or some days around a short one."""


def explain(hits: Sequence[RankedHit], question: QuestionAnalysis, ranking: Ranking) -> list[RankedHit]:
    """Return the first hits of a ranking with their reasons. Scores and order stay the same.

    A kind of evidence is a reason if the message itself has it: a whole word of the question, a meaning nearer than
    that of most candidates, the date, the writer. They come in the order of their shares of the score, compared with
    those of a usual candidate. A hit without any, such as the reply to a similar question, has the kind with the
    largest share.
    """
    if not hits:
        return []
    rows, messages, count = ranking.rows[: len(hits)], ranking.messages, len(ranking.messages)
    features = ranking.features[rows]
    usual: Column = ranking.features.sum(axis=0) / (count + _USUAL_MESSAGES)
    shares = (features - usual) @ (ranking.weights[:, None] * _EVIDENCE_SHARES)
    columns = _columns_of(question, messages)
    wanted = [columns[term] for word in question.words for term in word.whole if term in columns]
    usual_cosine = float(usual[_MEANING]) + _USUAL_MESSAGES * _USUAL_COSINE / (count + _USUAL_MESSAGES)
    has = np.zeros(shares.shape, np.bool_)
    has[:, 0] = messages.terms[rows][:, wanted].any(axis=1)
    has[:, 1] = features[:, _MEANING] > usual_cosine + _TOLERATED_COSINE
    has[:, 2] = features[:, _DATE] >= _IN_THE_PERIOD
    has[:, 3] = features[:, _AUTHOR] > 0
    order: list[list[int]] = (shares + _FIRST * has).argsort(axis=1)[:, ::-1].tolist()
    numbers: list[int] = has.sum(axis=1).tolist()
    return [
        hit._replace(reasons=tuple(REASONS[kind] for kind in kinds[: number or 1]))
        for hit, kinds, number in zip(hits, order, numbers, strict=True)
    ]


_WINDOW_TERMS = 256
"""Terms of a question that count. A text of pages has more, and they would take as long as everything else."""
_ANSWERS_COSINE = 0.5
"""MiniLM's cosine between a question and its answer."""
_DISTANCE_DECAY = 0.9
_WINDOW_SCALE = 10.0
_DAY_S = 86_400.0
_WEEK_S = 7 * _DAY_S
_LONGEST_DATE_S = 100 * _DAY_S
"""A season. A whole year does not say which of its messages is meant."""


def compute_features(
    question: QuestionAnalysis, messages: ScoredMessages, *, listed: Collection[int]
) -> NDArray[np.float64]:
    """Return a row of FEATURES for each message: the shortlist and its neighbours, each once.

    `listed` are the sequences of the shortlist, among which the rarity of terms is counted.
    """
    neighbours, by_bot = messages.find_neighbours(), messages.by_bot()
    words = messages.sparse
    best = words.max(initial=0.0)
    share = words / best if best > 0 else words
    # The embedder cannot read every message of a chat. The words of the others say what their cosine may be.
    unknown = _ANSWERS_COSINE * share * messages.have_vectors()
    meaning = np.where(np.isnan(messages.dense), unknown, messages.dense)
    similarity = np.maximum(meaning, 0.0)
    none = np.zeros(len(messages))
    author, of_self = none, none
    if question.author is not None:
        author = messages.by_author(question.author)
        of_self = author * messages.with_sign(FIRST_PERSON)
    follows_question = _follows_question(messages, neighbours[-1])
    answered = follows_question * _of_neighbours(similarity, neighbours[-1])
    lengths = measure_lengths(question, messages)
    columns: dict[str, Column] = {
        "words": share,
        "words_log": np.log1p(words),
        "meaning": meaning,
        "words_and_meaning": share * similarity,
        "window": _window(question, messages, _choose(neighbours, lengths <= _SHORT), listed),
        "session_words": messages.best_of_session(share),
        "session_meaning": messages.best_of_session(meaning),
        "after_meaning": _of_neighbours(similarity, neighbours[1]),
        "answers_words": follows_question * _of_neighbours(share, neighbours[-1]),
        "answers_meaning": answered * (1 - by_bot),
        "reply_meaning": answered * by_bot,
        "author": author,
        "author_of_self": of_self,
        "date": _date_nearness(messages.sent_at, question.dates) if question.dates else none,
        "tells_time": messages.with_sign(TIME) if WHEN in question.signs else none,
        "tells_name": messages.with_sign(NAME) if NAME in question.signs else none,
        "question": messages.with_sign(QUESTION),
        "length": lengths,
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def measure_lengths(question: QuestionAnalysis, messages: ScoredMessages) -> Column:
    """Return for each message the logarithm of its length: 0 for 23 words, 1 for 63.

    In most languages parts of words are terms too. The question shows how many terms a word has there.
    """
    terms_of_word = len(question.terms.indices) / len(question.words) if question.words else 1.0
    usual = USUAL_TERMS * max(1.0, terms_of_word)
    return np.log(np.maximum(messages.lengths, 1.0) / usual)


def measure_talk(question: QuestionAnalysis, messages: ScoredMessages) -> float:
    """Return the mean length of some messages as in `measure_lengths`: from 0 for usual ones up to 2.5."""
    return float(np.clip(measure_lengths(question, messages).mean(), 0.0, _LONGEST_TALK))


def cover_words(
    question: QuestionAnalysis, messages: ScoredMessages, rows: "NDArray[np.intp] | None" = None
) -> float:
    """Return the largest share of the question's words that one of these rows has, by default one of all.

    It is 0 if there are no words. Of a text of pages the first words count.
    """
    terms = messages.terms if rows is None else messages.terms[rows]
    if not question.words or not len(terms):
        return 0.0
    columns = _columns_of(question, messages)
    shares = [_shares_of_word(word, terms, columns) for word in question.words[:_COVERED_WORDS]]
    return float(np.mean(shares, axis=0).max())


def _shares_of_word(word: QuestionWord, terms: NDArray[np.bool_], columns: Mapping[int, int]) -> Column:
    """Return the share of a word that each row of terms has. A related word counts by its common n-grams."""
    has_whole = _having(word.whole, terms, columns).any(axis=1)
    shares = _having(word.parts, terms, columns).sum(axis=1) / max(1, len(word.parts))
    return np.where(has_whole, 1.0, np.where(shares >= _RELATED_SHARE, shares, 0.0))


def _columns_of(question: QuestionAnalysis, messages: ScoredMessages) -> dict[int, int]:
    """Return the column of each term. There are none if the index was searched by meaning alone."""
    return dict(zip(question.terms.indices, range(messages.terms.shape[1]), strict=False))


def _having(
    wanted: frozenset[int], terms: NDArray[np.bool_], columns: Mapping[int, int]
) -> NDArray[np.bool_]:
    """Return the columns of these terms."""
    return terms[:, [columns[each] for each in wanted if each in columns]]


def _choose(
    neighbours: Mapping[int, NDArray[np.intp]], wanted: NDArray[np.bool_]
) -> dict[int, NDArray[np.intp]]:
    """Return the wanted ones among the neighbours."""
    return {offset: np.where(wanted[rows], rows, -1) for offset, rows in neighbours.items()}


def _of_neighbours(values: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values (or rows of values) of these neighbours, 0 without one."""
    taken = values[rows]
    taken[rows < 0] = 0.0
    return taken


def _window(
    question: QuestionAnalysis,
    messages: ScoredMessages,
    neighbours: Mapping[int, NDArray[np.intp]],
    listed: Collection[int],
) -> Column:
    """Sum the rarity of the question's terms that the message has. Terms of its neighbours count less."""
    has = messages.terms[:, :_WINDOW_TERMS].astype(np.float64)
    reached = has.copy()
    for offset, rows in neighbours.items():
        np.maximum(reached, _DISTANCE_DECAY ** abs(offset) * _of_neighbours(has, rows), out=reached)
    sequences: list[int] = messages.sequences.tolist()
    shortlisted = has[[each in listed for each in sequences]]
    frequency = shortlisted.sum(axis=0)
    rarity = np.log1p((len(shortlisted) - frequency + 0.5) / (frequency + 0.5))
    return reached @ (rarity * np.array(question.terms.values[: has.shape[1]])) / _WINDOW_SCALE


def _follows_question(messages: ScoredMessages, before: NDArray[np.intp]) -> Column:
    """Return 1 for messages after another person's question. `before` has the row of the message before each."""
    follows = np.zeros(len(messages))
    after = np.flatnonzero((before >= 0) & (messages.with_sign(ASKS)[before] > 0))
    for row, row_before in zip(after.tolist(), before[after].tolist(), strict=True):
        follows[row] = _author(messages, row) != _author(messages, row_before)
    return follows


def _author(messages: ScoredMessages, row: int) -> tuple[str, int | None]:
    return messages.roles[row], messages.sender_ids[row]


def _date_nearness(sent_at: Column, dates: Sequence[DateSpan]) -> Column:
    """Return 1 within a period of the question, less on days around a short one, 0 without any."""
    nearness = np.zeros(len(sent_at))
    for date in dates:
        length = date.end - date.start
        if length > _LONGEST_DATE_S:
            continue
        away = np.maximum(np.maximum(date.start - sent_at, sent_at - date.end), 0.0)
        near = np.exp(-away / _WEEK_S) if length <= _WEEK_S else away == 0
        np.maximum(nearness, near, out=nearness)
    return nearness
