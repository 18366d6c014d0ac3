"""The index in Qdrant, dense and sparse: on a server and on the embedded one (imports take 1.5 s: import this late)."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as q

from memory.http_calls import shielded, track_request
from memory.recall.qdrant.collection import (
    CollectionGone,
    QdrantCollection,
    RequestTooLarge,
    asking,
    check_completed,
    count_points,
    erase_points,
    list_collections,
)
from memory.recall.qdrant.filters import erasure_filter
from memory.recall.qdrant.points import (
    check_points,
    read_answers,
    score_requests,
    search_requests,
    to_batches,
)
from memory.recall.vector_index import Candidate, VectorErasure, VectorPoint, VectorQuery, check_finite

_CONNECTIONS = 100
_KEPT_S = 3.0
"""How long an idle connection is kept: servers (Qdrant's and ours) close theirs after five seconds."""


@asynccontextmanager
async def open_qdrant(
    url: str, *, api_key: str | None = None, timeout_s: float = 5.0
) -> AsyncGenerator[AsyncQdrantClient]:
    """A client for the Qdrant server at `url` (or our embedded one); connects at first use.

    `timeout_s` bounds each request; the client rounds it up to whole seconds. A URL without a port means
    Qdrant's own, 6333.
    """
    client = AsyncQdrantClient(
        url=url,
        # As a header: given as `api_key` over plain http it warns, and the embedded server is on loopback.
        headers={"api-key": api_key} if api_key else None,
        timeout=max(1, round(timeout_s + 0.499)),
        check_compatibility=False,
        # On loopback the client would connect anew for each request: 1.1 ms of a turn's 8.5 ms of CPU, and 9 ms of 21.
        limits=httpx.Limits(max_connections=_CONNECTIONS, keepalive_expiry=_KEPT_S),
        event_hooks={"request": [track_request]},
    )
    try:
        yield client
    finally:
        await client.close()


class QdrantIndex:
    """VectorIndex in one collection (memory/recall/spaces.py), made at the first write where it is missing.

    Reads make nothing: a collection that is not there holds nothing. Erasing and counting cover all of our
    collections, whatever their space. Raises IndexMismatch when the collection was made for other vectors.
    """

    def __init__(self, client: AsyncQdrantClient, collection: str, *, dimension: int) -> None:
        self._client = client
        self._collection = QdrantCollection(client, collection, dimension)
        self.collection = collection

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex. In batches: a failure leaves those before it in the index, and repeating is harmless."""
        check_points(points)
        for batch in to_batches(points):
            await self._collection.make()
            try:
                await self._write_in_parts(batch)
            except CollectionGone:
                self._collection.forget()
                await self._collection.make()
                await self._write_in_parts(batch)

    async def search(self, query: VectorQuery) -> list[Candidate]:
        """See VectorIndex."""
        requests = search_requests(query)
        check_finite(query.dense, query.sparse)
        if query.limit <= 0 or query.where.sender_ids == frozenset() or query.where.roles == frozenset():
            return []
        return read_answers(query, await self._ask(requests))

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> list[Candidate]:
        """See VectorIndex."""
        wanted = frozenset(sequences)
        requests = score_requests(query, wanted)
        check_finite(query.dense, query.sparse)
        if not wanted:
            return []
        return read_answers(query, await self._ask(requests))

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """See VectorIndex."""
        return await self._erase(erasure_filter(context_id, below_epoch=below_epoch))

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """See VectorIndex."""
        scope = erasure_filter(context_id, epoch=epoch, among=message_ids)
        return await self._erase(scope) if message_ids else VectorErasure(found=0, left=0)

    async def count(self, context_id: str) -> int:
        """See VectorIndex."""
        scope = erasure_filter(context_id)
        names = await list_collections(self._client)
        return sum([await count_points(self._client, name, scope) for name in names])

    async def _write_in_parts(self, batch: list[q.PointStruct]) -> None:
        """In halves where they are too large together: a proxy before the server may take 1 MB, as nginx does."""
        try:
            await self._write(batch)
        except RequestTooLarge:
            if len(batch) == 1:
                raise
            middle = len(batch) // 2
            await self._write_in_parts(batch[:middle])
            await self._write_in_parts(batch[middle:])

    async def _write(self, batch: list[q.PointStruct]) -> None:
        with asking():
            check_completed(await shielded(self._client.upsert(self.collection, batch, wait=True)))

    async def _ask(self, requests: Sequence[q.QueryRequest]) -> list[list[q.ScoredPoint]]:
        """One request to the server; no vector of the query says anything, or no collection: nothing is found."""
        nothing: list[list[q.ScoredPoint]] = [[] for _ in requests]
        if not requests or not await self._collection.find():
            return nothing
        try:
            with asking():
                answers = await shielded(self._client.query_batch_points(self.collection, requests))
        except CollectionGone:
            self._collection.forget()
            if await self._collection.find():
                raise
            return nothing
        return [answer.points for answer in answers]

    async def _erase(self, scope: q.Filter) -> VectorErasure:
        names = await list_collections(self._client)
        erasures = [await erase_points(self._client, name, scope) for name in names]
        return VectorErasure(
            found=sum(each.found for each in erasures), left=sum(each.left for each in erasures)
        )
