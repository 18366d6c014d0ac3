"""Points, queries and indexes for the suites of the vector index."""

import warnings
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from qdrant_client import AsyncQdrantClient

from memory.recall.embedders.embedder import EmbeddingSpace
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.qdrant.index import QdrantIndex
from memory.recall.spaces import collection_name
from memory.recall.vector_index import Candidate, VectorPoint, VectorQuery

EAST, NORTH, NORTHEAST = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]
SPACE = EmbeddingSpace(model="test-vector-index", dimension=3, version="1")


def make_index(client: AsyncQdrantClient, space: EmbeddingSpace = SPACE) -> QdrantIndex:
    return QdrantIndex(client, collection_name(space), dimension=space.dimension)


def make_space(*, dimension: int = 3) -> EmbeddingSpace:
    """Return a space, and so a collection, for this test alone."""
    return EmbeddingSpace(model=f"test-{uuid4()}", dimension=dimension, version="1")


def terms(*indices: int, weight: float = 1.0) -> SparseVector:
    return SparseVector(indices=indices, values=tuple(weight for _ in indices))


def make_point(
    context_id: str, message_id: str, dense: list[float] | None = None, **changed: Any
) -> VectorPoint:
    point = VectorPoint(
        context_id=context_id,
        epoch=0,
        message_id=message_id,
        role="user",
        sender_id=None,
        sent_at=1.5,
        sequence=0,
        session=0,
        dense=dense,
        sparse=SparseVector(),
    )
    return replace(point, **changed)


def make_query(context_id: str, **changed: Any) -> VectorQuery:
    query = VectorQuery(context_id=context_id, epoch=0, dense=EAST, sparse=None, limit=10)
    return replace(query, **changed)


def ids(candidates: Iterable[Candidate]) -> set[str]:
    return {each.message_id for each in candidates}


def by_id(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    return {each.message_id: each for each in candidates}


@asynccontextmanager
async def open_local_client() -> AsyncGenerator[AsyncQdrantClient]:
    client = AsyncQdrantClient(":memory:")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Payload indexes have no effect in the local Qdrant")
        warnings.filterwarnings("ignore", message="Local mode performs exact")
        yield client
    await client.close()
