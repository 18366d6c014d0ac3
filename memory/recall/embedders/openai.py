"""Embeddings from any OpenAI-compatible endpoint."""

import asyncio
import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError, Timeout
from pydantic import BaseModel, BeforeValidator, ValidationError

from memory.characters import well_formed
from memory.openai_client import open_client
from memory.recall.embedders.embedder import (
    PROBE,
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingSpace,
    EmbeddingUnavailable,
    unit_vectors,
)
from memory.tokens import tokenizer_for

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""From the OpenAI embeddings guide. Other models are asked."""
_REQUEST_TOKENS = 300_000
"""Limit of tokens over all inputs of a request, by the OpenAI API reference. It also limits inputs to 2,048."""
_CHARACTERS_A_TOKEN = 8
"""Ordinary text has 1 to 5. A longer text is cut before its tokens are counted, so that any length works."""
_BLANK = "."
"""Sent in place of a blank text: the API refuses a request with an empty text in it."""
_PAUSE_S = 0.2
"""Pause before the second try if the endpoint names none."""
_LONGEST_WAIT_S = 1.0
"""Longest Retry-After that is awaited. Beyond it a search goes by words, and the indexer retries later."""
_TRANSIENT = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """Address of an embedding model, and how to call it."""

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    """None is OpenAI's own."""
    dimension: int | None = None
    """Size of the model's vectors; None: known for OpenAI's models, otherwise asked at the start."""
    batch_size: int = 128
    max_input_tokens: int = 8191
    """Tokens of a text that count, by the model's tokenizer if known. OpenAI's models allow 8,191 to 8,192."""
    timeout_s: float = 4.0
    """Time limit for one text, such as a question, with its second try."""
    more_s: float = 0.5
    """Added for each further text of a request: some endpoints run on a CPU."""
    opening_s: float = 10.0
    """Time limit for asking the dimension."""

    def patience_s(self, texts: int) -> float:
        """Return the time limit of a request with this number of texts."""
        return self.timeout_s + self.more_s * (texts - 1)


async def open_openai_embedder(
    endpoint: EmbeddingEndpoint, *, last_dimension: int | None = None
) -> "OpenAIEmbedder":
    """Open an embedder, which the caller closes. Embeds one word first if the dimension is unknown.

    If the endpoint cannot do that now, `last_dimension` is used, so that erasures and searches by words need not
    wait. Without it, raises an EmbeddingError and leaves nothing open.
    """
    # `_request` limits the whole call.
    timeout = Timeout(endpoint.patience_s(endpoint.batch_size), connect=endpoint.opening_s)
    client = open_client(api_key=endpoint.api_key, base_url=endpoint.base_url, timeout=timeout)
    dimension = endpoint.dimension or _DIMENSIONS.get(endpoint.model)
    try:
        if dimension is None:
            dimension = await _ask_dimension(client, endpoint, last_dimension)
    except BaseException:
        await client.close()
        raise
    return OpenAIEmbedder(client, endpoint, dimension)


class OpenAIEmbedder:
    """Embeds over HTTP, batch after batch. Its error messages never contain the key."""

    def __init__(self, client: AsyncOpenAI, endpoint: EmbeddingEndpoint, dimension: int) -> None:
        self._client = client
        self._endpoint = endpoint
        self._identity = _space(endpoint, dimension)

    @property
    def identity(self) -> EmbeddingSpace:
        """The endpoint's model and its dimension. The address is no part of it."""
        return self._identity

    def reads(self, text: str) -> bool:
        """Return True for every text that is not blank: we do not know the model's languages."""
        return bool(text.strip())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. Raises EmbeddingInvalid if the model changes the size of its vectors."""
        # In a thread: counting the tokens of 16,000 Chinese characters takes 10 ms.
        prepared = await asyncio.to_thread(_prepare, texts, self._endpoint)
        vectors: list[list[float]] = []
        for batch in plan_requests(prepared, self._endpoint):
            raw = await _request(self._client, self._endpoint, batch)
            vectors += unit_vectors(raw, count=len(batch), space=self._identity)
        return vectors

    async def close(self) -> None:
        """Close the connections. The embedder cannot be used again."""
        await self._client.close()


def plan_requests(texts: Sequence[str], endpoint: EmbeddingEndpoint) -> Iterator[list[str]]:
    """Split the texts, in order, so that no request has too many of them or too many tokens.

    A text never has more tokens than UTF-8 bytes, so nothing is counted exactly.
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


def _decode(value: object) -> object:
    """Decode little-endian float32 in base64, which some servers always send."""
    if not isinstance(value, str):
        return value
    return np.frombuffer(base64.b64decode(value, validate=True), "<f4").tolist()


class _Item(BaseModel):
    embedding: Annotated[list[float], BeforeValidator(_decode)]
    index: int | None = None


class _Response(BaseModel):
    data: list[_Item]


def _space(endpoint: EmbeddingEndpoint, dimension: int) -> EmbeddingSpace:
    return EmbeddingSpace(model=endpoint.model, dimension=dimension, version="1")


async def _ask_dimension(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, last_dimension: int | None) -> int:
    try:
        raw = await _request(client, replace(endpoint, timeout_s=endpoint.opening_s), [PROBE])
    except (EmbeddingUnavailable, EmbeddingRefused):
        if last_dimension is None:
            raise
        return last_dimension
    dimension = len(raw[0])
    unit_vectors(raw, count=1, space=_space(endpoint, dimension))
    return dimension


def _prepare(texts: Sequence[str], endpoint: EmbeddingEndpoint) -> list[str]:
    limit = endpoint.max_input_tokens
    prepared: list[str] = []
    for original in texts:
        text = well_formed(original[: _CHARACTERS_A_TOKEN * limit])
        if len(text.encode()) > limit:
            text = tokenizer_for(endpoint.model).head(text, limit)
        prepared.append(text if text.strip() else _BLANK)
    return prepared


async def _request(client: AsyncOpenAI, endpoint: EmbeddingEndpoint, texts: list[str]) -> list[list[float]]:
    """Return the raw vectors in the order of the texts. A transient failure is retried once."""
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
        response = await client.embeddings.with_raw_response.create(
            model=endpoint.model,
            input=texts,
            encoding_format="float",  # base64 is smaller, but not every compatible server supports it
        )
        items = _Response.model_validate_json(response.content).data
        return _sort_vectors(items, count=len(texts), model=endpoint.model)
    except (OpenAIError, ValidationError) as error:
        failure = _translate_error(error)
    # Raised here, without its cause: the server's text may repeat the key.
    raise failure


def _sort_vectors(items: Sequence[_Item], *, count: int, model: str) -> list[list[float]]:
    if len(items) != count:
        raise EmbeddingInvalid(f"{model} gave {len(items)} vectors for {count} texts")
    if all(item.index is None for item in items):
        return [item.embedding for item in items]
    placed = {item.index: item.embedding for item in items}
    if set(placed) != set(range(count)):
        raise EmbeddingInvalid(f"{model} gave vectors without a clear order")
    return [placed[index] for index in range(count)]


def _translate_error(error: Exception) -> EmbeddingError:
    if isinstance(error, APIConnectionError):
        return EmbeddingUnavailable("the embedding endpoint cannot be reached")
    if not isinstance(error, APIStatusError):
        return EmbeddingInvalid("the embedding endpoint's answer is not a list of vectors")
    status = error.status_code
    code = error.code if error.code and re.fullmatch(r"[a-z_]{1,40}", error.code) else "no code"
    text = f"the embedding endpoint answered {status} ({code})"
    if status >= 500 or (status in _TRANSIENT and code != "insufficient_quota"):
        return EmbeddingUnavailable(text, retry_after_s=_retry_after_s(error))
    return EmbeddingRefused(text)


def _retry_after_s(error: APIStatusError) -> float | None:
    """Return the Retry-After in seconds. Dates are ignored: no known endpoint sends one."""
    header = error.response.headers.get("retry-after", "")
    return float(header) if re.fullmatch(r"\d{1,6}(\.\d+)?", header) else None
