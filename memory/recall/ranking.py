"""Ranking: which of the messages that were found answer a question, by the weighted sum of named features."""

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
from memory.recall.ranking_features import FEATURES, REACH, featurise, share_of_words
from memory.recall.vector_index import Candidate

SHORTLIST = 100
"""Of the messages found, so many are ranked, with those beside them: 500 at most. More find no more (docs/recall.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The score that the best message must have, or nothing is recalled; it rises with how many were weighed.

    The best of many is high by chance. Messages are recalled with it that are at most `margin` below.
    """

    base: float
    growth: float
    margin: float

    def among(self, weighed: int) -> float:
        """The floor where so many messages (at least one) were weighed."""
        return self.base + self.growth * math.log(weighed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each feature counts, and the floor: `hybrid` where there are vectors, `lexical` where words alone must do.

    A feature that is not named counts nothing.
    """

    hybrid: Mapping[str, float]
    lexical: Mapping[str, float]
    hybrid_floor: Floor
    lexical_floor: Floor


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A message and its score: between messages of one question, a point more is e times as likely to answer it."""

    candidate: Candidate
    score: float


@cache
def load_weights() -> Weights:
    """The weights that are shipped in ranker_weights.json, which says how they were learned."""
    read = json.loads(files("memory.recall").joinpath("ranker_weights.json").read_text(encoding="utf-8"))
    floors, margin = read["floor"], read["floor"]["margin"]
    return Weights(
        hybrid=read["hybrid"],
        lexical=read["lexical"],
        hybrid_floor=Floor(**floors["hybrid"], margin=margin),
        lexical_floor=Floor(**floors["lexical"], margin=margin),
    )


def shortlist(found: Sequence[Candidate]) -> list[Candidate]:
    """The best by words and the best by meaning in turns, SHORTLIST of them at most, each once."""
    by_words = sorted(
        (each for each in found if each.sparse > 0), key=lambda each: (-each.sparse, -each.sequence)
    )
    by_meaning = sorted(
        (each for each in found if each.dense is not None),
        key=lambda each: (-(each.dense or 0.0), -each.sequence),
    )
    in_turns = (each for pair in zip_longest(by_words, by_meaning) for each in pair if each is not None)
    return list({each.sequence: each for each in in_turns}.values())[:SHORTLIST]


def plan_lookups(found: Sequence[Candidate]) -> set[int]:
    """The sequences to be scored exactly: those found and those beside them."""
    offsets = range(-REACH, REACH + 1)
    return {each.sequence + offset for each in found for offset in offsets if each.sequence + offset >= 0}


def rank(
    question: QuestionAnalysis, messages: Sequence[Candidate], *, listed: Collection[int], weights: Weights
) -> list[RankedCandidate]:
    """All of them, best first, the newer first of equals. See `featurise` for `listed`."""
    if not messages:
        return []
    counted = weights.hybrid if _have_vectors(messages) else weights.lexical
    vector = np.array([counted.get(name, 0.0) for name in FEATURES])
    # Rounded: in which order a product is summed depends on the row, and must not decide between equals.
    scores: list[float] = (featurise(question, messages, listed=listed) @ vector).round(9).tolist()
    scored = [
        RankedCandidate(candidate=each, score=score) for each, score in zip(messages, scores, strict=True)
    ]
    return sorted(scored, key=lambda each: (-each.score, -each.candidate.sequence))


def select_relevant(
    question: QuestionAnalysis,
    ranked: Sequence[RankedCandidate],
    *,
    weighed: Sequence[Candidate],
    weights: Weights,
) -> list[RankedCandidate]:
    """Those of `ranked` (some of the messages that were weighed, best first) that are worth telling; maybe none.

    Whoever asks with bare words alone ("4711", "bike lock?") is told the messages that have all of them.
    """
    if _have_vectors(weighed):
        floors = weights.hybrid_floor
        floor = floors.among(len(weighed)) + _likeness_of_all(weighed, weights)
        is_above = bool(ranked) and ranked[0].score >= floor
    else:
        floors = weights.lexical_floor
        floor = floors.among(len(weighed)) if weighed else 0.0
        best = [each.candidate for each in ranked[:_BEST]]
        is_above = bool(best) and ranked[0].score >= floor and _have_words(question, best)
    return [
        each
        for each in ranked
        if (is_above and each.score >= floor - floors.margin) or _has_all_words(question, each.candidate)
    ]


_BEST = 5
_LEAST_SHARE = 0.2
"""Of a question's words, so much must be in one of the best: of other languages than English, a few n-grams always are."""
_USUAL_COSINE, _USUAL_MESSAGES = 0.05, 5
"""What MiniLM finds between any English texts: taken as if so many messages more had it, for a few alone tell little."""
_TOLERATED_COSINE = 0.12


def _likeness_of_all(weighed: Sequence[Candidate], weights: Weights) -> float:
    """What the floor rises by where even messages that have nothing to do with the question are like it.

    Between any two Spanish texts MiniLM's cosine is 0.4, between German ones 0.3; other embedders have scales of
    their own. Half of the messages that were weighed are taken to have nothing to do with the question.
    """
    cosines = sorted(each.dense for each in weighed if each.dense is not None)
    middle = cosines[len(cosines) // 2]
    usual = (len(cosines) * middle + _USUAL_MESSAGES * _USUAL_COSINE) / (len(cosines) + _USUAL_MESSAGES)
    counted = weights.hybrid.get("meaning", 0.0) + weights.hybrid.get("session_meaning", 0.0)
    return max(0.0, usual - _TOLERATED_COSINE) * counted


def _have_words(question: QuestionAnalysis, messages: Sequence[Candidate]) -> bool:
    return bool(question.dates) or any(share_of_words(question, each) >= _LEAST_SHARE for each in messages)


def _has_all_words(question: QuestionAnalysis, message: Candidate) -> bool:
    return BARE in question.signs and all(word.whole & message.terms for word in question.words)


def _have_vectors(messages: Sequence[Candidate]) -> bool:
    """Whether the question was compared by meaning with any of them."""
    return any(each.dense is not None for each in messages)
