"""The contract of embedders: the embedded one, the OpenAI-compatible one and the fake."""

import math
from collections.abc import AsyncGenerator

import pytest

from memory.recall.embedders.embedder import Embedder
from memory.recall.embedders.minilm import MiniLMEmbedder
from memory.recall.embedders.openai import EmbeddingEndpoint, open_openai_embedder
from tests.fakes.embedder import FakeEmbedder
from tests.scripted_openai import scripted_openai

TEXTS = [
    "my sister Anna lives in Lisbon",
    "the invoice is due on Friday",
    "où habite Anna ? 😀",
    "a much longer message, " * 30,
]


@pytest.fixture(params=["minilm", "openai", "fake"])
async def embedder(request: pytest.FixtureRequest, minilm: MiniLMEmbedder) -> AsyncGenerator[Embedder, None]:
    if request.param == "minilm":
        yield minilm
    elif request.param == "fake":
        yield FakeEmbedder()
    else:
        async with scripted_openai() as server:
            endpoint = EmbeddingEndpoint(model="scripted", base_url=server.base_url, batch_size=3)
            opened = await open_openai_embedder(endpoint)
            yield opened
            await opened.close()
            assert server.invalid_requests == []


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_each_text_gets_one_unit_vector_of_the_spaces_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)

    assert [len(vector) for vector in vectors] == [embedder.identity.dimension] * len(TEXTS)
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * len(TEXTS), abs=1e-5)
    assert all(type(component) is float for vector in vectors for component in vector)


async def test_vectors_keep_the_order_of_the_texts(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS)

    backwards = await embedder.embed(TEXTS[::-1])
    apart = [(await embedder.embed([text]))[0] for text in TEXTS]

    for one, other, alone in zip(together, reversed(backwards), apart, strict=True):
        assert one == pytest.approx(other, abs=1e-5)
        assert one == pytest.approx(alone, abs=1e-5)


async def test_equal_texts_have_equal_vectors(embedder: Embedder) -> None:
    first, second = await embedder.embed([TEXTS[0]] * 2)

    assert first == pytest.approx(second, abs=1e-6)


async def test_a_question_is_nearest_to_its_answer(embedder: Embedder) -> None:
    question, answer, other = await embedder.embed(["where does my sister Anna live", TEXTS[0], TEXTS[1]])

    assert _similarity(question, answer) > _similarity(question, other) + 0.1


@pytest.mark.parametrize("blank", ["", "  \n\t"])
async def test_a_blank_text_does_not_fail_its_batch(embedder: Embedder, blank: str) -> None:
    vectors = await embedder.embed([TEXTS[0], blank])

    assert vectors[0] == pytest.approx((await embedder.embed([TEXTS[0]]))[0], abs=1e-5)
    assert math.hypot(*vectors[1]) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["Anna \ud83d lives", "<|endoftext|> [CLS]", "\x00\x1b", "word " * 20_000])
async def test_unusual_text_is_embedded_like_any_other(embedder: Embedder, text: str) -> None:
    [vector] = await embedder.embed([text])

    assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u3000"])
async def test_the_embedder_does_not_read_a_blank_text(embedder: Embedder, text: str) -> None:
    assert not embedder.reads(text)


@pytest.mark.parametrize("text", [TEXTS[0], "ok", "1990"])
async def test_the_embedder_reads_english_and_figures(embedder: Embedder, text: str) -> None:
    assert embedder.reads(text)


async def test_the_name_of_a_space_does_not_change(embedder: Embedder) -> None:
    space = embedder.identity

    assert space == embedder.identity
    assert space.model
    assert space.dimension > 0
    assert space.collection_slug == embedder.identity.collection_slug


def _similarity(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
