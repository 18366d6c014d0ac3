"""The contract of an embedder: texts in, unit vectors of one space out."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from memory.errors import RecallUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """Identity of comparable vectors. `version` changes if the same model is used in another way."""

    model: str
    dimension: int
    version: str

    @property
    def collection_slug(self) -> str:
        """A unique name of this space in `a-z0-9-`, at most 70 characters."""
        import hashlib  # the console imports our errors, and OpenSSL would be a twentieth of `mnemogram --help`

        readable = re.sub(r"[^a-z0-9]+", "-", self.model.lower()).strip("-")[:48].rstrip("-")
        exact = f"{self.model}\n{self.dimension}\n{self.version}"
        return f"{readable}-{self.dimension}-{hashlib.sha256(exact.encode()).hexdigest()[:10]}".lstrip("-")


WORDS_ALONE = EmbeddingSpace(model="words-alone", dimension=1, version="1")
"""Space of a process without an embedder. An embedder installed later gets a space of its own, and a re-indexing."""


PROBE = "hello"
"""A text that every working embedder embeds."""


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how similar their meaning is."""

    @property
    def identity(self) -> EmbeddingSpace:
        """The space of this embedder's vectors."""
        ...

    def reads(self, text: str) -> bool:
        """Return True if the vector of this text would carry meaning. Always False for a blank text."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 for each text, in order.

        A text that is too long counts by its beginning. A blank text gets a meaningless vector, so that it does not
        fail a batch: neither index it nor search with it. Raises EmbeddingUnavailable, EmbeddingRefused or
        EmbeddingInvalid for the whole call.
        """
        ...


RefusalSubject = Literal["", "size", "option"]
"""The part of a request that was refused, if another request may avoid it."""


class EmbeddingError(RecallUnavailable):
    """The texts were not embedded.

    `words` is what an endpoint said, which may repeat a text. Show it only where PROBE was embedded.
    """

    words = ""


class EmbeddingUnavailable(EmbeddingError):
    """The embedder cannot answer now. The same call may work later, after `retry_after_s` seconds if it said so."""

    def __init__(self, message: str | None = None, *, retry_after_s: float | None = None) -> None:
        super().__init__(message or "The embedder cannot answer now.")
        self.retry_after_s = retry_after_s


class EmbeddingRefused(EmbeddingError):
    """The embedder will never answer this call: a wrong key, an unknown model, missing files."""

    def __init__(self, message: str | None = None, *, subject: RefusalSubject = "") -> None:
        super().__init__(message)
        self.subject = subject


class EmbeddingInvalid(EmbeddingError):
    """The embedder answered with unusable vectors."""


def unit_vectors(
    vectors: Sequence[Sequence[float]], *, count: int, space: EmbeddingSpace
) -> list[list[float]]:
    """Return the vectors at length 1. Raises EmbeddingInvalid, naming the model, for a wrong number, size or value."""
    if len(vectors) != count:
        raise EmbeddingInvalid(f"{space.model} gave {len(vectors)} vectors for {count} texts")
    return [_unit_vector(vector, space) for vector in vectors]


def _unit_vector(vector: Sequence[float], space: EmbeddingSpace) -> list[float]:
    if len(vector) != space.dimension:
        raise EmbeddingInvalid(
            f"{space.model} gave a vector of {len(vector)} dimensions instead of {space.dimension}"
        )
    length = math.hypot(*vector)
    if not math.isfinite(length) or length == 0:
        raise EmbeddingInvalid(f"{space.model} gave a vector that is zero or not finite")
    return [component / length for component in vector]
