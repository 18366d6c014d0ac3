"""Ranking: orders candidate messages by a weighted sum of named features, and drops irrelevant ones."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest

import numpy as np

from memory.recall.lexicon.analysis import QuestionAnalysis
from memory.recall.lexicon.signs import BARE
from memory.recall.ranking_features import FEATURES, REACH, compute_features, share_of_words
from memory.recall.vector_index import Candidate

SHORTLIST = 100
"""Messages that are ranked, with their neighbours at most 500. A longer list finds no more (docs/recall.md)."""


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


def shortlist(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return at most SHORTLIST candidates, alternating between the best by words and the best by meaning."""
    by_words = sorted(
        (each for each in candidates if each.sparse > 0), key=lambda each: (-each.sparse, -each.sequence)
    )
    by_meaning = sorted(
        (each for each in candidates if each.dense is not None),
        key=lambda each: (-(each.dense or 0.0), -each.sequence),
    )
    in_turns = (each for pair in zip_longest(by_words, by_meaning) for each in pair if each is not None)
    return list({each.sequence: each for each in in_turns}.values())[:SHORTLIST]


def plan_lookups(candidates: Sequence[Candidate]) -> set[int]:
    """Return the sequences to score exactly: those of the candidates and of their neighbours."""
    offsets = range(-REACH, REACH + 1)
    return {
        each.sequence + offset for each in candidates for offset in offsets if each.sequence + offset >= 0
    }


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
    scores: list[float] = (compute_features(question, messages, listed=listed) @ vector).round(9).tolist()
    scored = [
        RankedCandidate(candidate=each, score=score) for each, score in zip(messages, scores, strict=True)
    ]
    return sorted(scored, key=lambda each: (-each.score, -each.candidate.sequence))


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
    return [
        each
        for each in ranked
        if (is_above and each.score >= floor - floors.margin) or _has_all_words(question, each.candidate)
    ]


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
    return BARE in question.signs and all(word.whole & message.terms for word in question.words)


def _have_vectors(messages: Sequence[Candidate]) -> bool:
    """Return True if the question was compared by meaning with any of them."""
    return any(each.dense is not None for each in messages)
