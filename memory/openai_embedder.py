"""Embeddings from any OpenAI-compatible endpoint: the one door of memory to the `openai` SDK."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit, OpenAIError, omit
from pydantic import BaseModel, ValidationError

from memory.characters import well_formed
from memory.embedding import (
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
"""At most so many tokens over all inputs of one request, by the OpenAI API reference."""
_BLANK = "."
"""Sent for a blank text: the API refuses an empty one, and the whole request with it."""
_PROBE = "dimension"
_TRIES_AGAIN = 2
_MAY_PASS = {408, 409, 429}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """Where and how to embed. `base_url` None is OpenAI's own; `timeout_s` bounds a request with its retries.

    `dimension` None takes the model's own: known for OpenAI's models, else asked at the start. A text longer
    than `max_input_tokens` counts by its beginning.
    """

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    dimension: int | None = None
    batch_size: int = 128
    max_input_tokens: int = 8191
    timeout_s: float = 10.0


async def open_openai_embedder(endpoint: EmbeddingEndpoint) -> "OpenAIEmbedder":
    """An embedder to be closed by the caller; embeds one word first when the dimension is not known.

    Raises an EmbeddingError when that fails; nothing is left open then.
    """
    client = AsyncOpenAI(
        # The SDK reads the environment where it gets None, and refuses to start without a key.
        api_key=endpoint.api_key or "none",
        base_url=endpoint.base_url or _OPENAI_URL,
        max_retries=_TRIES_AGAIN,
        timeout=endpoint.timeout_s,
    )
    dimension = endpoint.dimension or _DIMENSIONS.get(endpoint.model)
    try:
        if dimension is None:
            dimension = len((await _request(client, endpoint, [_PROBE]))[0])
    except BaseException:
        await client.close()
        raise
    return OpenAIEmbedder(client, endpoint, dimension)


class OpenAIEmbedder:
    """Embeds over HTTP, batch after batch. No text of its errors holds the key."""

    def __init__(self, client: AsyncOpenAI, endpoint: EmbeddingEndpoint, dimension: int) -> None:
        self._client = client
        self._endpoint = endpoint
        self._identity = EmbeddingSpace(model=endpoint.model, dimension=dimension, version="1")

    @property
    def identity(self) -> EmbeddingSpace:
        """The endpoint's model and its dimension; the address is no part of it."""
        return self._identity

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`."""
        dimension = self._identity.dimension
        sendable = [_sendable(text, self._endpoint) for text in texts]
        vectors: list[list[float]] = []
        for batch in plan_requests(sendable, self._endpoint):
            raw = await _request(self._client, self._endpoint, batch)
            vectors += unit_vectors(raw, count=len(batch), dimension=dimension)
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


class _Item(BaseModel):
    embedding: list[float]
    index: int | None = None


class _Answer(BaseModel):
    data: list[_Item]


def _sendable(text: str, endpoint: EmbeddingEndpoint) -> str:
    text = well_formed(text)
    if not text.strip():
        return _BLANK
    if len(text.encode()) <= endpoint.max_input_tokens:
        return text
    return tokenizer_for(endpoint.model).head(text, endpoint.max_input_tokens)


async def _request(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, texts: list[str]) -> list[list[float]]:
    try:
        async with asyncio.timeout(endpoint.timeout_s):
            response = await client.embeddings.with_raw_response.create(
                model=endpoint.model,
                input=texts,
                dimensions=_asked_dimension(endpoint),
                encoding_format="float",  # base64 is smaller, and not every compatible server knows it
            )
        return _in_order(_Answer.model_validate_json(response.content).data, count=len(texts))
    except (OpenAIError, TimeoutError, ValidationError) as error:
        failure = _failure(error)
    # Raised out here, without the cause: a server's own text may repeat the key.
    raise failure


def _asked_dimension(endpoint: EmbeddingEndpoint) -> int | Omit:
    # Only asked for when it is not the model's own: older models and other servers refuse the field.
    if endpoint.dimension is None or endpoint.dimension == _DIMENSIONS.get(endpoint.model):
        return omit
    return endpoint.dimension


def _in_order(items: Sequence[_Item], *, count: int) -> list[list[float]]:
    if len(items) != count:
        raise EmbeddingInvalid(f"{len(items)} vectors came for {count} texts")
    if all(item.index is None for item in items):
        return [item.embedding for item in items]
    placed = {item.index: item.embedding for item in items}
    if set(placed) != set(range(count)):
        raise EmbeddingInvalid("the vectors came without a clear order")
    return [placed[index] for index in range(count)]


def _failure(error: Exception) -> EmbeddingError:
    if isinstance(error, TimeoutError):
        return EmbeddingUnavailable("the embedding endpoint did not answer in time")
    if isinstance(error, APIConnectionError):
        return EmbeddingUnavailable("the embedding endpoint cannot be reached")
    if not isinstance(error, APIStatusError):
        return EmbeddingInvalid("the embedding endpoint's answer is not a list of vectors")
    code = error.code if error.code and re.fullmatch(r"[a-z_]{1,40}", error.code) else "no code"
    text = f"the embedding endpoint answered {error.status_code} ({code})"
    has_hope = error.status_code >= 500 or (error.status_code in _MAY_PASS and code != "insufficient_quota")
    return EmbeddingUnavailable(text) if has_hope else EmbeddingRefused(text)
