"""The encoder of the embedded embedder against sentence-transformers, whose vectors are stored beside this file."""

import json
from pathlib import Path
from typing import Any, cast

import ctranslate2  # pyright: ignore[reportMissingTypeStubs] - it has none
import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.recall.embedders.minilm import FOLDER, BertEncoder

REFERENCE = cast(
    dict[str, Any], json.loads((Path(__file__).parent / "minilm_reference.json").read_text("utf-8"))
)


def _reference_ids() -> list[list[int]]:
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return [tokenizer.encode(text).ids for text in REFERENCE["texts"]]


def in_float32(ids: list[list[int]]) -> NDArray[np.float32]:
    """Return the vectors of the int8 weights with sums in float32."""
    encoder = cast("Any", ctranslate2).Encoder(str(FOLDER), compute_type="float32", intra_threads=1)
    pooled = [np.array(encoder.forward_batch([text]).last_hidden_state)[0].sum(axis=0) for text in ids]
    return np.array([vector / np.linalg.norm(vector) for vector in pooled])


def test_vectors_are_near_those_of_sentence_transformers() -> None:
    """Only int8 makes a difference: without it, both differ by less than 1e-6.

    Processors without VNNI add pairs of products in 16 bits, which saturates: 0.052 on an EPYC with AVX2 only.
    """
    ids = _reference_ids()
    encoder = BertEncoder(FOLDER)
    for vectors, off in (
        (in_float32(ids), 0.015),
        (np.array([encoder.embed([text])[0] for text in ids]), 0.06),
    ):
        assert np.abs(vectors[:, :8] - np.array(REFERENCE["first_components"])).max() < off
        assert np.abs(vectors @ vectors.T - np.array(REFERENCE["dot_products"])).max() < off


def test_products_in_int8_give_almost_the_same_vectors() -> None:
    ids = _reference_ids()
    encoder = BertEncoder(FOLDER)

    cosines = [
        np.dot(*pair)
        for pair in zip(in_float32(ids), (encoder.embed([text])[0] for text in ids), strict=True)
    ]

    assert min(cosines) > 0.97
    assert np.mean(cosines) > 0.99


@pytest.mark.parametrize("length", [3, 17, 60, 200])
def test_a_vector_does_not_depend_on_the_other_texts_of_its_batch(length: int) -> None:
    numbers = np.random.default_rng(length)
    texts = numbers.integers(1_000, 30_000, (12, length)).tolist()
    encoder = BertEncoder(FOLDER)

    together = encoder.embed(texts)

    assert together == [encoder.embed([text])[0] for text in texts]
