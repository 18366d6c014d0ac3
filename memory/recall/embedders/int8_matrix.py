"""Matrices in eight bits with a scale for each row: a quarter of float32's size, and next to its values."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Int8Matrix:
    """Row r is values[r] * scales[r]. `values` is (rows, columns), `scales` (rows,)."""

    values: NDArray[np.int8]
    scales: Array

    def rows(self, numbers: NDArray[np.int64]) -> Array:
        """The rows of these numbers, in the shape of `numbers` with one more axis."""
        return self.values[numbers] * self.scales[numbers][..., None]

    def project(self, x: Array) -> Array:
        """`x` (n, columns) times this matrix, transposed: (n, rows).

        The values are in float32 only while they are multiplied: BLAS has no product of int8.
        """
        product = x @ self.values.astype(np.float32).T
        product *= self.scales
        return product


def quantise(rows: Array) -> Int8Matrix:
    """Symmetric: the largest magnitude of a row becomes 127, and no value is off by more than half a step."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return Int8Matrix(values=np.rint(rows / scales[:, None]).astype(np.int8), scales=scales)
