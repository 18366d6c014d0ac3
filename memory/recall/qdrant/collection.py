"""One collection of a Qdrant server: made where it is missing, completed where its maker died, checked before use."""

import asyncio
from collections.abc import Collection, Generator
from contextlib import contextmanager

from qdrant_client import AsyncQdrantClient
from qdrant_client import models as q
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from memory.errors import IndexMismatch, RecallUnavailable
from memory.http_calls import shielded
from memory.recall.qdrant.points import DENSE, TERMS
from memory.recall.spaces import COLLECTION_PREFIX
from memory.recall.vector_index import VectorErasure

_CONFLICT = 409
_NOT_FOUND = 404
_TOO_LARGE = 413
_NO_STRICT_MODE = {400, 404, 405, 422, 501}
"""How a server answers that has no strict mode, such as the embedded one."""

_KEYWORD, _INTEGER, _FLOAT = q.KeywordIndexType.KEYWORD, q.IntegerIndexType.INTEGER, q.FloatIndexType.FLOAT
_PAYLOAD_INDEXES: dict[str, q.KeywordIndexParams | q.IntegerIndexParams | q.FloatIndexParams] = {
    "scope": q.KeywordIndexParams(type=_KEYWORD, is_tenant=True),
    "context": q.KeywordIndexParams(type=_KEYWORD, enable_hnsw=False),
    "epoch": q.IntegerIndexParams(type=_INTEGER, lookup=False, range=True, enable_hnsw=False),
    "sequence": q.IntegerIndexParams(type=_INTEGER, lookup=True, range=True, enable_hnsw=False),
    "sender_id": q.IntegerIndexParams(type=_INTEGER, lookup=True, range=False, enable_hnsw=False),
    "sent_at": q.FloatIndexParams(type=_FLOAT, enable_hnsw=False),
    "role": q.KeywordIndexParams(type=_KEYWORD, enable_hnsw=False),
}
_GRAPH_OF_EACH_TENANT = q.HnswConfigDiff(m=0, payload_m=16)
"""No graph over all chats, which no search uses: one for each chat that is large enough to need it
(https://qdrant.tech/documentation/manage-data/multitenancy/). The embedded server has none at all.
"""
_STRICT = q.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)


class CollectionGone(RecallUnavailable):
    """The collection does not exist."""


class RequestTooLarge(RecallUnavailable):
    """The server, or a proxy before it, takes no request of that size."""


class QdrantCollection:
    """A collection by its name; what was found of it is remembered until `forget`."""

    def __init__(self, client: AsyncQdrantClient, name: str, dimension: int) -> None:
        self._client = client
        self._dimension = dimension
        self._is_open = False
        self._opening = asyncio.Lock()
        self.name = name

    async def make(self) -> None:
        """Make it where it is missing; several processes may do so at the same time. Raises IndexMismatch."""
        if not await self.find():
            dense = q.VectorParams(size=self._dimension, distance=q.Distance.COSINE)
            terms = q.SparseVectorParams(modifier=q.Modifier.IDF)
            with asking(accepted={_CONFLICT}):
                await shielded(
                    self._client.create_collection(
                        self.name,
                        vectors_config={DENSE: dense},
                        sparse_vectors_config={TERMS: terms},
                        hnsw_config=_GRAPH_OF_EACH_TENANT,
                    )
                )
            await self.find()

    async def find(self) -> bool:
        """Is it there? Checked and completed the first time. Raises IndexMismatch."""
        async with self._opening:
            if self._is_open:
                return True
            if self.name not in await list_collections(self._client):
                return False
            with asking():
                info = await shielded(self._client.get_collection(self.name))
            _check_fits(info, self.name, self._dimension)
            await self._complete(info)
            self._is_open = True
            return True

    def forget(self) -> None:
        """Look for it anew at the next use."""
        self._is_open = False

    async def _complete(self, info: q.CollectionInfo) -> None:
        """Whatever the collection lacks, also where its maker died before it was done."""
        for field, schema in _PAYLOAD_INDEXES.items():
            if field not in info.payload_schema:
                with asking():
                    await shielded(self._client.create_payload_index(self.name, field, schema, wait=True))
        strict = info.config.strict_mode_config
        if strict is None or not strict.enabled:
            with asking(accepted=_NO_STRICT_MODE):
                await shielded(self._client.update_collection(self.name, strict_mode_config=_STRICT))


async def list_collections(client: AsyncQdrantClient) -> list[str]:
    """The names of all of our collections, whatever their space."""
    with asking():
        kept = await shielded(client.get_collections())
    return [found.name for found in kept.collections if found.name.startswith(COLLECTION_PREFIX)]


async def count_points(client: AsyncQdrantClient, collection: str, scope: q.Filter | None) -> int:
    """How many there are. Another process may have deleted the collection meanwhile: then it has none."""
    try:
        with asking():
            counted = await shielded(client.count(collection, count_filter=scope, exact=True))
    except CollectionGone:
        return 0
    return counted.count


async def erase_points(client: AsyncQdrantClient, collection: str, scope: q.Filter) -> VectorErasure:
    """The one place that deletes points. Counted before and after: a filter that matches nothing also completes."""
    found = await count_points(client, collection, scope)
    if not found:
        return VectorErasure(found=0, left=0)
    try:
        with asking():
            check_completed(
                await shielded(client.delete(collection, q.FilterSelector(filter=scope), wait=True))
            )
    except CollectionGone:
        return VectorErasure(found=found, left=0)
    return VectorErasure(found=found, left=await count_points(client, collection, scope))


async def delete_if_empty(client: AsyncQdrantClient, collection: str) -> bool:
    """Delete the collection unless points are left in it, of whatever context; is it gone?

    Another deployment may use a collection of this name on the same server. What it writes between our count and
    our deletion is lost: so retire a collection only when nothing of ours writes to it any more.
    """
    if await count_points(client, collection, None):
        return False
    with asking(accepted={_NOT_FOUND}):
        await shielded(client.delete_collection(collection))
    return True


def check_completed(done: q.UpdateResult) -> None:
    """Raises RecallUnavailable where a write was taken and is not done yet."""
    if done.status != q.UpdateStatus.COMPLETED:
        raise RecallUnavailable(f"the vector index did not finish a write in time ({done.status})")


@contextmanager
def asking(accepted: Collection[int] = ()) -> Generator[None]:
    """Our word for the client's failures, but for the statuses that are accepted: CollectionGone for a 404,
    RequestTooLarge for a 413.
    """
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in accepted:
            return
        if error.status_code == _NOT_FOUND:
            raise CollectionGone(_said(error)) from error
        if error.status_code == _TOO_LARGE:
            raise RequestTooLarge(_said(error)) from error
        raise RecallUnavailable(_said(error)) from error
    except (ApiException, QdrantException) as error:
        cause = getattr(error, "source", error)
        raise RecallUnavailable(f"the vector index cannot be reached ({type(cause).__name__})") from error


def _said(error: UnexpectedResponse) -> str:
    """Neither URL nor key goes in, and no body: the cause has them."""
    return f"the vector index answered {error.status_code} {error.reason_phrase}".rstrip()


def _check_fits(info: q.CollectionInfo, name: str, dimension: int) -> None:
    vectors = info.config.params.vectors
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if dense is None:
        raise IndexMismatch(f"the collection {name} has no vector named {DENSE}: it was not made by us")
    if TERMS not in (info.config.params.sparse_vectors or {}):
        raise IndexMismatch(f"the collection {name} has no vector named {TERMS}: it was not made by us")
    if dense.size != dimension:
        raise IndexMismatch(
            f"the collection {name} holds vectors of {dense.size} dimensions, but the embedder makes "
            f"{dimension}: remove the collection and re-index"
        )
