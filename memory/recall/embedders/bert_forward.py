"""The forward pass of a BERT sentence encoder in numpy: token ids in, unit vectors out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory.recall.embedders.int8_matrix import Array

_MASKED = np.float32(-1e9)
"""Added to the attention scores of padding: exp() of it is 0 in float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """What a checkpoint's config.json says of its layers."""

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int
    positions: int
    segments: int
    layer_norm_epsilon: float


class Matrix(Protocol):
    """A large matrix, in whatever form it is kept; see Int8Matrix."""

    def rows(self, numbers: NDArray[np.int64]) -> Array: ...

    def project(self, x: Array) -> Array: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A checkpoint's tensors by their names: the large matrices, and the others."""

    matrices: Mapping[str, Matrix]
    arrays: Mapping[str, Array]


def matrix_shapes(shape: BertShape) -> dict[str, tuple[int, int]]:
    """(rows, columns) of the large matrices that `embed_tokens` needs: (outputs, inputs) of those in layers."""
    hidden, wide = shape.hidden, shape.intermediate
    shapes = {"embeddings.word_embeddings.weight": (shape.vocabulary, hidden)}
    for layer in map(_layer, range(shape.layers)):
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}.attention.{name}.weight"] = (hidden, hidden)
        shapes[f"{layer}.intermediate.dense.weight"] = (wide, hidden)
        shapes[f"{layer}.output.dense.weight"] = (hidden, wide)
    return shapes


def array_shapes(shape: BertShape) -> dict[str, tuple[int, ...]]:
    """The shapes of the other tensors that it needs: positions, segments, norms, and each layer's biases.

    In int8 the positions would save 0.6 MB, and cost as much exactness as all word vectors do.
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


def embed_tokens(weights: Weights, shape: BertShape, ids: NDArray[np.int64], mask: Array) -> Array:
    """Mean of the last layer over the tokens whose mask is 1, at unit length.

    `ids` and `mask` are (texts, tokens) with padding at the right; the result is (texts, hidden).
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
    """x·Φ(x) with erf by Abramowitz & Stegun 7.1.26, whose error is below 1.5e-7; numpy has no erf.

    Worked in the form relu(x) - |x|·Φ(-|x|), which loses no digits where Φ is near 0.
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


def _layer(number: int) -> str:
    return f"encoder.layer.{number}"


def _embeddings(weights: Weights, shape: BertShape, ids: NDArray[np.int64]) -> Array:
    words = weights.matrices["embeddings.word_embeddings.weight"].rows(ids)
    positions = weights.arrays["embeddings.position_embeddings.weight"][: ids.shape[1]]
    first_segment = weights.arrays["embeddings.token_type_embeddings.weight"][0]
    return _norm(weights, "embeddings.LayerNorm", words + (positions + first_segment), shape)


def _attention(weights: Weights, prefix: str, hidden: Array, bias: Array, *, heads: int) -> Array:
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


def _dense(weights: Weights, name: str, x: Array) -> Array:
    # One flat product: numpy runs a stacked (3-d) one text by text.
    flat = weights.matrices[f"{name}.weight"].project(x.reshape(-1, x.shape[-1]))
    flat += weights.arrays[f"{name}.bias"]
    return flat.reshape(*x.shape[:-1], -1)


def _norm(weights: Weights, name: str, x: Array, shape: BertShape) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    centred /= np.sqrt(variance + np.float32(shape.layer_norm_epsilon))
    centred *= weights.arrays[f"{name}.weight"]
    centred += weights.arrays[f"{name}.bias"]
    return centred
