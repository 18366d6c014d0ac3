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
    importance: float = 1.0
    """Number of questions that it stands for."""

    @property
    def teaches(self) -> bool:
        """True if the candidates hold evidence, and something else."""
        return bool(self.is_evidence.any() and not self.is_evidence.all())


def learn(examples: Sequence[Example]) -> Matrix:
    """Return a weight for each feature, by Newton's method with halved steps.

    They minimise the sum over questions of logsumexp(scores) - mean(scores of its evidence), plus half the penalty.
    Features that never vary weigh 0. Raises ValueError if no question teaches, and ArithmeticError if the steps do not
    settle.
    """
    taught = [each for each in examples if each.teaches]
    if not taught:
        raise ValueError("no question has evidence among its candidates")
    spread = np.concatenate([each.features for each in taught]).std(axis=0)
    varies = spread > 0
    scale = np.where(varies, spread, 1.0)
    questions = _Questions(taught, scale)
    weights = np.zeros(len(scale))
    for _ in range(_STEPS):
        gradient, curvature = questions.slope_and_bend(weights)
        if np.abs(gradient).max() < _SETTLED:
            return np.where(varies, weights / scale, 0.0)
        step: Matrix = np.linalg.solve(curvature, gradient).astype(np.float64)
        before, share = questions.loss(weights), 1.0
        while share > _SMALLEST and questions.loss(weights - share * step) > before:
            share /= 2
        weights = weights - share * step
    raise ArithmeticError("the weights did not settle")


class _Questions:
    """The candidates of all questions in one matrix, which takes a tenth of the time of one for each."""

    def __init__(self, examples: Sequence[Example], scale: Matrix) -> None:
        counts = [len(each.features) for each in examples]
        self._rows = np.concatenate([each.features for each in examples]) / scale
        self._first = np.cumsum([0, *counts[:-1]])
        self._question = np.repeat(np.arange(len(examples)), counts)
        self._importance = np.array([each.importance for each in examples])
        shares = [each.importance * each.is_evidence / each.is_evidence.sum() for each in examples]
        self._evidence = self._rows.T @ np.concatenate(shares)

    def loss(self, weights: Matrix) -> float:
        """Return what the weights are to minimise."""
        highest, total, _ = self._chances(weights)
        fit = self._importance @ (highest + np.log(total)) - self._evidence @ weights
        return float(PENALTY / 2 * weights @ weights + fit)

    def slope_and_bend(self, weights: Matrix) -> tuple[Matrix, Matrix]:
        """Return the first and the second derivative of the loss."""
        _, _, chances = self._chances(weights)
        expected = np.add.reduceat(self._rows * chances[:, None], self._first, axis=0)
        weighted = self._rows * (chances * self._importance[self._question])[:, None]
        slope = PENALTY * weights + weighted.sum(axis=0) - self._evidence
        spread = weighted.T @ self._rows - (expected * self._importance[:, None]).T @ expected
        return slope, PENALTY * np.eye(len(weights)) + spread

    def _chances(self, weights: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return the highest score of each question, the sum of its exponentials, and each candidate's chance."""
        scores = self._rows @ weights
        highest = np.maximum.reduceat(scores, self._first)
        odds = np.exp(scores - highest[self._question])
        total = np.add.reduceat(odds, self._first)
        return highest, total, odds / total[self._question]
