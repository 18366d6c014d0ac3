"""Embeddings from any OpenAI-compatible endpoint: the one door of memory to the `openai` SDK."""

import asyncio
import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from openai import (
    APIConnectionError,
    APIStatusError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
    Omit,
    OpenAIError,
    Timeout,
    omit,
)
from pydantic import BaseModel, BeforeValidator, ValidationError

from memory.characters import well_formed
from memory.http_calls import shielded, track_request
from memory.recall.embedders.embedder import (
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingSpace,
    EmbeddingUnavailable,
    unit_vectors,
)
from memory.tokens import tokenizer_for

_OPENAI_URL = "https://api.openai.com/v1"
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""From the OpenAI embeddings guide; other models are asked."""
_REQUEST_TOKENS = 300_000
"""At most so many tokens over all inputs of one request, by the OpenAI API reference; and 2,048 inputs."""
_CHARACTERS_A_TOKEN = 8
"""Running text has 1 to 5. A text of more is cut before its tokens are counted, so that no length is too long."""
_BLANK = "."
"""Sent for a blank text: the API refuses an empty one, and the whole request with it."""
_PROBE = "dimension"
_PAUSE_S = 0.2
"""Before the second try, where the endpoint does not say how long."""
_LONGEST_WAIT_S = 1.0
"""A Retry-After beyond this is not waited for: a question does without, and the indexer comes again."""
_MAY_PASS = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """Where and how to embed. `base_url` None is OpenAI's own.

    `dimension` None takes the model's own: known for OpenAI's models, else asked at the start, which may take
    `opening_s`. A text counts by its first `max_input_tokens` (8,191 to 8,192 for OpenAI's models), counted by the
    model's own tokenizer where it is known. One text, such as a question, is waited for `timeout_s`, a second try
    included, and each more in its request adds `more_s`: there are endpoints that run on a CPU.
    """

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    dimension: int | None = None
    batch_size: int = 128
    max_input_tokens: int = 8191
    timeout_s: float = 4.0
    more_s: float = 0.5
    opening_s: float = 10.0

    def patience_s(self, texts: int) -> float:
        """How long a request with so many texts may take."""
        return self.timeout_s + self.more_s * (texts - 1)


async def open_openai_embedder(
    endpoint: EmbeddingEndpoint, *, last_known: int | None = None
) -> "OpenAIEmbedder":
    """An embedder to be closed by the caller; embeds one word first when the dimension is not known.

    Where the endpoint does not do that now, `last_known` is the dimension that the model had: whoever only wants to
    erase, or can do with words, need not wait. Without it an EmbeddingError is raised, and nothing is left open.
    """
    client = AsyncOpenAI(
        # The SDK reads the environment where it gets None, and refuses to start without a key.
        api_key=endpoint.api_key or "none",
        base_url=endpoint.base_url or _OPENAI_URL,
        max_retries=0,  # it would wait for a Retry-After of a minute
        # `_request` bounds all of it; this bounds a handshake that it has given up (see http_calls).
        timeout=Timeout(
            endpoint.patience_s(endpoint.batch_size), connect=endpoint.opening_s, pool=endpoint.opening_s
        ),
        http_client=DefaultAsyncHttpxClient(event_hooks={"request": [track_request]}),
    )
    dimension = endpoint.dimension or _DIMENSIONS.get(endpoint.model)
    try:
        if dimension is None:
            dimension = await _ask_dimension(client, endpoint, last_known)
    except BaseException:
        await client.close()
        raise
    return OpenAIEmbedder(client, endpoint, dimension)


class OpenAIEmbedder:
    """Embeds over HTTP, batch after batch. No text of its errors holds the key."""

    def __init__(self, client: AsyncOpenAI, endpoint: EmbeddingEndpoint, dimension: int) -> None:
        self._client = client
        self._endpoint = endpoint
        self._identity = _space(endpoint, dimension)

    @property
    def identity(self) -> EmbeddingSpace:
        """The endpoint's model and its dimension; the address is no part of it."""
        return self._identity

    def reads(self, text: str) -> bool:
        """Every text that is not blank: the model's languages are not known to us."""
        return bool(text.strip())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. A model that gives vectors of another size than before raises EmbeddingInvalid."""
        # Beside the event loop: the tokens of long texts are counted, 10 ms for 16,000 Chinese characters.
        sendable = await asyncio.to_thread(_sendable, texts, self._endpoint)
        vectors: list[list[float]] = []
        for batch in plan_requests(sendable, self._endpoint):
            raw = await _request(self._client, self._endpoint, batch)
            vectors += unit_vectors(raw, count=len(batch), space=self._identity)
        return vectors

    async def close(self) -> None:
        """Closes the connections; the embedder cannot be used again."""
        await self._client.close()


def plan_requests(texts: Sequence[str], endpoint: EmbeddingEndpoint) -> Iterator[list[str]]:
    """The texts in order, divided so that no request has too many of them or too many tokens.

    A text never has more tokens than UTF-8 bytes, so nothing needs to be counted exactly.
    """
    batch: list[str] = []
    batch_tokens = 0
    for text in texts:
        tokens = min(len(text.encode()), endpoint.max_input_tokens)
        if batch and (len(batch) >= endpoint.batch_size or batch_tokens + tokens > _REQUEST_TOKENS):
            yield batch
            batch, batch_tokens = [], 0
        batch.append(text)
        batch_tokens += tokens
    if batch:
        yield batch


def _decoded(value: object) -> object:
    """Little-endian float32 in base64, which some servers send whatever they are asked for."""
    if not isinstance(value, str):
        return value
    return np.frombuffer(base64.b64decode(value, validate=True), "<f4").tolist()


class _Item(BaseModel):
    embedding: Annotated[list[float], BeforeValidator(_decoded)]
    index: int | None = None


class _Answer(BaseModel):
    data: list[_Item]


def _space(endpoint: EmbeddingEndpoint, dimension: int) -> EmbeddingSpace:
    return EmbeddingSpace(model=endpoint.model, dimension=dimension, version="1")


async def _ask_dimension(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, last_known: int | None) -> int:
    try:
        raw = await _request(client, replace(endpoint, timeout_s=endpoint.opening_s), [_PROBE])
    except (EmbeddingUnavailable, EmbeddingRefused):
        if last_known is None:
            raise
        return last_known
    dimension = len(raw[0])
    unit_vectors(raw, count=1, space=_space(endpoint, dimension))
    return dimension


def _sendable(texts: Sequence[str], endpoint: EmbeddingEndpoint) -> list[str]:
    limit = endpoint.max_input_tokens
    sendable: list[str] = []
    for whole in texts:
        text = well_formed(whole[: _CHARACTERS_A_TOKEN * limit])
        if len(text.encode()) > limit:
            text = tokenizer_for(endpoint.model).head(text, limit)
        sendable.append(text if text.strip() else _BLANK)
    return sendable


async def _request(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, texts: list[str]) -> list[list[float]]:
    """The vectors as they came, in the order of the texts; what may pass soon is tried once more."""
    patience_s = endpoint.patience_s(len(texts))
    try:
        async with asyncio.timeout(patience_s):
            try:
                return await _try(client, endpoint, texts)
            except EmbeddingUnavailable as failure:
                wait_s = _PAUSE_S if failure.retry_after_s is None else failure.retry_after_s
                if wait_s > _LONGEST_WAIT_S:
                    raise
            await asyncio.sleep(wait_s)
            return await _try(client, endpoint, texts)
    except TimeoutError:
        pass
    raise EmbeddingUnavailable(f"the embedding endpoint did not answer within {patience_s:g} s")


async def _try(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, texts: list[str]) -> list[list[float]]:
    try:
        response = await shielded(
            client.embeddings.with_raw_response.create(
                model=endpoint.model,
                input=texts,
                dimensions=_asked_dimension(endpoint),
                encoding_format="float",  # base64 is smaller, and not every compatible server knows it
            )
        )
        items = _Answer.model_validate_json(response.content).data
        return _in_order(items, count=len(texts), model=endpoint.model)
    except (OpenAIError, ValidationError) as error:
        failure = _failure(error, endpoint)
    # Raised out here, without the cause: a server's own text may repeat the key.
    raise failure


def _asked_dimension(endpoint: EmbeddingEndpoint) -> int | Omit:
    # Only asked for when it is not the model's own: older models and other servers refuse the field.
    if endpoint.dimension is None or endpoint.dimension == _DIMENSIONS.get(endpoint.model):
        return omit
    return endpoint.dimension


def _in_order(items: Sequence[_Item], *, count: int, model: str) -> list[list[float]]:
    if len(items) != count:
        raise EmbeddingInvalid(f"{model} gave {len(items)} vectors for {count} texts")
    if all(item.index is None for item in items):
        return [item.embedding for item in items]
    placed = {item.index: item.embedding for item in items}
    if set(placed) != set(range(count)):
        raise EmbeddingInvalid(f"{model} gave vectors without a clear order")
    return [placed[index] for index in range(count)]


def _failure(error: Exception, endpoint: EmbeddingEndpoint) -> EmbeddingError:
    if isinstance(error, APIConnectionError):
        return EmbeddingUnavailable("the embedding endpoint cannot be reached")
    if not isinstance(error, APIStatusError):
        return EmbeddingInvalid("the embedding endpoint's answer is not a list of vectors")
    status = error.status_code
    code = error.code if error.code and re.fullmatch(r"[a-z_]{1,40}", error.code) else "no code"
    text = f"the embedding endpoint answered {status} ({code})"
    if status >= 500 or (status in _MAY_PASS and code != "insufficient_quota"):
        return EmbeddingUnavailable(text, retry_after_s=_retry_after_s(error))
    if _is_about_dimensions(error, endpoint):
        return EmbeddingRefused(
            f"{text}: {endpoint.model} takes no dimensions={endpoint.dimension}; "
            "unset OPENAI_EMBEDDING_DIMENSIONS, or set another"
        )
    return EmbeddingRefused(text)


def _retry_after_s(error: APIStatusError) -> float | None:
    """Its Retry-After in seconds; a date, which no endpoint that we know sends, is passed over."""
    given = error.response.headers.get("retry-after", "")
    return float(given) if re.fullmatch(r"\d{1,6}(\.\d+)?", given) else None


def _is_about_dimensions(error: APIStatusError, endpoint: EmbeddingEndpoint) -> bool:
    # OpenAI: "This model does not support specifying dimensions." Others speak of the parameter as well.
    is_asked = not isinstance(_asked_dimension(endpoint), Omit)
    return (
        is_asked
        and error.status_code in (400, 422)
        and "dimension" in f"{error.message} {error.body}".lower()
    )
