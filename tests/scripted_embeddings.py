"""The embeddings of the scripted OpenAI server: deterministic vectors, and every kind of failure."""

import asyncio
import base64
import hashlib
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from simulator.offline_model.wire import rough_tokens
from tests.openai_checker import RequestFault

EmbeddingFailure = Literal[
    "server_error", "rate_limited", "wrong_dimension", "null", "nan", "nan_text", "hang"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """The behaviour of `/v1/embeddings`:

    vectors of `dimension`, `delay_s` before each response, and failures. "nan" sends vectors of NaN,
    "null" and "nan_text" send null and "NaN" in place of numbers. `gate` may return an event that the
    response to these texts waits for. `odd` may return a status and a body to send in place of vectors.
    `same` names words with the meaning of another word.
    """

    dimension: int = 64
    failure: EmbeddingFailure | None = None
    delay_s: float = 0.0
    gate: Callable[[Sequence[str]], asyncio.Event | None] | None = None
    odd: Callable[[Mapping[str, Any]], tuple[int, object] | None] | None = None
    same: Mapping[str, str] = field(default_factory=dict[str, str])

    async def wait(self, body: Mapping[str, Any]) -> None:
        """Return when it is time to answer this request."""
        held = self.gate(cast("list[str]", _inputs(body))) if self.gate else None
        if held is not None:
            await held.wait()
        await asyncio.sleep(self.delay_s)


def vector_of(text: str, dimension: int, same: Mapping[str, str]) -> list[float]:
    """Return a hashed bag of words of length 1.

    Equal texts have equal vectors, texts with shared words near ones.
    """
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(same.get(word, word).encode()).digest()
        sign = 1.0 if digest[8] % 2 else -1.0
        vector[int.from_bytes(digest[:8]) % dimension] += sign
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:
        return [1.0] + [0.0] * (dimension - 1)
    return [value / length for value in vector]


def find_embedding_fault(body: Mapping[str, Any]) -> RequestFault | None:
    """Return the reason why OpenAI would refuse an embeddings request, or None."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        return RequestFault(message="you must provide a model parameter")
    if body.get("encoding_format") not in (None, "float", "base64"):
        return RequestFault(message="Invalid value for 'encoding_format'.", param="encoding_format")
    texts = _inputs(body)
    if not 1 <= len(texts) <= 2048 or not all(isinstance(text, str) and text for text in texts):
        return RequestFault(message="'$.input' is invalid. Please check the API reference.", param="input")
    return None


def embeddings_body(body: Mapping[str, Any], behaviour: Embeddings) -> dict[str, Any]:
    """Return the response to a valid request: one vector per input, in order."""
    texts = cast("list[str]", _inputs(body))
    dimension = int(body.get("dimensions") or behaviour.dimension)
    if behaviour.failure == "wrong_dimension":
        dimension += 1
    vectors = [_encoded(vector_of(text, dimension, behaviour.same), body, behaviour) for text in texts]
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    tokens = sum(rough_tokens(text) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _inputs(body: Mapping[str, Any]) -> Sequence[object]:
    given: object = body.get("input")
    return cast("list[object]", given) if isinstance(given, list) else [given]


def _encoded(vector: Sequence[float], body: Mapping[str, Any], behaviour: Embeddings) -> str | list[Any]:
    if behaviour.failure == "null":
        return [None] * len(vector)
    if behaviour.failure == "nan_text":
        return ["NaN"] * len(vector)
    values = [math.nan] * len(vector) if behaviour.failure == "nan" else list(vector)
    if body.get("encoding_format") == "base64":
        return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")
    return values
