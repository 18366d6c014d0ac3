"""How well ranked lists of messages hold the evidence of questions: recall@k and hit@k."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rig.locomo import Question

DEPTHS = (5, 10, 25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Averages over questions, in percent, by depth: of the evidence found, and of questions with any of it found."""

    questions: int
    recall: Mapping[int, float]
    hit: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question and the ids that a retriever gave for it, the best first."""

    conversation: str
    question: Question
    found: Sequence[str]


def judge(answers: Sequence[Judged]) -> Quality:
    """The quality over these answers; no answers, zeros."""
    return Quality(
        questions=len(answers),
        recall={depth: _mean([_recall(each, depth) for each in answers]) for depth in DEPTHS},
        hit={depth: _mean([float(_recall(each, depth) > 0) for each in answers]) for depth in DEPTHS},
    )


def _recall(answer: Judged, depth: int) -> float:
    evidence = answer.question.evidence
    return len(evidence.intersection(answer.found[:depth])) / len(evidence)


def _mean(shares: Sequence[float]) -> float:
    return 100 * fmean(shares) if shares else 0.0
