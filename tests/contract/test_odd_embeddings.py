"""Embedding endpoints as people run them: options and sizes that they refuse, and errors in every form."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memory.recall.embedders.embedder import EmbeddingError, EmbeddingInvalid, EmbeddingRefused
from memory.recall.embedders.openai import EmbeddingEndpoint, OpenAIEmbedder, open_openai_embedder
from tests.scripted_embeddings import Embeddings
from tests.scripted_openai import ScriptedOpenAI, scripted_openai

KEY = "sk-canary-0123456789"
TEXTS = [f"message {number} about boats and bread" for number in range(40)]
LONG = "the boat sails and the bread rises " * 600

Odd = Callable[[Mapping[str, Any]], tuple[int, object] | None]


def message(words: str, **more: object) -> dict[str, object]:
    return {"error": {"message": words, **more}}


def refuses_format(status: int, body: object) -> Odd:
    """Refuse the option `encoding_format`."""
    return lambda sent: (status, body) if "encoding_format" in sent else None


def takes_texts(at_most: int, status: int, body: object) -> Odd:
    """Refuse a longer list."""
    return lambda sent: (status, body) if len(sent["input"]) > at_most else None


def takes_words(at_most: int, status: int, body: object) -> Odd:
    """Refuse a request in which a text has more words."""
    return lambda sent: (status, body) if max(len(text.split()) for text in sent["input"]) > at_most else None


def always(status: int, body: object) -> Odd:
    return lambda _: (status, body)


FORMATS = {
    "named": refuses_format(400, message('Unknown name "encoding_format": Cannot find field.')),
    "siliconflow": refuses_format(
        400, {"code": 20015, "message": "The parameter is invalid. Please check again.", "data": None}
    ),
    "litellm": refuses_format(
        400, message("UnsupportedParamsError: the provider does not support parameters: ['encoding_format']")
    ),
    "pydantic": refuses_format(
        422,
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "encoding_format"], "msg": "Not permitted"}]},
    ),
    "status 500": refuses_format(500, message("encoding_format is not implemented")),
    "status 200": refuses_format(200, message("encoding_format must be absent")),
    "param": refuses_format(400, message("Bad request", param="encoding_format", code=400)),
}
SIZES = {
    "dashscope": takes_texts(
        10,
        400,
        message("Value error, batch size is invalid, it should not be larger than 10.: input.contents"),
    ),
    "tei": takes_texts(
        32, 422, {"message": "batch size 40 > maximum allowed batch size 32", "type": "Validation"}
    ),
    "siliconflow": takes_texts(
        16, 413, {"code": 20042, "message": "input batch size 40 > maximum allowed batch size 16"}
    ),
    "proxy": takes_texts(20, 413, "<html>413 Request Entity Too Large</html>"),
    "status 200": takes_texts(9, 200, message("too many inputs in one request")),
    "one": takes_texts(1, 400, message("at most 1 input is allowed")),
    "tokens": takes_texts(24, 400, message("Requested 319487 tokens, max 300000 tokens per request")),
}
LENGTHS = {
    "llama.cpp": takes_words(
        512, 500, message("input (1200 tokens) is too large to process. increase the physical batch size")
    ),
    "vllm": takes_words(
        256,
        400,
        {"object": "error", "message": "This model's maximum context length is 512 tokens.", "code": 400},
    ),
    "tei": takes_words(
        300, 413, {"message": "Input validation error: `inputs` must have less than 512 tokens. Given: 1200"}
    ),
    "openai": takes_words(1_000, 400, message("Invalid 'input[0]': maximum input length is 8192 tokens.")),
}


async def opened(server: ScriptedOpenAI, *, dimension: int | None = 64) -> OpenAIEmbedder:
    return await open_openai_embedder(
        EmbeddingEndpoint(model="m", api_key=KEY, base_url=server.base_url, dimension=dimension)
    )


@pytest.mark.parametrize("odd", FORMATS.values(), ids=FORMATS)
async def test_a_refused_option_is_left_out_and_not_sent_again(odd: Odd) -> None:
    async with scripted_openai(embeddings=Embeddings(odd=odd)) as server:
        embedder = await opened(server, dimension=None)
        await embedder.embed(TEXTS[:2])
        await embedder.close()
    assert embedder.identity.dimension == 64
    assert ["encoding_format" in sent.body for sent in server.embedding_requests] == [True, False, False]


async def test_a_demanded_kind_of_input_is_sent_from_then_on() -> None:
    """decolua/9router#1378."""
    refusal = message("'input_type' parameter is required for asymmetric models")
    odd: Odd = lambda sent: None if sent.get("input_type") == "query" else (400, refusal)  # noqa: E731
    async with scripted_openai(embeddings=Embeddings(odd=odd)) as server:
        embedder = await opened(server)
        await embedder.embed(TEXTS[:2])
        await embedder.embed(TEXTS[2:4])
        await embedder.close()
    assert len(server.embedding_requests) == 3


async def test_a_vector_in_a_list_of_one_is_read() -> None:
    """abetlen/llama-cpp-python#1588, diegosouzapw/OmniRoute#9089."""
    odd = always(200, {"data": [{"index": 0, "embedding": [[0.5, 0.5]]}]})
    async with scripted_openai(embeddings=Embeddings(odd=odd)) as server:
        embedder = await opened(server, dimension=None)
        await embedder.close()
    assert embedder.identity.dimension == 2


@pytest.mark.parametrize("odd", SIZES.values(), ids=SIZES)
async def test_a_list_that_is_too_long_is_sent_in_parts_from_then_on(odd: Odd) -> None:
    async with scripted_openai() as server:
        embedder = await opened(server)
        expected = await embedder.embed(TEXTS)
        server.embeddings = Embeddings(odd=odd)
        assert await embedder.embed(TEXTS) == expected
        before = len(server.embedding_requests)
        assert await embedder.embed(TEXTS[:8]) == expected[:8]
        await embedder.close()
    assert before < 100
    again = [len(sent.body["input"]) for sent in server.embedding_requests[before:]]
    assert again == [8] or odd is SIZES["one"]


@pytest.mark.parametrize("odd", LENGTHS.values(), ids=LENGTHS)
async def test_a_text_that_is_too_long_counts_by_its_beginning(odd: Odd) -> None:
    async with scripted_openai(embeddings=Embeddings(odd=odd)) as server:
        embedder = await opened(server)
        long, short = await embedder.embed([LONG, TEXTS[0]])
        assert short == (await embedder.embed([TEXTS[0]]))[0]
        assert long != short
        before = len(server.embedding_requests)
        await embedder.embed([LONG, TEXTS[1]])
        await embedder.close()
    assert [len(sent.body["input"]) for sent in server.embedding_requests[before:]] == [2]


REFUSED: dict[str, tuple[int, object, type[EmbeddingError]]] = {
    "wrong key": (
        401,
        message(f"Incorrect API key provided: {KEY}", code="invalid_api_key"),
        EmbeddingRefused,
    ),
    "unknown model": (404, message("model 'm' not found, try pulling it first"), EmbeddingRefused),
    "status 200": (200, message("the model is loading"), EmbeddingInvalid),
    "bare text": (400, "no such model, and the key was " + KEY, EmbeddingRefused),
    "numeric code": (
        400,
        {"object": "error", "message": "The model m does not exist.", "code": 404},
        EmbeddingRefused,
    ),
    "text as error": (422, {"error": "cannot embed"}, EmbeddingRefused),
    "deep": (200, "[" * 100_000, EmbeddingInvalid),
    "list": (400, [message("bad")], EmbeddingRefused),
    "hopeless size": (413, message("too large"), EmbeddingRefused),
    "hopeless option": (400, message("encoding_format"), EmbeddingRefused),
    "null": (200, "null", EmbeddingInvalid),
    "empty list": (200, {"data": []}, EmbeddingInvalid),
    "empty vector": (200, {"data": [{"embedding": []}]}, EmbeddingInvalid),
    "infinity": (200, '{"data": [{"embedding": [1e999, 0]}]}', EmbeddingInvalid),
    "huge": (200, {"data": [{"embedding": [1.0] * 70_000}]}, EmbeddingInvalid),
}


@pytest.mark.parametrize(("status", "body", "expected"), REFUSED.values(), ids=REFUSED)
async def test_a_failure_has_the_endpoints_own_words_without_the_key(
    status: int, body: object, expected: type[EmbeddingError]
) -> None:
    async with scripted_openai(embeddings=Embeddings(odd=always(status, body))) as server:
        with pytest.raises(EmbeddingError) as caught:
            await opened(server, dimension=None)
    assert type(caught.value) is expected
    assert len(server.embedding_requests) <= 2
    assert KEY not in f"{caught.value} {caught.value.words}"
    assert len(caught.value.words) <= 200
    if status != 200:
        assert caught.value.words in json.dumps(body).replace(KEY, "***")
