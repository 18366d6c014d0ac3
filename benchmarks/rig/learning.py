"""Learns the ranker's weights: a conditional logit over the candidates of each question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

PENALTY = 3.0
"""On the squares of the standardised weights; anything from 0.3 to 10 gives the same recall."""
_STEPS = 50
_SETTLED = 1e-4
_SMALLEST = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question: the features of its candidates (candidates, features), and which of them are evidence."""

    features: Matrix
    is_evidence: NDArray[np.bool_]


def learn(examples: Sequence[Example]) -> Matrix:
    """Return a weight for each feature, by Newton's method with halved steps.

    They minimise the sum over questions of logsumexp(scores) - mean(scores of its evidence), plus half the penalty.
    Questions whose candidates hold no evidence, or nothing else, teach nothing. Features that never vary weigh 0.
    Raises ValueError where no question teaches, and ArithmeticError where the steps do not settle.
    """
    taught = [each for each in examples if each.is_evidence.any() and not each.is_evidence.all()]
    if not taught:
        raise ValueError("no question has evidence among its candidates")
    spread = np.concatenate([each.features for each in taught]).std(axis=0)
    varies = spread > 0
    scale = np.where(varies, spread, 1.0)
    questions = [(each.features / scale, each.is_evidence) for each in taught]
    weights = np.zeros(len(scale))
    for _ in range(_STEPS):
        gradient, curvature = PENALTY * weights, PENALTY * np.eye(len(scale))
        for rows, is_evidence in questions:
            slope, bend = _slope_and_bend(rows, is_evidence, weights)
            gradient += slope
            curvature += bend
        if np.abs(gradient).max() < _SETTLED:
            return np.where(varies, weights / scale, 0.0)
        step: Matrix = np.linalg.solve(curvature, gradient).astype(np.float64)
        weights = _step_down(questions, weights, step)
    raise ArithmeticError("the weights did not settle")


def _step_down(
    questions: Sequence[tuple[Matrix, NDArray[np.bool_]]], weights: Matrix, step: Matrix
) -> Matrix:
    """Return the first of the step, its half, its quarter … that loses nothing."""
    before = _loss(questions, weights)
    share = 1.0
    while share > _SMALLEST and _loss(questions, weights - share * step) > before:
        share /= 2
    return weights - share * step


def _loss(questions: Sequence[tuple[Matrix, NDArray[np.bool_]]], weights: Matrix) -> float:
    total = PENALTY / 2 * float(weights @ weights)
    for rows, is_evidence in questions:
        scores = rows @ weights
        highest = scores.max()
        total += float(highest + np.log(np.exp(scores - highest).sum()) - scores[is_evidence].mean())
    return total


def _slope_and_bend(rows: Matrix, is_evidence: NDArray[np.bool_], weights: Matrix) -> tuple[Matrix, Matrix]:
    scores = rows @ weights
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    expected = chances @ rows
    centred = rows - expected
    return expected - rows[is_evidence].mean(axis=0), (centred * chances[:, None]).T @ centred


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorExample:
    """A question asked in a chat: its best score without the rise of the floor, and what the floor depends on."""

    score: float
    scored: int
    coverage: float
    has_answer: bool


def learn_floor(examples: Sequence[FloorExample], *, silenced: float) -> tuple[float, float, float]:
    """Return base, growth and coverage of a floor that silences this share of the questions that have an answer.

    A logistic regression says how much the number of messages and the share of words count in points of the score.
    Questions with an answer weigh as much as the others.
    """
    rows = np.array([[1.0, each.score, np.log(each.scored), each.coverage] for each in examples])
    has_answer = np.array([each.has_answer for each in examples], np.float64)
    share = has_answer.mean()
    importance = np.where(has_answer > 0, 0.5 / share, 0.5 / (1 - share))
    weights = np.zeros(4)
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (importance * (chances - has_answer))
        bend = (rows * (importance * chances * (1 - chances))[:, None]).T @ rows
        weights -= np.linalg.solve(bend + _SMALLEST * np.eye(4), slope)
    growth, coverage = -weights[2] / weights[1], weights[3] / weights[1]
    above = rows[:, 1] - growth * rows[:, 2] + coverage * rows[:, 3]
    return float(np.quantile(above[has_answer > 0], silenced)), float(growth), float(coverage)
