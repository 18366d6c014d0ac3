"""Points, queries and indexes for the suites of the vector index."""

import math
import warnings
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast
from uuid import uuid4
from zlib import crc32

import httpx
from pydantic_core import from_json, to_json
from qdrant_client import AsyncQdrantClient, models

from memory.history.message import Role
from memory.recall.embedders.embedder import EmbeddingSpace
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.qdrant.index import Qdrant, QdrantIndex, Send
from memory.recall.spaces import collection_name
from memory.recall.vector_index import VectorIndex, VectorPoint, VectorQuery
from tests.fakes.vector_index import ScoredMessage

EAST, NORTH, NORTHEAST = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]
SPACE = EmbeddingSpace(model="test-vector-index", dimension=3, version="1")


def make_index(qdrant: Qdrant, space: EmbeddingSpace = SPACE) -> QdrantIndex:
    return QdrantIndex(qdrant, collection_name(space), dimension=space.dimension)


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
        sequence=crc32(message_id.encode()),
        session=0,
        dense=dense,
        sparse=SparseVector(),
    )
    return replace(point, **changed)


def make_query(context_id: str, **changed: Any) -> VectorQuery:
    query = VectorQuery(context_id=context_id, epoch=0, dense=EAST, sparse=None, limit=10)
    return replace(query, **changed)


async def find(index: VectorIndex, query: VectorQuery) -> list[ScoredMessage]:
    """Search, and return the hits as the messages that they are, with the scores of the search."""
    hits = {each.sequence: each for each in await index.search(query)}
    found = await score(index, query, hits)
    assert len(found) == len(hits)
    return [
        replace(each, dense=hits[each.sequence].dense, sparse=hits[each.sequence].sparse) for each in found
    ]


async def score(index: VectorIndex, query: VectorQuery, sequences: Collection[int]) -> list[ScoredMessage]:
    """Return the rows of the scored messages."""
    found = await index.score(query, sequences)
    asked = query.sparse.indices if query.sparse else ()
    return [
        ScoredMessage(
            message_id=found.ids[row],
            sequence=int(found.sequences[row]),
            session=int(found.sessions[row]),
            role=cast("Role", found.roles[row]),
            sender_id=found.sender_ids[row],
            sent_at=float(found.sent_at[row]),
            signs=found.signs[row],
            dense=None if math.isnan(found.dense[row]) else float(found.dense[row]),
            sparse=float(found.sparse[row]),
            terms=frozenset(term for term, has in zip(asked, found.terms[row], strict=True) if has),
        )
        for row in range(len(found))
    ]


def ids(candidates: Iterable[ScoredMessage]) -> set[str]:
    return {each.message_id for each in candidates}


def by_id(candidates: Iterable[ScoredMessage]) -> dict[str, ScoredMessage]:
    return {each.message_id: each for each in candidates}


class _Transport(httpx.AsyncBaseTransport):
    """Sends the requests of qdrant-client as ours are sent."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path, body = request.url.raw_path.decode(), await request.aread()
        return httpx.Response(200, content=await self._send(request.method, path, body))


def client_of(qdrant: Qdrant) -> AsyncQdrantClient:
    """Return qdrant-client on the connection of this server."""
    return AsyncQdrantClient(
        url="http://qdrant:6333",
        transport=_Transport(qdrant.send),
        check_compatibility=False,
        trust_env=False,
    )


@asynccontextmanager
async def open_local_client() -> AsyncGenerator[Qdrant]:
    """Open qdrant-client's own implementation of a server, which parses our requests with its models."""
    client = AsyncQdrantClient(":memory:")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Payload indexes have no effect in the local Qdrant")
        warnings.filterwarnings("ignore", message="Local mode performs exact")
        yield Qdrant(send=partial(_answer_locally, client))
    await client.close()


async def _answer_locally(client: AsyncQdrantClient, method: str, path: str, body: bytes) -> bytes:
    content: Any = from_json(body or b"null")
    match method, path.partition("?")[0].split("/")[2:]:
        case "GET", []:
            result: object = await client.get_collections()
        case "GET", [name]:
            result = await client.get_collection(name)
        case "PUT", [name]:
            made = models.CreateCollection.model_validate(content)
            result = await client.create_collection(
                name, vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors
            )
        case "PATCH", [name]:
            result = await client.update_collection(name)
        case "DELETE", [name]:
            result = await client.delete_collection(name)
        case _, [name, *rest]:
            result = await _answer_of_points(client, name, method, "/".join(rest), content)
        case _:
            raise AssertionError(path)
    return to_json({"result": result})


async def _answer_of_points(
    client: AsyncQdrantClient, name: str, method: str, path: str, content: Any
) -> object:
    match method, path:
        case "PUT", "index":
            index = models.CreateFieldIndex.model_validate(content)
            return await client.create_payload_index(name, index.field_name, index.field_schema)
        case "PUT", "points":
            points = [models.PointStruct.model_validate(each) for each in content["points"]]
            return await client.upsert(name, points, wait=True)
        case "POST", "points/count":
            count = models.CountRequest.model_validate(content)
            return await client.count(name, count.filter, exact=count.exact or False)
        case "POST", "points/delete":
            return await client.delete(name, models.FilterSelector.model_validate(content))
        case "POST", "points/scroll":
            page = models.ScrollRequest.model_validate(content)
            found, following = await client.scroll(
                name,
                scroll_filter=page.filter,
                limit=page.limit or 10,
                offset=page.offset,
                with_payload=True if page.with_payload is None else page.with_payload,
                with_vectors=page.with_vector or False,
            )
            return {"points": found, "next_page_offset": following}
        case _:
            assert (method, path) == ("POST", "points/query/batch")
            searches = [models.QueryRequest.model_validate(each) for each in content["searches"]]
            return await client.query_batch_points(name, searches)
