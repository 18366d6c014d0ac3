"""Embeddings from any OpenAI-compatible endpoint."""

import asyncio
import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, cast

import httpx2
import numpy as np
from openai import APIConnectionError, APIStatusError, OpenAIError, Timeout
from pydantic import BaseModel, BeforeValidator, ValidationError

from memory.causes import with_cause
from memory.characters import one_line, well_formed
from memory.openai_client import open_client
from memory.recall.embedders.embedder import (
    PROBE,
    EmbeddingError,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingSpace,
    EmbeddingUnavailable,
    RefusalSubject,
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
_LARGEST_DIMENSION = 65_536
"""Dimensions of the largest vector that Qdrant stores."""
_OF_REQUEST = {200, 400, 413, 422, 500}
"""Statuses of refusals that another request may avoid. llama.cpp answers 500 to a long text (ggml-org/llama.cpp#12295),
and some gateways answer 200 with an error.
"""
_SIZES = r"\b(batch|lengths?|tokens?|sequence|context (length|size|window)|inputs?|texts|characters)\b"
_LIMITS = r"(exceed|maximum|at most|(less|fewer|larger|longer|greater|more) than|limit|max\b|>)"
_TOO_LARGE = re.compile(
    rf"too (large|long|many|big)|{_SIZES}.{{0,80}}{_LIMITS}|{_LIMITS}.{{0,80}}{_SIZES}",
    re.IGNORECASE | re.DOTALL,
)
"""A refusal that speaks of a size: of the list, or of one text."""
_OPTION = re.compile(
    r"encoding|format|param|field|argument|propert|unsupported|unknown|unrecognized|extra|"
    r"not (supported|allowed|permitted)",
    re.IGNORECASE,
)
"""A refusal that may mean `encoding_format`. SiliconFlow's names no parameter (HKUDS/DeepTutor#652)."""
_FORMAT = "encoding_format"
_NO_VECTORS = "the embedding endpoint's answer is not a list of vectors"
_MESSAGE_KEYS = ("message", "msg", "detail", "error")
_WORDS_AT_MOST = 200
_SMALLEST_BATCH = 8
"""Smallest number of texts that is remembered after a refusal: one long text must not slow down all others."""
_CUTS, _SHORTEST_CUT, _FEWEST_TOKENS = 6, 64, 128
"""Cuts of a text that is too long, the characters of one that is never cut, and the smallest remembered limit."""


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


async def open_openai_embedder(endpoint: EmbeddingEndpoint, *, is_asked: bool = False) -> "OpenAIEmbedder":
    """Open an embedder, which the caller closes. Embeds one word first if the dimension is unknown, or `is_asked`.

    If the endpoint cannot do that now, raises an EmbeddingError and leaves nothing open.
    """
    dimension = None if is_asked else endpoint.dimension or known_dimension(endpoint.model)
    embedder = OpenAIEmbedder(endpoint, _space(endpoint, dimension or 0))
    try:
        if dimension is None:
            await embedder.ask_dimension()
    except BaseException:
        await embedder.close()
        raise
    return embedder


def known_dimension(model: str) -> int | None:
    """Return the dimension of a model of OpenAI's own. An endpoint may have another model under its name."""
    return _DIMENSIONS.get(model)


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
    """Decode little-endian float32 in base64, which some servers always send. llama.cpp sends a list of one vector."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").tolist()
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return cast("object", listed[0] if listed and isinstance(listed[0], list) else value)


class _Item(BaseModel):
    embedding: Annotated[list[float], BeforeValidator(_decode)]
    index: int | None = None


class _Response(BaseModel):
    data: list[_Item]


class OpenAIEmbedder:
    """Embeds over HTTP, batch after batch. Its error messages never contain the key.

    It remembers what the endpoint has refused, and sends that no more.
    """

    def __init__(self, endpoint: EmbeddingEndpoint, identity: EmbeddingSpace) -> None:
        # `_request` limits the whole call.
        timeout = Timeout(endpoint.patience_s(endpoint.batch_size), connect=endpoint.opening_s)
        self.endpoint = endpoint
        self.identity = identity
        """The endpoint's model and its dimension. The address is no part of it."""
        self._client = open_client(api_key=endpoint.api_key, base_url=endpoint.base_url, timeout=timeout)
        # base64 is smaller than floats, but not every compatible server supports it.
        self._options: dict[str, str] = {_FORMAT: "float"}

    async def close(self) -> None:
        """Close the connections. The embedder cannot be used again."""
        await self._client.close()

    def reads(self, text: str) -> bool:
        """Return True for every text that is not blank: we do not know the model's languages."""
        return bool(text.strip())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. Raises EmbeddingInvalid if the model changes the size of its vectors."""
        # In a thread: counting the tokens of 16,000 Chinese characters takes 10 ms.
        prepared = await asyncio.to_thread(_prepare, texts, self.endpoint)
        vectors: list[list[float]] = []
        for batch in plan_requests(prepared, self.endpoint):
            vectors += await self._embed_in_parts(batch)
        return unit_vectors(vectors, count=len(texts), space=self.identity)

    async def ask_dimension(self) -> None:
        """Learn the size of the model's vectors from that of one word."""
        (vector,) = await self._request([PROBE], patience_s=self.endpoint.opening_s)
        self.identity = _space(self.endpoint, len(vector))
        unit_vectors([vector], count=1, space=self.identity)
        if len(vector) > _LARGEST_DIMENSION:
            raise EmbeddingInvalid(f"{self.endpoint.model} gave a vector of {len(vector)} dimensions")

    async def _embed_in_parts(self, texts: list[str]) -> list[list[float]]:
        """Send the texts. If they are too large, send halves of the list, or the beginning of a single text."""
        try:
            return await self._request(texts)
        except EmbeddingRefused as refusal:
            if refusal.subject != "size":
                raise
            if len(texts) == 1:
                return [await self._embed_beginning(texts[0], refusal)]
        half = len(texts) // 2
        vectors = await self._embed_in_parts(texts[:half]) + await self._embed_in_parts(texts[half:])
        size = max(_SMALLEST_BATCH, half)
        self.endpoint = replace(self.endpoint, batch_size=min(size, self.endpoint.batch_size))
        return vectors

    async def _embed_beginning(self, text: str, refusal: EmbeddingRefused) -> list[float]:
        """Halve a text until the endpoint takes it. Later texts are cut before they are sent."""
        for _ in range(_CUTS):
            if len(text) < _SHORTEST_CUT:
                break
            text = text[: len(text) // 2]
            try:
                (vector,) = await self._request([text if text.strip() else _BLANK])
            except EmbeddingRefused as again:
                if again.subject != "size":
                    raise
                continue
            tokens = max(_FEWEST_TOKENS, tokenizer_for(self.endpoint.model).count(text))
            limit = min(tokens, self.endpoint.max_input_tokens)
            self.endpoint = replace(self.endpoint, max_input_tokens=limit)
            return vector
        raise refusal

    async def _request(self, texts: list[str], *, patience_s: float | None = None) -> list[list[float]]:
        """Return the raw vectors in the order of the texts. A transient failure is retried once."""
        patience_s = self.endpoint.patience_s(len(texts)) if patience_s is None else patience_s
        try:
            async with asyncio.timeout(patience_s):
                try:
                    return await self._try(texts)
                except EmbeddingUnavailable as failure:
                    wait_s = _PAUSE_S if failure.retry_after_s is None else failure.retry_after_s
                    if wait_s > _LONGEST_WAIT_S:
                        raise
                await asyncio.sleep(wait_s)
                return await self._try(texts)
        except TimeoutError:
            pass
        raise EmbeddingUnavailable(f"the embedding endpoint did not answer within {patience_s:g} s")

    async def _try(self, texts: list[str]) -> list[list[float]]:
        """Send the texts, and once more without our option if the endpoint may have refused that."""
        try:
            return await self._send(texts, self._options)
        except EmbeddingRefused as refusal:
            if refusal.subject != "option" or not self._options:
                raise
            # NVIDIA demands a kind of input (decolua/9router#1378), which must be the same for vectors to compare.
            options = {"input_type": "query"} if "input_type" in refusal.words else {}
        vectors = await self._send(texts, options)
        self._options = options
        return vectors

    async def _send(self, texts: list[str], options: dict[str, str]) -> list[list[float]]:
        # `embeddings.create` would ask for base64 if we leave the format out.
        body = {"model": self.endpoint.model, "input": texts, **options}
        response: httpx2.Response | None = None
        try:
            response = await self._client.post("/embeddings", body=body, cast_to=httpx2.Response)
            items = _Response.model_validate_json(response.content).data
            return _sort_vectors(items, count=len(texts), model=self.endpoint.model)
        except ValidationError:
            subject = _subject_of(response) if response else ""
            failure = (
                EmbeddingRefused(_NO_VECTORS, subject=subject) if subject else EmbeddingInvalid(_NO_VECTORS)
            )
        except OpenAIError as error:
            failure = _translate_error(error)
            response = error.response if isinstance(error, APIStatusError) else None
        if response is not None:
            failure.words = _own_words(response, self.endpoint.api_key)
        # Raised here, without its cause: the server's text may repeat the key.
        raise failure


def _space(endpoint: EmbeddingEndpoint, dimension: int) -> EmbeddingSpace:
    return EmbeddingSpace(model=endpoint.model, dimension=dimension, version="1")


def _prepare(texts: Sequence[str], endpoint: EmbeddingEndpoint) -> list[str]:
    limit = endpoint.max_input_tokens
    prepared: list[str] = []
    for original in texts:
        text = well_formed(original[: _CHARACTERS_A_TOKEN * limit])
        if len(text.encode()) > limit:
            text = tokenizer_for(endpoint.model).head(text, limit)
        prepared.append(text if text.strip() else _BLANK)
    return prepared


def _sort_vectors(items: Sequence[_Item], *, count: int, model: str) -> list[list[float]]:
    if len(items) != count:
        raise EmbeddingInvalid(f"{model} gave {len(items)} vectors for {count} texts")
    if all(item.index is None for item in items):
        return [item.embedding for item in items]
    placed = {item.index: item.embedding for item in items}
    if set(placed) != set(range(count)):
        raise EmbeddingInvalid(f"{model} gave vectors without a clear order")
    return [placed[index] for index in range(count)]


def _translate_error(error: OpenAIError) -> EmbeddingError:
    if isinstance(error, APIConnectionError):
        return EmbeddingUnavailable(with_cause("the embedding endpoint cannot be reached", error))
    if not isinstance(error, APIStatusError):
        return EmbeddingInvalid(_NO_VECTORS)
    status, code = error.status_code, cast("object", error.code)  # vLLM's code is a number
    code = code if isinstance(code, str) and re.fullmatch(r"[a-z_]{1,40}", code) else "no code"
    text = f"the embedding endpoint answered {status} ({code})"
    subject = _subject_of(error.response)
    if not subject and (status >= 500 or (status in _TRANSIENT and code != "insufficient_quota")):
        return EmbeddingUnavailable(text, retry_after_s=_retry_after_s(error))
    return EmbeddingRefused(text, subject=subject)


def _subject_of(response: httpx2.Response) -> RefusalSubject:
    """Return the part of the request that the endpoint refuses, or "" if another request would not help."""
    status, text = response.status_code, response.text
    if status == 413 or (status in _OF_REQUEST and _TOO_LARGE.search(text)):
        return "size"
    is_of_option = status in _OF_REQUEST - {500} and _OPTION.search(text)
    return "option" if is_of_option or _FORMAT in text else ""


def _own_words(response: httpx2.Response, api_key: str | None) -> str:
    """Return the message in an error of any format, or the whole text, cut and without the key."""
    try:
        found: Any = json.loads(response.content)
    except (ValueError, RecursionError):
        found = response.text
    if isinstance(found, list):  # Gemini's errors
        found = next(iter(cast("list[Any]", found)), "")
    while isinstance(found, dict):
        fields = cast("dict[str, Any]", found)
        found = next((fields[key] for key in _MESSAGE_KEYS if fields.get(key)), response.text)
    words = str(found).replace(api_key, "***") if api_key else str(found)
    return one_line(words, _WORDS_AT_MOST)


def _retry_after_s(error: APIStatusError) -> float | None:
    """Return the Retry-After in seconds. Dates are ignored: no known endpoint sends one."""
    header = error.response.headers.get("retry-after", "")
    return float(header) if re.fullmatch(r"\d{1,6}(\.\d+)?", header) else None
