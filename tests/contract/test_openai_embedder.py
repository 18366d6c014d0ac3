"""The OpenAI-compatible embedder over HTTP: its requests, and every bad response."""

import asyncio
import base64
import json
import math
import socket
import struct
import traceback
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from bot.transport.http_server import serve_http
from chaos.rig.program import until
from memory.recall.embedders.embedder import (
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingUnavailable,
)
from memory.recall.embedders.openai import (
    EmbeddingEndpoint,
    OpenAIEmbedder,
    open_openai_embedder,
    plan_requests,
)
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


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response to every request. A `body` that is neither text nor bytes is sent as JSON."""

    body: object
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self) -> Response:
        content = self.body if isinstance(self.body, str | bytes) else json.dumps(self.body)
        return Response(content, self.status, dict(self.headers), self.kind)


@dataclass(kw_only=True)
class Endpoint:
    """A server with fixed responses, and its requests."""

    base_url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@asynccontextmanager
async def answering(*answers: Answer) -> AsyncGenerator[Endpoint]:
    """Respond with these in turn, then with the last one."""
    endpoint = Endpoint()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        endpoint.asked.append(json.loads(await Request(scope, receive).body()))
        answer = answers[min(len(endpoint.asked), len(answers)) - 1]
        await answer.response()(scope, receive, send)

    async with serve_http(app) as running:
        endpoint.base_url = f"{running.origin}/v1"
        yield endpoint


def vectors(*given: object) -> Answer:
    """Return a response with these vectors."""
    return Answer(body={"data": [{"index": at, "embedding": each} for at, each in enumerate(given)]})


def refusal(status: int, **error: Any) -> Answer:
    """Return a refusal in OpenAI's format. Its text repeats the key, as some servers do."""
    wait = {"retry-after": error.pop("retry_after")} if "retry_after" in error else {}
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", **error}}
    return Answer(body=body, status=status, headers=wait)


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


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


async def test_the_dimension_of_an_unknown_model_takes_one_request(server: ScriptedOpenAI) -> None:
    async with opened(EmbeddingEndpoint(model="scripted", base_url=server.base_url)) as embedder:
        assert embedder.identity.dimension == 8

    assert [request.body["input"] for request in server.embedding_requests] == [["hello"]]


@pytest.mark.parametrize(
    ("model", "dimension"),
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("text-embedding-ada-002", 1536)],
)
async def test_the_dimension_of_a_known_model_takes_no_request(
    server: ScriptedOpenAI, model: str, dimension: int
) -> None:
    async with opened(EmbeddingEndpoint(model=model, base_url=server.base_url)) as embedder:
        assert embedder.identity.dimension == dimension

    assert server.requests == []


async def test_texts_are_sent_in_batches_of_the_configured_size(server: ScriptedOpenAI) -> None:
    endpoint = EmbeddingEndpoint(model="scripted", base_url=server.base_url, dimension=8, batch_size=2)

    async with opened(endpoint) as embedder:
        await embedder.embed(["one", "two", "three", "four", "five"])

    sent = [request.body["input"] for request in server.embedding_requests]
    assert sent == [["one", "two"], ["three", "four"], ["five"]]


def test_no_request_exceeds_the_apis_token_limit() -> None:
    endpoint = EmbeddingEndpoint(model="m", max_input_tokens=8_000)

    batches = list(plan_requests(["x" * 10_000] * 40, endpoint))

    assert [len(batch) for batch in batches] == [37, 3]


async def test_a_long_text_is_cut_to_its_beginning(server: ScriptedOpenAI) -> None:
    endpoint = EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=8, max_input_tokens=10)
    text = "word " * 100

    async with opened(endpoint) as embedder:
        await embedder.embed([text])

    [sent] = server.embedding_requests[0].body["input"]
    assert text.startswith(sent)
    assert tokenizer_for("m").count(sent) == 10


async def test_a_very_long_text_is_cut_before_its_tokens_are_counted(server: ScriptedOpenAI) -> None:
    async with opened(EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=8)) as embedder:
        await embedder.embed([" " * 30_000_000 + "word", "word " * 1_000_000])

    blank, words = server.embedding_requests[0].body["input"]
    assert blank == "."
    assert tokenizer_for("m").count(words) == 8_191


async def test_the_tokens_of_long_texts_are_counted_outside_the_event_loop(server: ScriptedOpenAI) -> None:
    turns = 0
    async with opened(EmbeddingEndpoint(model="m", base_url=server.base_url, dimension=8)) as embedder:
        embedding = asyncio.create_task(embedder.embed(["слово и дело " * 5_000] * 20))
        while not server.embedding_requests and not embedding.done():
            await asyncio.sleep(0)
            turns += 1
        await embedding

    assert turns > 100


@pytest.mark.parametrize("failure", ["server_error", "rate_limited", "hang"])
async def test_a_temporary_failure_means_unavailable(
    server: ScriptedOpenAI, failure: EmbeddingFailure
) -> None:
    server.embeddings = Embeddings(dimension=2, failure=failure)

    error = await failure_of(endpoint_at(server.base_url, timeout_s=0.3), ["text"])

    assert type(error) is EmbeddingUnavailable


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]

        error = await failure_of(endpoint_at(f"http://127.0.0.1:{port}/v1"), ["text"])

    assert type(error) is EmbeddingUnavailable


async def test_a_question_has_a_shorter_timeout_than_a_batch(server: ScriptedOpenAI) -> None:
    server.embeddings = Embeddings(dimension=2, delay_s=0.5)
    endpoint = replace(endpoint_at(server.base_url, timeout_s=0.1), more_s=2.0)

    error = await failure_of(endpoint, ["text"])
    async with opened(endpoint) as embedder:
        batch = await embedder.embed(["one", "two", "three"])

    assert str(error) == "the embedding endpoint did not answer within 0.1 s"
    assert len(batch) == 3
    assert EmbeddingEndpoint(model="m").patience_s(1) == 4
    assert EmbeddingEndpoint(model="m").patience_s(64) == 35.5


@pytest.mark.parametrize(
    "first", [refusal(500), refusal(503), refusal(429), refusal(429, retry_after="0.1"), refusal(408)]
)
async def test_a_short_failure_is_tried_again_once(first: Answer) -> None:
    async with answering(first, vectors([3, 4])) as server, opened(endpoint_at(server.base_url)) as embedder:
        assert await embedder.embed(["text"]) == [[0.6, 0.8]]

    assert len(server.asked) == 2


async def test_a_lasting_failure_is_reported_after_two_tries() -> None:
    async with answering(refusal(500)) as server:
        await failure_of(endpoint_at(server.base_url), ["text"])

    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [("60", 60.0), ("1.5", 1.5), ("Wed, 21 Oct 2099 07:28:00 GMT", None), ("-1", None), ("nan", None)],
)
async def test_a_long_retry_after_is_reported_without_waiting(given: str, told: float | None) -> None:
    async with answering(refusal(429, retry_after=given)) as server:
        error = await failure_of(endpoint_at(server.base_url), ["text"])

    assert isinstance(error, EmbeddingUnavailable)
    assert error.retry_after_s == told
    assert len(server.asked) == (1 if told else 2)


@pytest.mark.parametrize(
    ("answer", "expected", "text"),
    [
        (refusal(400, code=None), EmbeddingRefused, "400 (no code)"),
        (refusal(401, code="invalid_api_key"), EmbeddingRefused, "401 (invalid_api_key)"),
        (refusal(403, code=KEY), EmbeddingRefused, "403 (no code)"),
        (refusal(404), EmbeddingRefused, "404 (no code)"),
        (Answer(body="<html>nginx</html>", status=404, kind="text/html"), EmbeddingRefused, "404 (no code)"),
        (refusal(413), EmbeddingRefused, "413 (no code)"),
        (refusal(429, code="insufficient_quota"), EmbeddingRefused, "429 (insufficient_quota)"),
        (refusal(429, code="rate_limit_exceeded"), EmbeddingUnavailable, "429 (rate_limit_exceeded)"),
        (refusal(503), EmbeddingUnavailable, "503 (no code)"),
    ],
)
async def test_a_refusal_reports_its_status_and_never_the_key(
    answer: Answer, expected: type[EmbeddingError], text: str
) -> None:
    async with answering(answer) as server:
        failure = await failure_of(endpoint_at(server.base_url), ["text"])

    assert type(failure) is expected
    assert str(failure) == f"the embedding endpoint answered {text}"
    assert len(server.asked) == (2 if expected is EmbeddingUnavailable else 1)


@pytest.mark.parametrize("failure", ["wrong_dimension", "null", "nan", "nan_text"])
async def test_unusable_vectors_are_invalid(server: ScriptedOpenAI, failure: EmbeddingFailure) -> None:
    server.embeddings = Embeddings(dimension=8, failure=failure)

    assert type(await failure_of(endpoint_at(server.base_url, dimension=8), ["text"])) is EmbeddingInvalid


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body="<html>a proxy's page</html>"),
        Answer(body="<html>a proxy's page</html>", kind="text/html"),
        Answer(body=""),
        Answer(body=b"\xff\xfe\x00"),
        Answer(body="[" * 100_000),
        Answer(body=[]),
        Answer(body={"data": None}),
        Answer(body={"data": []}),
        vectors([1, 2]),
        vectors([1, 2], [3, 4], [5, 6]),
        vectors([1, 2], []),
        vectors([1, 2], [0, 0]),
        vectors([1, 2], [1e400, 0]),
        vectors([1, 2], [math.nan, 0]),
        vectors([1, 2], packed(1)),
        vectors([1, 2], packed(1, math.nan)),
        vectors([1, 2], "AACA"),
        vectors([1, 2], "not base64"),
        Answer(body={"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [3, 4]}]}),
        Answer(body={"data": [{"index": 0, "embedding": [1, 2]}, {"index": 2, "embedding": [3, 4]}]}),
        Answer(body={"data": [{"index": 0, "embedding": [1, 2]}, {"embedding": [3, 4]}]}),
    ],
)
async def test_a_response_without_two_vectors_is_invalid(answer: Answer) -> None:
    async with answering(answer) as server:
        failure = await failure_of(endpoint_at(server.base_url), ["one", "two"])

    assert type(failure) is EmbeddingInvalid
    assert len(server.asked) == 1


@pytest.mark.parametrize("given", [1, 3])
async def test_a_wrong_number_of_vectors_is_reported_with_the_model(given: int) -> None:
    async with answering(vectors(*[[3, 4]] * given)) as server:
        failure = await failure_of(endpoint_at(server.base_url), ["one", "two"])

    assert str(failure) == f"m gave {given} vectors for 2 texts"


async def test_a_changed_dimension_is_reported_with_the_model_and_both_sizes() -> None:
    async with answering(vectors([3, 4]), vectors([1, 2, 3])) as server:
        failure = await failure_of(replace(endpoint_at(server.base_url), batch_size=1), ["one", "two"])

    assert type(failure) is EmbeddingInvalid
    assert str(failure) == "m gave a vector of 3 dimensions instead of 2"


async def test_vectors_are_sorted_by_their_indexes_and_normalised() -> None:
    shuffled = Answer(body={"data": [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 4]}]})

    async with answering(shuffled) as server, opened(endpoint_at(server.base_url)) as embedder:
        assert await embedder.embed(["one", "two"]) == [[0.6, 0.8], [0.0, 1.0]]


async def test_vectors_without_indexes_keep_their_order() -> None:
    unnumbered = Answer(body={"data": [{"embedding": [3, 4]}, {"embedding": [0, 5]}]})

    async with answering(unnumbered) as server, opened(endpoint_at(server.base_url)) as embedder:
        assert await embedder.embed(["one", "two"]) == [[0.6, 0.8], [0.0, 1.0]]


async def test_vectors_in_base64_are_read() -> None:
    mixed = vectors(packed(3, 4), [0, 5])

    async with answering(mixed) as server, opened(endpoint_at(server.base_url)) as embedder:
        assert await embedder.embed(["one", "two"]) == [[0.6, 0.8], [0.0, 1.0]]

    assert [asked["encoding_format"] for asked in server.asked] == ["float"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (refusal(401), EmbeddingRefused),
        (refusal(500), EmbeddingUnavailable),
        (vectors([]), EmbeddingInvalid),
        (vectors([0, 0]), EmbeddingInvalid),
        (vectors([math.nan]), EmbeddingInvalid),
    ],
)
async def test_a_failed_opening_raises_the_same_errors(
    answer: Answer, expected: type[EmbeddingError]
) -> None:
    async with answering(answer) as server:
        with pytest.raises(expected) as caught:
            await open_openai_embedder(EmbeddingEndpoint(model="m", api_key=KEY, base_url=server.base_url))

    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_an_opening_has_its_own_timeout(server: ScriptedOpenAI) -> None:
    """A local model may have to be loaded first."""
    server.embeddings = Embeddings(dimension=8, delay_s=0.3)
    endpoint = EmbeddingEndpoint(model="m", base_url=server.base_url, timeout_s=0.05)

    async with opened(endpoint) as embedder:
        assert embedder.identity.dimension == 8
    with pytest.raises(EmbeddingUnavailable, match=r"within 0\.1 s"):
        await open_openai_embedder(replace(endpoint, opening_s=0.1))


def test_the_key_and_the_address_are_not_in_the_endpoints_repr() -> None:
    shown = repr(EmbeddingEndpoint(model="m", api_key=KEY, base_url="https://user:pass@models.example/v1"))

    assert KEY not in shown
    assert "pass" not in shown


async def test_long_vectors_keep_their_direction(server: ScriptedOpenAI) -> None:
    server.embeddings = Embeddings(dimension=256)

    async with opened(EmbeddingEndpoint(model="m", base_url=server.base_url)) as embedder:
        [vector] = await embedder.embed(["one two three"])

    assert sorted(abs(component) for component in vector)[-3:] == pytest.approx([1 / math.sqrt(3)] * 3)


async def test_unanswered_handshakes_keep_no_sockets() -> None:
    open_now: set[int] = set()
    opened_once: set[int] = set()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.add(id(writer))
        opened_once.add(id(writer))
        while await reader.read(1_000):
            pass
        open_now.discard(id(writer))
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        endpoint = replace(endpoint_at(url, timeout_s=0.1), opening_s=0.5)
        async with opened(endpoint) as embedder:
            asked = (embedder.embed(["hello"]) for _ in range(20))
            failures = await asyncio.gather(*asked, return_exceptions=True)
            assert all(isinstance(each, EmbeddingUnavailable) for each in failures)
            assert len(opened_once) >= 20
            await until(lambda: not open_now, within_s=10)
