"""Reads a BERT checkpoint from its safetensors file: the matrices in int8, the rest in float32."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import numpy as np
from safetensors import SafetensorError, safe_open

from memory.recall.embedders.bert_forward import BertShape, Weights, array_shapes, matrix_shapes
from memory.recall.embedders.int8_matrix import Array, Int8Matrix, quantise

_BLOCK_ROWS = 512
"""At most 3 MB in float32 at a time."""

_open = cast("Callable[..., AbstractContextManager[Any]]", safe_open)  # its stub has no types


def read_weights(path: Path, shape: BertShape) -> Weights:
    """Every tensor that the forward pass of this shape needs; others, such as a pooler, are passed over.

    Takes a few MB for a moment beside what it returns. Raises ValueError, which says what is wrong with which tensor,
    where the file is damaged or of another shape, and OSError where it cannot be read.
    """
    try:
        return Weights(
            matrices={
                name: _read_matrix(path, name, rows, columns)
                for name, (rows, columns) in matrix_shapes(shape).items()
            },
            arrays={name: _read(path, name, size) for name, size in array_shapes(shape).items()},
        )
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _read_matrix(path: Path, name: str, rows: int, columns: int) -> Int8Matrix:
    values = np.empty((rows, columns), np.int8)
    scales = np.empty(rows, np.float32)
    for start in range(0, rows, _BLOCK_ROWS):
        block = slice(start, min(start + _BLOCK_ROWS, rows))
        quantised = quantise(_read(path, name, (rows, columns), block))
        values[block], scales[block] = quantised.values, quantised.scales
    return Int8Matrix(values=values, scales=scales)


def _read(path: Path, name: str, shape: tuple[int, ...], rows: slice = slice(None)) -> Array:
    # Opened each time: what was read of a mapped file counts as our memory until it is closed, all 90 MB in the end.
    with _open(path, framework="numpy") as file:
        stored = file.get_slice(name)
        kind, found = stored.get_dtype(), tuple(stored.get_shape())
        if kind != "F32" or found != shape:
            raise ValueError(f"{name} is {kind} {found}, not F32 {shape}")
        read: Array = stored[rows]
    if not np.isfinite(read).all():
        raise ValueError(f"{name} has values that are not finite")
    return read
