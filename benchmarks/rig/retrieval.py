"""How well ranked lists of messages hold the evidence of questions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from rig.locomo import Question

DEPTHS = (5, 10, 25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question and the ids of turns that a retriever gave for it, the best first."""

    conversation: str
    question: Question
    found: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over questions with its standard error, both in percent."""

    mean: float
    error: float


Measure = Callable[[Collection[str], Collection[str]], float]
"""The share of the evidence, from 0 to 1, that is in the ids which were found."""


def message_recall(evidence: Collection[str], found: Collection[str]) -> float:
    """Return the share of the evidence that was found."""
    return len(set(evidence).intersection(found)) / len(set(evidence))


def message_any(evidence: Collection[str], found: Collection[str]) -> float:
    """Return 1 if any evidence was found."""
    return float(not set(evidence).isdisjoint(found))


def session_any(evidence: Collection[str], found: Collection[str]) -> float:
    """Return 1 if a message of any session with evidence was found."""
    return message_any(_sessions(evidence), _sessions(found))


def session_all(evidence: Collection[str], found: Collection[str]) -> float:
    """Return 1 if a message of each session with evidence was found."""
    return float(_sessions(evidence) <= _sessions(found))


MEASURES: Mapping[str, Measure] = {
    "recall": message_recall,
    "any": message_any,
    "session any": session_any,
    "session all": session_all,
}


def judge(answers: Sequence[Judged], measure: Measure = message_recall) -> dict[int, Figure]:
    """Return the figure at each depth over these answers, whose questions have evidence."""
    return {
        depth: mean_of([measure(each.question.evidence, each.found[:depth]) for each in answers])
        for depth in DEPTHS
    }


def mean_of(shares: Sequence[float]) -> Figure:
    """Return the mean of shares from 0 to 1; 0 without any."""
    if not shares:
        return Figure(mean=0.0, error=0.0)
    error = stdev(shares) / sqrt(len(shares)) if len(shares) > 1 else 0.0
    return Figure(mean=100 * fmean(shares), error=100 * error)


def _sessions(turns: Collection[str]) -> set[str]:
    """Return the sessions of turns such as D1:3."""
    return {each.partition(":")[0] for each in turns}
