"""A BERT sentence encoder in numpy: a checkpoint with int8 matrices, and its forward pass."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

Array: TypeAlias = NDArray[np.float32]
_MASKED = np.float32(-1e9)
"""Added to the attention scores of padding: exp() of it is 0 in float32."""
_BLOCK_ROWS = 512
"""Rows read at a time: at most 3 MB in float32."""
_open = cast("Callable[..., AbstractContextManager[Any]]", safe_open)  # its stub has no types


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """Sizes of the layers, from a checkpoint's config.json."""

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int
    positions: int
    segments: int
    layer_norm_epsilon: float


class Matrix(Protocol):
    """A large matrix in any representation, see Int8Matrix."""

    def rows(self, numbers: NDArray[np.int64]) -> Array: ...

    def project(self, x: Array) -> Array: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BertWeights:
    """Tensors of a checkpoint by name: the large matrices, and the others."""

    matrices: Mapping[str, Matrix]
    arrays: Mapping[str, Array]


def embed_tokens(weights: BertWeights, shape: BertShape, ids: NDArray[np.int64], mask: Array) -> Array:
    """Return the mean of the last layer over the tokens with mask 1, at unit length.

    `ids` and `mask` are (texts, tokens), padded at the right. The result is (texts, hidden).
    """
    hidden = _embeddings(weights, shape, ids)
    bias = (1.0 - mask[:, None, None, :]) * _MASKED
    for layer in range(shape.layers):
        prefix = _layer(layer)
        attended = _attention(weights, f"{prefix}.attention", hidden, bias, heads=shape.heads)
        hidden = _norm(weights, f"{prefix}.attention.output.LayerNorm", hidden + attended, shape)
        widened = gelu(_dense(weights, f"{prefix}.intermediate.dense", hidden))
        hidden = _norm(
            weights,
            f"{prefix}.output.LayerNorm",
            hidden + _dense(weights, f"{prefix}.output.dense", widened),
            shape,
        )
    pooled = (hidden * mask[:, :, None]).sum(axis=1)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def gelu(x: Array) -> Array:
    """Return x·Φ(x) with erf by Abramowitz & Stegun 7.1.26 (error below 1.5e-7), because numpy has no erf.

    The form relu(x) - |x|·Φ(-|x|) loses no digits where Φ is near 0.
    """
    magnitude = np.abs(x)
    t = 1.0 / (1.0 + magnitude * np.float32(0.3275911 / np.sqrt(2)))
    tail = t * np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    np.multiply(x, x, out=t)
    t *= np.float32(-0.5)
    np.exp(t, out=t)
    tail *= t
    tail *= magnitude
    tail *= np.float32(0.5)
    return np.maximum(x, np.float32(0)) - tail


def matrix_shapes(shape: BertShape) -> dict[str, tuple[int, int]]:
    """Return (rows, columns) of the large matrices. In layers these are (outputs, inputs)."""
    hidden, wide = shape.hidden, shape.intermediate
    shapes = {"embeddings.word_embeddings.weight": (shape.vocabulary, hidden)}
    for layer in map(_layer, range(shape.layers)):
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}.attention.{name}.weight"] = (hidden, hidden)
        shapes[f"{layer}.intermediate.dense.weight"] = (wide, hidden)
        shapes[f"{layer}.output.dense.weight"] = (hidden, wide)
    return shapes


def array_shapes(shape: BertShape) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the other tensors: positions, segments, norms, and the biases of each layer.

    Positions in int8 would save 0.6 MB and cost as much accuracy as all word vectors do.
    """
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.position_embeddings.weight": (shape.positions, shape.hidden),
        "embeddings.token_type_embeddings.weight": (shape.segments, shape.hidden),
    }
    layers = list(map(_layer, range(shape.layers)))
    outputs = [f"{layer}.{part}" for layer in layers for part in ("attention.output", "output")]
    for part in ("embeddings", *outputs):
        for kind in ("weight", "bias"):
            shapes[f"{part}.LayerNorm.{kind}"] = (shape.hidden,)
    for name, (rows, _) in matrix_shapes(shape).items():
        if not name.startswith("embeddings."):
            shapes[f"{name.removesuffix('.weight')}.bias"] = (rows,)
    return shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Int8Matrix:
    """A matrix in eight bits with a scale for each row: row r is values[r] * scales[r].

    `values` is (rows, columns), `scales` is (rows,). It takes a quarter of the memory of float32.
    """

    values: NDArray[np.int8]
    scales: Array

    def rows(self, numbers: NDArray[np.int64]) -> Array:
        """Return the rows of these numbers, in the shape of `numbers` with one more axis."""
        return self.values[numbers] * self.scales[numbers][..., None]

    def project(self, x: Array) -> Array:
        """Return `x` (n, columns) times the transposed matrix: (n, rows).

        The values become float32 for the multiplication, because BLAS has no int8 product.
        """
        product = x @ self.values.astype(np.float32).T
        product *= self.scales
        return product


def quantise(rows: Array) -> Int8Matrix:
    """Quantise symmetrically: the largest magnitude of a row becomes 127, and errors are at most half a step."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return Int8Matrix(values=np.rint(rows / scales[:, None]).astype(np.int8), scales=scales)


def _layer(number: int) -> str:
    return f"encoder.layer.{number}"


def _embeddings(weights: BertWeights, shape: BertShape, ids: NDArray[np.int64]) -> Array:
    words = weights.matrices["embeddings.word_embeddings.weight"].rows(ids)
    positions = weights.arrays["embeddings.position_embeddings.weight"][: ids.shape[1]]
    first_segment = weights.arrays["embeddings.token_type_embeddings.weight"][0]
    return _norm(weights, "embeddings.LayerNorm", words + (positions + first_segment), shape)


def _attention(weights: BertWeights, prefix: str, hidden: Array, bias: Array, *, heads: int) -> Array:
    texts, tokens, width = hidden.shape

    def by_head(name: str) -> Array:
        projected = _dense(weights, f"{prefix}.self.{name}", hidden)
        return projected.reshape(texts, tokens, heads, width // heads).transpose(0, 2, 1, 3)

    scores = by_head("query") @ by_head("key").transpose(0, 1, 3, 2)
    scores *= np.float32((width // heads) ** -0.5)
    scores += bias
    mixed = _softmax(scores) @ by_head("value")
    return _dense(
        weights, f"{prefix}.output.dense", mixed.transpose(0, 2, 1, 3).reshape(texts, tokens, width)
    )


def _softmax(scores: Array) -> Array:
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def _dense(weights: BertWeights, name: str, x: Array) -> Array:
    # One flat product: numpy runs a stacked (3-d) one text by text.
    flat = weights.matrices[f"{name}.weight"].project(x.reshape(-1, x.shape[-1]))
    flat += weights.arrays[f"{name}.bias"]
    return flat.reshape(*x.shape[:-1], -1)


def _norm(weights: BertWeights, name: str, x: Array, shape: BertShape) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    centred /= np.sqrt(variance + np.float32(shape.layer_norm_epsilon))
    centred *= weights.arrays[f"{name}.weight"]
    centred += weights.arrays[f"{name}.bias"]
    return centred


def read_weights(path: Path, shape: BertShape) -> BertWeights:
    """Read every tensor that the forward pass of this shape needs; others, such as a pooler, are ignored.

    Needs a few MB of working memory. Raises ValueError, naming the tensor, if the file is damaged or of another
    shape. Raises OSError if it cannot be read.
    """
    try:
        return BertWeights(
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
    # Opened for each tensor: pages of a mapped file count as our memory until it is closed, in the end all 90 MB.
    with _open(path, framework="numpy") as file:
        stored = file.get_slice(name)
        kind, stored_shape = stored.get_dtype(), tuple(stored.get_shape())
        if kind != "F32" or stored_shape != shape:
            raise ValueError(f"{name} is {kind} {stored_shape}, not F32 {shape}")
        values: Array = stored[rows]
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has values that are not finite")
    return values
