"""Recall: finding old messages of a context by their meaning, and taking them out again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.embedding import Embedder, EmbeddingInvalid, EmbeddingRefused
from memory.errors import MissingContext
from memory.keys import ContextRef
from memory.message import Message, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexItem:
    """A message to make findable, and the epoch of its context in which it was written."""

    ref: ContextRef
    epoch: int
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPoint:
    """What the index keeps of a message: never its text, which lives in Redis alone."""

    context_id: str
    epoch: int
    message_id: str
    role: Role
    sender_id: int | None
    sent_at: float
    vector: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """A search: within one context and one epoch, without the messages that are excluded."""

    context_id: str
    epoch: int
    vector: list[float]
    limit: int
    excluded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHit:
    """A message that was found; a higher score is nearer in meaning (cosine, at most 1)."""

    message_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorErasure:
    """How many vectors an erasure found, and how many reading back found after it."""

    found: int
    left: int


class VectorIndex(Protocol):
    """Vectors of many contexts. Every method raises RecallUnavailable when the index cannot answer now.

    An empty context id raises MissingContext: nothing is read, searched or erased without one.
    """

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """Keep these points; returns when they are searchable. The same message again replaces its point."""
        ...

    async def search(self, query: VectorQuery) -> list[RecallHit]:
        """The nearest messages, best first, each once."""
        ...

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """Erase every vector of the context's epochs before this one."""
        ...

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the vectors of these messages of this epoch."""
        ...

    async def count(self, context_id: str) -> int:
        """How many vectors the context has, over all epochs."""
        ...


class Recall:
    """Semantic search over the messages of one context at a time.

    Every method raises RecallUnavailable when the embedder or the index cannot answer now; the errors of the
    embedder (memory.embedding) are kinds of it.
    """

    def __init__(self, embedder: Embedder, index: VectorIndex) -> None:
        self._embedder = embedder
        self._index = index

    async def search(
        self, ref: ContextRef, epoch: int, text: str, *, k: int, exclude: Collection[str] = frozenset()
    ) -> list[RecallHit]:
        """The `k` messages nearest to `text`, best first; blank text or no k finds nothing.

        A hit may be of a message that was deleted a moment ago: the history is the truth.
        """
        if not ref.context_id:
            raise MissingContext
        if not text.strip() or k <= 0:
            return []
        (vector,) = await self._embedder.embed([text])
        query = VectorQuery(
            context_id=ref.context_id, epoch=epoch, vector=vector, limit=k, excluded=frozenset(exclude)
        )
        return await self._index.search(query)

    async def index(self, items: Sequence[IndexItem]) -> list[IndexItem]:
        """Make messages findable; returns those that are. Repeating is harmless.

        A message that the embedder refuses while it takes others is left out: it must not hold them up.
        """
        if not items:
            return []
        embedded = await self._embed(items)
        await self._index.upsert([_point(item, vector) for item, vector in embedded])
        return [item for item, _ in embedded]

    async def erase(self, ref: ContextRef, *, below_epoch: int) -> VectorErasure:
        """Erase the vectors of every epoch before this one, and read back."""
        return await self._index.erase(ref.context_id, below_epoch=below_epoch)

    async def drop(self, ref: ContextRef, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """Erase the vectors of these messages, and read back."""
        if not message_ids:
            return VectorErasure(found=0, left=0)
        return await self._index.drop(ref.context_id, epoch=epoch, message_ids=message_ids)

    async def count(self, ref: ContextRef) -> int:
        """How many vectors the context has, over all epochs."""
        return await self._index.count(ref.context_id)

    async def _embed(self, items: Sequence[IndexItem]) -> list[tuple[IndexItem, list[float]]]:
        try:
            vectors = await self._embedder.embed([item.message.text for item in items])
        except (EmbeddingInvalid, EmbeddingRefused) as refusal:
            return await self._embed_singly(items, refusal)
        return list(zip(items, vectors, strict=True))

    async def _embed_singly(
        self, items: Sequence[IndexItem], refusal: EmbeddingInvalid | EmbeddingRefused
    ) -> list[tuple[IndexItem, list[float]]]:
        embedded: list[tuple[IndexItem, list[float]]] = []
        for item in items if len(items) > 1 else ():
            try:
                (vector,) = await self._embedder.embed([item.message.text])
            except (EmbeddingInvalid, EmbeddingRefused):
                continue
            embedded.append((item, vector))
        if not embedded:  # not one message's fault: a wrong key, an unknown model
            raise refusal
        return embedded


def _point(item: IndexItem, vector: list[float]) -> VectorPoint:
    message = item.message
    return VectorPoint(
        context_id=item.ref.context_id,
        epoch=item.epoch,
        message_id=message.id,
        role=message.role,
        sender_id=message.sender.id if message.sender else None,
        sent_at=message.sent_at,
        vector=vector,
    )
