"""The vectors in Qdrant: the one door to `qdrant_client`, whose import takes 1.5 s (import this late)."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID, uuid5

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as q
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from memory.embedding import EmbeddingSpace
from memory.errors import IndexMismatch, MissingContext, RecallUnavailable
from memory.recall import RecallHit, VectorErasure, VectorPoint, VectorQuery

COLLECTION_PREFIX = "mnemogram_"
DENSE = "dense"

_NAMESPACE = UUID("0b0f3f4e-6c0c-4f3e-9a55-3c1f5c8e7a21")
_CONNECTIONS = 100
_KEPT_S = 3.0
"""How long an idle connection is kept: servers (Qdrant's and ours) close theirs after five seconds."""
_CONFLICT = 409
_NOT_FOUND = 404
_NO_STRICT_MODE = {400, 404, 405, 422, 501}
"""How a server answers that has no strict mode, such as the embedded one."""

_PAYLOAD_INDEXES: dict[str, q.PayloadSchemaType | q.KeywordIndexParams | q.IntegerIndexParams] = {
    "context": q.KeywordIndexParams(type=q.KeywordIndexType.KEYWORD, is_tenant=True),
    "epoch": q.IntegerIndexParams(type=q.IntegerIndexType.INTEGER, lookup=True, range=True),
    "sent_at": q.PayloadSchemaType.FLOAT,
    "role": q.PayloadSchemaType.KEYWORD,
}
_STRICT = q.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)


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
    )
    try:
        yield client
    finally:
        await client.close()


class QdrantIndex:
    """VectorIndex in one collection, named for the embedder's space; made at first use where it is missing.

    Erasing and counting cover the collections of former embedders too. Raises IndexMismatch when the
    collection was made for vectors of another size.
    """

    def __init__(self, client: AsyncQdrantClient, space: EmbeddingSpace) -> None:
        self._client = client
        self._space = space
        self._is_open = False
        self._opening = asyncio.Lock()
        self.collection = COLLECTION_PREFIX + space.collection_slug

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex."""
        if not points:
            return
        structs = [_to_struct(point) for point in points]
        await self._open()
        with self._asking():
            done = await self._client.upsert(self.collection, structs, wait=True)
        _check_completed(done)

    async def search(self, query: VectorQuery) -> list[RecallHit]:
        """See VectorIndex."""
        scope = _scope(query.context_id, epoch=query.epoch, excluded=query.excluded)
        await self._open()
        with self._asking():
            found = await self._client.query_points(
                self.collection,
                query=query.vector,
                using=DENSE,
                query_filter=scope,  # and into every prefetch: the server does not pass it down
                limit=query.limit,
                with_payload=["message_id"],
            )
        return [
            RecallHit(message_id=str((point.payload or {})["message_id"]), score=point.score)
            for point in found.points
        ]

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """See VectorIndex."""
        return await self._erase(_scope(context_id, below_epoch=below_epoch))

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """See VectorIndex."""
        if not message_ids:
            return VectorErasure(found=0, left=0)
        return await self._erase(_scope(context_id, epoch=epoch, among=message_ids))

    async def count(self, context_id: str) -> int:
        """See VectorIndex."""
        scope = _scope(context_id)
        return sum([await self._count(name, scope) for name in await self._collections()])

    async def _erase(self, scope: q.Filter) -> VectorErasure:
        """The one place that deletes. Counted before and after: a filter that matches nothing also completes."""
        found = left = 0
        for name in await self._collections():
            before = await self._count(name, scope)
            found += before
            if not before:
                continue
            with self._asking():
                done = await self._client.delete(name, q.FilterSelector(filter=scope), wait=True)
            _check_completed(done)
            left += await self._count(name, scope)
        return VectorErasure(found=found, left=left)

    async def _count(self, collection: str, scope: q.Filter) -> int:
        with self._asking():
            counted = await self._client.count(collection, count_filter=scope, exact=True)
        return counted.count

    async def _collections(self) -> list[str]:
        with self._asking():
            kept = await self._client.get_collections()
        return [found.name for found in kept.collections if found.name.startswith(COLLECTION_PREFIX)]

    async def _open(self) -> None:
        """Make the collection where it is missing, once; several processes may do so at the same time."""
        async with self._opening:
            if self._is_open:
                return
            if self.collection not in await self._collections():
                await self._create()
            with self._asking():
                info = await self._client.get_collection(self.collection)
            _check_fits(info, self.collection, self._space)
            await self._complete(info)
            self._is_open = True

    async def _create(self) -> None:
        dense = q.VectorParams(size=self._space.dimension, distance=q.Distance.COSINE)
        with self._asking(accepted={_CONFLICT}):
            await self._client.create_collection(self.collection, vectors_config={DENSE: dense})

    async def _complete(self, info: q.CollectionInfo) -> None:
        """Whatever the collection lacks, also where its maker died before it was done."""
        for field, schema in _PAYLOAD_INDEXES.items():
            if field not in info.payload_schema:
                with self._asking():
                    await self._client.create_payload_index(self.collection, field, schema, wait=True)
        strict = info.config.strict_mode_config
        if strict is None or not strict.enabled:
            with self._asking(accepted=_NO_STRICT_MODE):
                await self._client.update_collection(self.collection, strict_mode_config=_STRICT)

    @contextmanager
    def _asking(self, accepted: Collection[int] = ()) -> Generator[None]:
        """Our word for the client's failures; a collection that is gone is made again at the next use."""
        try:
            yield
        except UnexpectedResponse as error:
            if error.status_code in accepted:
                return
            if error.status_code == _NOT_FOUND:
                self._is_open = False
            raise _unavailable(error) from error
        except (ApiException, QdrantException) as error:
            raise _unavailable(error) from error


def point_id(context_id: str, message_id: str) -> str:
    """The id of a message's point: always the same, so that indexing twice is harmless."""
    return str(uuid5(_NAMESPACE, f"{context_id}\x1f{message_id}"))


def _to_struct(point: VectorPoint) -> q.PointStruct:
    if not point.context_id:
        raise MissingContext
    payload = {
        "context": point.context_id,
        "epoch": point.epoch,
        "message_id": point.message_id,
        "role": point.role,
        "sender_id": point.sender_id,
        "sent_at": point.sent_at,
    }
    return q.PointStruct(
        id=point_id(point.context_id, point.message_id), vector={DENSE: point.vector}, payload=payload
    )


def _scope(
    context_id: str,
    *,
    epoch: int | None = None,
    below_epoch: int | None = None,
    among: Collection[str] | None = None,
    excluded: Collection[str] = (),
) -> q.Filter:
    """The one place where filters are built: never without a context, the epoch always an integer."""
    if not context_id:
        raise MissingContext
    must: list[q.Condition] = [q.FieldCondition(key="context", match=q.MatchValue(value=context_id))]
    if epoch is not None:
        must.append(q.FieldCondition(key="epoch", match=q.MatchValue(value=epoch)))
    if below_epoch is not None:
        must.append(q.FieldCondition(key="epoch", range=q.Range(lt=below_epoch)))
    if among is not None:
        must.append(q.HasIdCondition(has_id=[point_id(context_id, message) for message in among]))
    without: list[q.Condition] = (
        [q.HasIdCondition(has_id=[point_id(context_id, message) for message in excluded])] if excluded else []
    )
    return q.Filter(must=must, must_not=without or None)


def _check_fits(info: q.CollectionInfo, name: str, space: EmbeddingSpace) -> None:
    vectors = info.config.params.vectors
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if dense is None:
        raise IndexMismatch(f"the collection {name} has no vector named {DENSE}: it was not made by us")
    if dense.size != space.dimension:
        raise IndexMismatch(
            f"the collection {name} holds vectors of {dense.size} dimensions, but {space.model} makes "
            f"{space.dimension}: remove the collection and re-index"
        )


def _check_completed(done: q.UpdateResult) -> None:
    if done.status != q.UpdateStatus.COMPLETED:
        raise RecallUnavailable(f"the vector index did not finish a write in time ({done.status})")


def _unavailable(error: Exception) -> RecallUnavailable:
    """Neither URL nor key goes in, and no body: the cause has them."""
    if isinstance(error, UnexpectedResponse):
        return RecallUnavailable(
            f"the vector index answered {error.status_code} {error.reason_phrase}".rstrip()
        )
    cause = getattr(error, "source", error)
    return RecallUnavailable(f"the vector index cannot be reached ({type(cause).__name__})")
