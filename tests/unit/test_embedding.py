"""Names of embedding spaces, and the check of vectors from outside."""

import math
import re

import pytest

from memory.errors import RecallUnavailable
from memory.recall.embedders.embedder import (
    EmbeddingInvalid,
    EmbeddingSpace,
    EmbeddingUnavailable,
    unit_vectors,
)
from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder
from tests.fakes.embedder import FakeEmbedder


def space(model: str = "all-MiniLM-L6-v2", dimension: int = 384, version: str = "1") -> EmbeddingSpace:
    return EmbeddingSpace(model=model, dimension=dimension, version=version)


def test_a_slug_is_readable_and_stable() -> None:
    assert space().collection_slug == "all-minilm-l6-v2-384-e6c7015f67"


@pytest.mark.parametrize("model", ["a/b:c d", "", "Модель", "x" * 500, "../..", "-"])
def test_a_slug_is_short_and_safe_for_any_model_name(model: str) -> None:
    slug = space(model).collection_slug

    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", slug)
    assert len(slug) <= 70


def test_two_spaces_never_share_a_slug() -> None:
    spaces = [
        space(),
        space("all-minilm-l6-v2"),
        space("all_MiniLM_L6_v2"),
        space(dimension=768),
        space(version="2"),
    ]

    assert len({each.collection_slug for each in spaces}) == len(spaces)


def test_vectors_are_normalised() -> None:
    vectors = unit_vectors([[3.0, 4.0], [0.0, 2.0]], count=2, space=space("m", 2))

    assert vectors == [[0.6, 0.8], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        ([[1.0, 0.0]], "m gave 1 vectors for 2 texts"),
        ([[1.0, 0.0]] * 3, "m gave 3 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "m gave a vector of 1 dimensions instead of 2"),
        ([[1.0, 0.0], []], "m gave a vector of 0 dimensions instead of 2"),
        ([[1.0, 0.0], [0.0, 0.0]], "m gave a vector that is zero or not finite"),
        ([[1.0, 0.0], [math.nan, 1.0]], "m gave a vector that is zero or not finite"),
        ([[1.0, 0.0], [math.inf, 1.0]], "m gave a vector that is zero or not finite"),
        ([[1.0, 0.0], [1.7e308, 1.7e308]], "m gave a vector that is zero or not finite"),
    ],
)
def test_unusable_vectors_are_refused(vectors: list[list[float]], reason: str) -> None:
    with pytest.raises(EmbeddingInvalid, match=f"^{reason}$"):
        unit_vectors(vectors, count=2, space=space("m", 2))


async def test_every_failure_of_an_embedder_means_that_recall_is_unavailable() -> None:
    embedder = FakeEmbedder(failure=EmbeddingUnavailable())

    with pytest.raises(RecallUnavailable, match="cannot answer now"):
        await embedder.embed(["text"])

    assert embedder.calls == [["text"]]


BLANK = ["", " \n\t", "\u3000"]


@pytest.mark.parametrize("text", ["my sister", "¿Dónde vive?", "42", "Tokyo 東京 and Kyoto", "😀 thanks"])
def test_minilm_reads_mostly_latin_text(minilm: MiniLMEmbedder, text: str) -> None:
    assert minilm.reads(text)


@pytest.mark.parametrize(
    "text",
    [
        *BLANK,
        "моя сестра",
        "我妹妹在儿童医院当护士",
        "خواهرم کجا زندگی می‌کند",
        "😀👍",
        "?!",
        "моя сестра in Lisbon",
    ],
)
def test_minilm_reads_no_other_text(minilm: MiniLMEmbedder, text: str) -> None:
    assert not minilm.reads(text)


async def test_an_openai_compatible_model_and_the_fake_read_all_text_except_blank() -> None:
    opened = await open_openai_embedder(
        EmbeddingEndpoint(model="any", base_url="http://127.0.0.1:9", dimension=8)
    )
    for embedder in (opened, FakeEmbedder()):
        assert [embedder.reads(text) for text in ("моя сестра", "我", "😀", *BLANK)] == [True] * 3 + [
            False
        ] * 3
    await opened.close()
