"""An embedder of a program that uses the library: a function that turns texts into vectors."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

from memory.recall.embedders.embedder import (
    PROBE,
    EmbeddingInvalid,
    EmbeddingSpace,
    EmbeddingUnavailable,
    unit_vectors,
)

Vectors = Sequence[Sequence[float]]
EmbedFunction = Callable[[list[str]], Any]
"""Gets a list of texts. Returns Vectors, an array of them, or an awaitable of either: one for each text, in order."""
_TEXTS_AT_ONCE = 64
_BLANK = "."
"""Stands for a blank text, which many models refuse."""
_LARGEST_DIMENSION = 65_536
"""Dimensions of the largest vector that Qdrant stores."""


class OwnEmbedder:
    """Embeds by a function. A function that is not async runs in a thread, and never twice at the same time.

    Concurrent calls break some tokenizers: huggingface/tokenizers#537.
    """

    def __init__(self, function: EmbedFunction, identity: EmbeddingSpace) -> None:
        self._function = function
        self._identity = identity
        self._in_thread = asyncio.Lock()

    @property
    def identity(self) -> EmbeddingSpace:
        """The name that the program gave, and the dimension that the function's first vector had."""
        return self._identity

    def reads(self, text: str) -> bool:
        """Return True for every text that is not blank: we do not know the model's languages."""
        return bool(text.strip())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. Whatever the function raises is EmbeddingUnavailable, with its cause."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            chosen = texts[start : start + _TEXTS_AT_ONCE]
            found = await self.ask([text if text.strip() else _BLANK for text in chosen])
            vectors += unit_vectors(found, count=len(chosen), space=self._identity)
        return vectors

    async def ask(self, texts: list[str]) -> list[list[float]]:
        """Return the function's vectors as they are. Raises EmbeddingUnavailable and EmbeddingInvalid."""
        try:
            found = await self._call(texts)
        except Exception as error:  # the function is another program's
            name = self._identity.model
            raise EmbeddingUnavailable(f"`embed` ({name}) failed with {type(error).__name__}") from error
        try:
            return [[float(component) for component in vector] for vector in cast("Iterable[Any]", found)]
        except (TypeError, ValueError):
            raise EmbeddingInvalid("`embed` must return a list of vectors, one for each text") from None

    async def _call(self, texts: list[str]) -> object:
        function = self._function
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is async
        ):
            return await cast("Awaitable[object]", function(texts))
        async with self._in_thread:
            found = await asyncio.to_thread(function, texts)
        return await cast("Awaitable[object]", found) if inspect.isawaitable(found) else found


async def open_own_embedder(function: EmbedFunction, *, name: str) -> OwnEmbedder:
    """Return an embedder with this function, which is called once to find the dimension. Raises EmbeddingError."""
    vectors = await OwnEmbedder(function, _space(name, 0)).ask([PROBE])
    dimension = len(vectors[0]) if vectors else 0
    if not 0 < dimension <= _LARGEST_DIMENSION:
        raise EmbeddingInvalid(f"`embed` ({name}) gave a vector of {dimension} dimensions")
    unit_vectors(vectors, count=1, space=_space(name, dimension))
    return OwnEmbedder(function, _space(name, dimension))


def _space(name: str, dimension: int) -> EmbeddingSpace:
    # A prefix, because an endpoint's model of the same name may make other vectors.
    return EmbeddingSpace(model=f"own {name}", dimension=dimension, version="1")
