"""The OpenAI-compatible embedder over HTTP: what it asks, and what becomes of every bad answer."""

import json
import math
import socket
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from bot.serving import serve_http
from memory.embedding import (
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingUnavailable,
)
from memory.openai_embedder import EmbeddingEndpoint, OpenAIEmbedder, open_openai_embedder, plan_requests
from memory.tokens import tokenizer_for
from tests.scripted_embeddings import EmbeddingFailure, Embeddings
from tests.scripted_openai import ScriptedOpenAI, scripted_openai

KEY = "sk-canary-0123456789"


@pytest.fixture
async def server() -> AsyncGenerator[ScriptedOpenAI, None]:
    async with scripted_openai(embeddings=Embeddings(dimension=8)) as running:
        yield running


@asynccontextmanager
async def opened(endpoint: EmbeddingEndpoint) -> AsyncGenerator[OpenAIEmbedder, None]:
    embedder = await open_openai_embedder(endpoint)
    try:
        yield embedder
    finally:
        await embedder.close()


@asynccontextmanager
async def answering(
    body: object, *, status: int = 200, kind: str = "application/json"
) -> AsyncGenerator[str, None]:
    """The base URL of a server that gives this one answer to everything."""
    content = body if isinstance(body, str) else json.dumps(body)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await Response(content, status, {"retry-after-ms": "1"}, kind)(scope, receive, send)

    async with serve_http(app) as running:
        yield f"{running.origin}/v1"


def endpoint_at(base_url: str, *, dimension: int = 2, timeout_s: float = 10.0) -> EmbeddingEndpoint:
    return EmbeddingEndpoint(
        model="m", api_key=KEY, base_url=base_url, dimension=dimension, timeout_s=timeout_s
    )


async def failure_of(endpoint: EmbeddingEndpoint, texts: list[str]) -> EmbeddingError:
    async with opened(endpoint) as embedder:
        with pytest.raises(EmbeddingError) as caught:
            await embedder.embed(texts)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


async def test_an_unknown_models_dimension_is_found_by_one_request(server: ScriptedOpenAI) -> None:
    async with opened(EmbeddingEndpoint(model="scripted", base_url=server.base_url)) as embedder:
        assert embedder.identity.dimension == 8

    assert [request.body["input"] for request in server.embedding_requests] == [["dimension"]]


@pytest.mark.parametrize(
    ("model", "dimension"),
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("text-embedding-ada-002", 1536)],
)
async def test_a_known_models_dimension_takes_no_request(
    server: ScriptedOpenAI, model: str, dimension: int
) -> None:
    async with opened(EmbeddingEndpoint(model=model, base_url=server.base_url)) as embedder:
        assert embedder.identity.dimension == dimension

    assert server.requests == []


async def test_a_set_dimension_is_asked_for(server: ScriptedOpenAI) -> None:
    async with opened(
        EmbeddingEndpoint(model="text-embedding-3-small", base_url=server.base_url, dimension=16)
    ) as embedder:
        [vector] = await embedder.embed(["text"])

    assert len(vector) == embedder.identity.dimension == 16
    assert server.embedding_requests[0].body["dimensions"] == 16


async def test_the_models_own_dimension_is_not_asked_for(server: ScriptedOpenAI) -> None:
    server.embeddings = Embeddings(dimension=1536)
    endpoint = EmbeddingEndpoint(model="text-embedding-ada-002", base_url=server.base_url, dimension=1536)

    async with opened(endpoint) as embedder:
        await embedder.embed(["text"])

    assert "dimensions" not in server.embedding_requests[0].body


async def test_texts_go_in_batches_of_the_size_set(server: ScriptedOpenAI) -> None:
    endpoint = EmbeddingEndpoint(model="scripted", base_url=server.base_url, dimension=8, batch_size=2)

    async with opened(endpoint) as embedder:
        await embedder.embed(["one", "two", "three", "four", "five"])

    sent = [request.body["input"] for request in server.embedding_requests]
    assert sent == [["one", "two"], ["three", "four"], ["five"]]


def test_no_request_holds_more_tokens_than_the_api_takes() -> None:
    endpoint = EmbeddingEndpoint(model="m", max_input_tokens=8_000)

    batches = list(plan_requests(["x" * 10_000] * 40, endpoint))

    assert [len(batch) for batch in batches] == [37, 3]


async def test_a_text_that_is_too_long_is_sent_by_its_beginning(server: ScriptedOpenAI) -> None:
    endpoint = EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=8, max_input_tokens=10)
    text = "word " * 100

    async with opened(endpoint) as embedder:
        await embedder.embed([text])

    [sent] = server.embedding_requests[0].body["input"]
    assert text.startswith(sent)
    assert tokenizer_for("m").count(sent) == 10


@pytest.mark.parametrize("failure", ["server_error", "rate_limited", "hang"])
async def test_what_may_pass_is_unavailable(server: ScriptedOpenAI, failure: EmbeddingFailure) -> None:
    server.embeddings = Embeddings(dimension=2, failure=failure)

    error = await failure_of(endpoint_at(server.base_url, timeout_s=0.3), ["text"])

    assert type(error) is EmbeddingUnavailable


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]

        error = await failure_of(endpoint_at(f"http://127.0.0.1:{port}/v1"), ["text"])

    assert type(error) is EmbeddingUnavailable


@pytest.mark.parametrize("failure", ["wrong_dimension", "null", "nan", "nan_text"])
async def test_vectors_that_cannot_be_used_are_invalid(
    server: ScriptedOpenAI, failure: EmbeddingFailure
) -> None:
    server.embeddings = Embeddings(dimension=8, failure=failure)

    async with opened(EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=8)) as embedder:
        with pytest.raises(EmbeddingInvalid):
            await embedder.embed(["text"])


@pytest.mark.parametrize(
    ("status", "error", "expected", "text"),
    [
        (400, {"code": None}, EmbeddingRefused, "the embedding endpoint answered 400 (no code)"),
        (
            401,
            {"code": "invalid_api_key"},
            EmbeddingRefused,
            "the embedding endpoint answered 401 (invalid_api_key)",
        ),
        (403, {"code": KEY}, EmbeddingRefused, "the embedding endpoint answered 403 (no code)"),
        (404, {}, EmbeddingRefused, "the embedding endpoint answered 404 (no code)"),
        (
            429,
            {"code": "insufficient_quota"},
            EmbeddingRefused,
            "the embedding endpoint answered 429 (insufficient_quota)",
        ),
        (
            429,
            {"code": "rate_limit_exceeded"},
            EmbeddingUnavailable,
            "the embedding endpoint answered 429 (rate_limit_exceeded)",
        ),
        (503, {}, EmbeddingUnavailable, "the embedding endpoint answered 503 (no code)"),
    ],
)
async def test_a_refusal_says_its_status_and_never_the_key(
    status: int, error: dict[str, Any], expected: type[EmbeddingError], text: str
) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", **error}}

    async with answering(body, status=status) as base_url:
        failure = await failure_of(endpoint_at(base_url), ["text"])

    assert type(failure) is expected
    assert str(failure) == text


@pytest.mark.parametrize(
    "body",
    [
        "<html>a proxy's page</html>",
        "",
        [],
        {"data": None},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [3, 4]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"embedding": [3, 4]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [0, 0]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1e400, 0]}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": "AACAPw=="}]},
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
async def test_an_answer_that_is_not_two_vectors_is_invalid(body: object, kind: str) -> None:
    async with answering(body, kind=kind) as base_url:
        failure = await failure_of(endpoint_at(base_url), ["one", "two"])

    assert type(failure) is EmbeddingInvalid


async def test_vectors_are_put_in_the_order_of_their_indexes_and_normalised() -> None:
    body = {"data": [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 4]}]}

    async with answering(body) as base_url, opened(endpoint_at(base_url)) as embedder:
        vectors = await embedder.embed(["one", "two"])

    assert vectors == [[0.6, 0.8], [0.0, 1.0]]


async def test_vectors_without_indexes_are_taken_in_the_order_they_came() -> None:
    body = {"data": [{"embedding": [3, 4]}, {"embedding": [0, 5]}]}

    async with answering(body) as base_url, opened(endpoint_at(base_url)) as embedder:
        vectors = await embedder.embed(["one", "two"])

    assert vectors == [[0.6, 0.8], [0.0, 1.0]]


async def test_an_opening_that_fails_raises_the_same_tree() -> None:
    async with answering({}, status=401) as base_url:
        with pytest.raises(EmbeddingRefused):
            await open_openai_embedder(EmbeddingEndpoint(model="unknown", base_url=base_url))


def test_the_key_and_the_address_are_not_in_the_endpoints_repr() -> None:
    shown = repr(EmbeddingEndpoint(model="m", api_key=KEY, base_url="https://user:pass@models.example/v1"))

    assert KEY not in shown
    assert "pass" not in shown


async def test_long_vectors_keep_their_direction(server: ScriptedOpenAI) -> None:
    endpoint = EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=256)

    async with opened(endpoint) as embedder:
        [vector] = await embedder.embed(["one two three"])

    assert sorted(abs(component) for component in vector)[-3:] == pytest.approx([1 / math.sqrt(3)] * 3)
