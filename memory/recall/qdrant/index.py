"""The index in Qdrant, on a server and on the embedded one. Its imports take 1.5 s: import it late."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from pydantic_core import to_json
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as q
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from memory.errors import IndexMismatch, RecallUnavailable
from memory.recall.qdrant.connection import (
    BadRequest,
    CollectionGone,
    QdrantTransport,
    RequestTooLarge,
    open_connection,
    parse_status,
    refusal,
    unreachable,
)
from memory.recall.qdrant.points import (
    COPIED_AT_ONCE,
    DENSE,
    TERMS,
    Answer,
    Json,
    erasure_filter,
    filter_of_contexts,
    list_contexts,
    list_points,
    messages_filter,
    own_messages,
    parse_answers,
    parse_hits,
    parse_scored,
    read_points,
    score_requests,
    search_requests,
    to_batches,
)
from memory.recall.scored_messages import ScoredMessages
from memory.recall.spaces import COLLECTION_PREFIX
from memory.recall.vector_index import Hit, ListedPoint, VectorErasure, VectorPoint, VectorQuery

_SOMEWHERE = "http://qdrant:6333"
"""Base of qdrant-client's URLs. The connection has the addresses."""
_CONFLICT = 409
_NOT_FOUND = 404
_TOO_MANY = 429
_NO_STRICT_MODE = {400, 404, 405, 422, 501}
"""Statuses of a server without strict mode, such as the embedded one."""
_KEYWORD, _INTEGER, _FLOAT = q.KeywordIndexType.KEYWORD, q.IntegerIndexType.INTEGER, q.FloatIndexType.FLOAT
_PAYLOAD_INDEXES: dict[str, q.KeywordIndexParams | q.IntegerIndexParams | q.FloatIndexParams] = {
    "scope": q.KeywordIndexParams(type=_KEYWORD, is_tenant=True),
    "context": q.KeywordIndexParams(type=_KEYWORD, enable_hnsw=False),
    "epoch": q.IntegerIndexParams(type=_INTEGER, lookup=False, range=True, enable_hnsw=False),
    "sequence": q.IntegerIndexParams(type=_INTEGER, lookup=True, range=True, enable_hnsw=False),
    "sender_id": q.IntegerIndexParams(type=_INTEGER, lookup=True, range=False, enable_hnsw=False),
    "sent_at": q.FloatIndexParams(type=_FLOAT, enable_hnsw=False),
    "role": q.KeywordIndexParams(type=_KEYWORD, enable_hnsw=False),
    "tags": q.KeywordIndexParams(type=_KEYWORD, enable_hnsw=False),
    "slot": q.IntegerIndexParams(type=_INTEGER, lookup=False, range=True, enable_hnsw=False),
}
_TENANT_GRAPHS = q.HnswConfigDiff(m=0, payload_m=16)
"""One graph for each chat that is large enough, and none over all chats, which no search would use.

See https://qdrant.tech/documentation/manage-data/multitenancy/. The embedded server has no graphs.
"""
_VACUUM = q.OptimizersConfigDiff(deleted_threshold=0.05, vacuum_min_vector_number=100)
"""Limits from which Qdrant writes a segment again without its deleted points: a quarter of its own share."""
_STRICT = q.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)


Send = Callable[[str, str, bytes], Awaitable[bytes]]
"""Sends a request by its method, path and JSON body, and returns the JSON of the answer.

Raises RecallUnavailable, for some statuses as CollectionGone or RequestTooLarge.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdrant:
    """A Qdrant server: `send` for the requests of every turn, qdrant-client for all others."""

    client: AsyncQdrantClient
    send: Send
    is_embedded: bool = False
    """True for our own server, whose files have nothing that was erased (memory/embedded/index/server.py)."""


@asynccontextmanager
async def open_qdrant(
    url: str, *, api_key: str | None = None, timeout_s: float = 5.0, is_embedded: bool = False
) -> AsyncGenerator[Qdrant]:
    """Open the Qdrant server at `url`, or our embedded one. Connects at first use.

    The cluster's addresses are separated by commas. `timeout_s` limits each request to one of them.
    """
    async with open_connection(url, api_key=api_key, timeout_s=timeout_s) as connection:
        client = AsyncQdrantClient(
            url=_SOMEWHERE,
            transport=QdrantTransport(connection),
            check_compatibility=False,
            trust_env=False,  # the connection takes proxies from the environment
        )
        try:
            yield Qdrant(client=client, send=connection.send, is_embedded=is_embedded)
        finally:
            await client.close()


class QdrantIndex:
    """VectorIndex in one collection (see spaces.collection_name), which the first write creates.

    Reads create nothing: a missing collection holds nothing. Erasing and counting cover all of our collections.
    Raises IndexMismatch if the collection was made for other vectors.
    """

    def __init__(self, qdrant: Qdrant, collection: str, *, dimension: int) -> None:
        self._send = qdrant.send
        self._client = qdrant.client
        self._collection = QdrantCollection(qdrant.client, collection, dimension)
        self.collection = collection
        self.losses = 0

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex. Writes in batches: a failure leaves the earlier ones in the index, and repeating is
        harmless.
        """
        await self._write_all(to_batches(points))

    async def _write_all(self, batches: Iterable[Sequence[Json]]) -> None:
        for batch in batches:
            if not self._collection.is_open:
                await self._collection.create()
            try:
                await self._write(batch)
            except (CollectionGone, BadRequest) as error:
                self.losses += isinstance(error, CollectionGone)
                self._collection.forget()
                await self._collection.create()
                await self._write(batch)

    async def search(self, query: VectorQuery) -> list[Hit]:
        """See VectorIndex."""
        requests = search_requests(query)
        if query.limit <= 0 or query.where.sender_ids == frozenset() or query.where.roles == frozenset():
            return []
        return parse_hits(query, await self._query(requests))

    async def score(self, query: VectorQuery, sequences: Collection[int]) -> ScoredMessages:
        """See VectorIndex."""
        requests = score_requests(query, frozenset(sequences))
        return parse_scored(query, await self._query(requests) if sequences else [])

    async def erase(self, context_id: str, *, below_epoch: int) -> VectorErasure:
        """See VectorIndex."""
        return await self._erase(erasure_filter(context_id, below_epoch=below_epoch))

    async def drop(self, context_id: str, *, epoch: int, message_ids: Collection[str]) -> VectorErasure:
        """See VectorIndex."""
        scope = erasure_filter(context_id, epoch=epoch, message_ids=message_ids)
        return await self._erase(scope) if message_ids else VectorErasure(before=0, left=0)

    async def drop_keys(self, context_id: str, *, epoch: int, kept: Mapping[str, int]) -> VectorErasure:
        """See VectorIndex."""
        scope = erasure_filter(context_id, epoch=epoch, keys_beyond=kept)
        return await self._erase(scope) if kept else VectorErasure(before=0, left=0)

    async def count(self, context_id: str) -> int:
        """See VectorIndex."""
        scope = erasure_filter(context_id)
        names = await list_collections(self._client)
        return sum([await count_points(self._client, name, scope) for name in names])

    async def count_messages(self, context_id: str, *, epoch: int) -> int:
        """See VectorIndex."""
        scope = q.Filter.model_validate(messages_filter(context_id, epoch))
        if not (self._collection.is_open or await self._collection.is_there()):
            return 0
        return await count_points(self._client, self.collection, scope)

    async def list_points(self, context_id: str) -> Collection[ListedPoint]:
        """See VectorIndex."""
        if not (self._collection.is_open or await self._collection.is_there()):
            return ()
        try:
            return await list_points(self._send, self.collection, context_id)
        except CollectionGone:
            self.losses += 1
            self._collection.forget()
            return ()

    async def copy_from(
        self, collection: str, context_id: str, *, epoch: int, message_ids: Collection[str]
    ) -> Collection[str]:
        """See VectorIndex. A collection that is gone has nothing to copy."""
        copied: dict[str, Json] = {}
        while True:
            try:
                found = await read_points(
                    self._send, collection, context_id, epoch=epoch, message_ids=message_ids
                )
            except CollectionGone:
                found = dict[str, Json]()
            changed = [point for name, point in found.items() if copied.get(name) != point]
            gone = copied.keys() - found.keys()
            if not changed and not gone:
                return own_messages(found.values())
            pages = range(0, len(changed), COPIED_AT_ONCE)
            await self._write_all(changed[start : start + COPIED_AT_ONCE] for start in pages)
            if gone:
                scope = q.Filter(must=[q.HasIdCondition(has_id=[*gone])])
                await erase_points(self._client, self.collection, scope)
            copied = found

    async def _write(self, batch: Sequence[Json]) -> None:
        """Write a batch, in halves if it is too large: a proxy such as nginx may allow only 1 MB."""
        path = f"/collections/{self.collection}/points?wait=true"
        try:
            done = parse_status(await self._send("PUT", path, to_json({"points": batch})))
        except RequestTooLarge:
            if len(batch) == 1:
                raise
            middle = len(batch) // 2
            await self._write(batch[:middle])
            await self._write(batch[middle:])
        else:
            check_completed(done)

    async def _query(self, searches: Sequence[Json]) -> list[Answer]:
        """Send one request. Without a usable vector or a collection there are no answers."""
        if not searches or not (self._collection.is_open or await self._collection.is_there()):
            return []
        path = f"/collections/{self.collection}/points/query/batch"
        try:
            return parse_answers(await self._send("POST", path, to_json({"searches": searches})))
        except (CollectionGone, BadRequest) as error:
            self.losses += isinstance(error, CollectionGone)
            self._collection.forget()
            if await self._collection.is_there():
                raise
            return []

    async def _erase(self, scope: q.Filter) -> VectorErasure:
        names = await list_collections(self._client)
        erasures = [await erase_points(self._client, name, scope) for name in names]
        return VectorErasure(
            before=sum(each.before for each in erasures), left=sum(each.left for each in erasures)
        )


class FormerCollections:
    """All of our collections on a Qdrant server, or on the embedded one. Every method raises RecallUnavailable."""

    def __init__(self, qdrant: Qdrant) -> None:
        self._client = qdrant.client
        self._send = qdrant.send

    async def list_names(self) -> list[str]:
        """Return the names of all our collections, whatever their space."""
        return await list_collections(self._client)

    async def size(self, name: str) -> int | None:
        """Return about how many points the collection has, of all deployments; None if it does not exist."""
        if name not in await list_collections(self._client):
            return None
        return await count_points(self._client, name, None, is_exact=False)

    async def list_contexts(self, name: str) -> Collection[str]:
        """Return the ids of all contexts with a point in the collection, also those of other deployments."""
        return await list_contexts(self._send, name)

    async def delete(self, name: str) -> None:
        """Delete the collection with all its points."""
        with translate_errors(accepted={_NOT_FOUND}):
            await self._client.delete_collection(name)

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """Erase the points of these contexts from this collection. Return how many there were."""
        erasure = await erase_points(self._client, name, filter_of_contexts(context_ids))
        if erasure.left:
            raise RecallUnavailable(f"{erasure.left} points were not erased")
        return erasure.before

    async def delete_if_empty(self, name: str) -> bool:
        """Delete the collection unless points of any context are left. Return True if it is gone.

        Another deployment may use this collection on the same server. Its writes between our count and our deletion
        are lost, so call this only when nothing of ours writes to it.
        """
        if await count_points(self._client, name, None):
            return False
        await self.delete(name)
        return True


class QdrantCollection:
    """One collection: created if it is missing, completed if its creator crashed, checked before its first use.

    The result is remembered until `forget`.
    """

    def __init__(self, client: AsyncQdrantClient, name: str, dimension: int) -> None:
        self._client = client
        self._dimension = dimension
        self.is_open = False
        """True if it exists and was checked."""
        self._opening = asyncio.Lock()
        self.name = name

    async def create(self) -> None:
        """Create the collection if it is missing. Several processes may do so at once. Raises IndexMismatch."""
        if not await self.is_there():
            dense = q.VectorParams(size=self._dimension, distance=q.Distance.COSINE)
            terms = q.SparseVectorParams(modifier=q.Modifier.IDF)
            with translate_errors(accepted={_CONFLICT}):
                await self._client.create_collection(
                    self.name,
                    vectors_config={DENSE: dense},
                    sparse_vectors_config={TERMS: terms},
                    hnsw_config=_TENANT_GRAPHS,
                    optimizers_config=_VACUUM,
                )
            await self.is_there()

    async def is_there(self) -> bool:
        """Return True if it exists, after checking and completing it the first time. Raises IndexMismatch."""
        async with self._opening:
            if self.is_open:
                return True
            if self.name not in await list_collections(self._client):
                return False
            with translate_errors():
                info = await self._client.get_collection(self.name)
            _check_fits(info, self.name, self._dimension)
            await self._complete(info)
            self.is_open = True
            return True

    def forget(self) -> None:
        """Look for the collection again at the next use."""
        self.is_open = False

    async def _complete(self, info: q.CollectionInfo) -> None:
        """Add what is missing, perhaps after a crash of its creator: payload indexes, strict mode, vacuum limits."""
        for field, schema in _PAYLOAD_INDEXES.items():
            if field not in info.payload_schema:
                with translate_errors():
                    await self._client.create_payload_index(self.name, field, schema, wait=True)
        strict = info.config.strict_mode_config
        has_limits = info.config.optimizer_config.deleted_threshold == _VACUUM.deleted_threshold
        if strict is None or not strict.enabled or not has_limits:
            with translate_errors(accepted=_NO_STRICT_MODE):
                await self._client.update_collection(
                    self.name, strict_mode_config=_STRICT, optimizers_config=_VACUUM
                )


async def list_collections(client: AsyncQdrantClient) -> list[str]:
    """Return the names of all of our collections, whatever their space."""
    with translate_errors():
        answer = await client.get_collections()
    return [each.name for each in answer.collections if each.name.startswith(COLLECTION_PREFIX)]


async def count_points(
    client: AsyncQdrantClient, collection: str, scope: q.Filter | None, *, is_exact: bool = True
) -> int:
    """Return the number of points; 0 if another process has deleted the collection meanwhile."""
    try:
        with translate_errors():
            counted = await client.count(collection, count_filter=scope, exact=is_exact)
    except CollectionGone:
        return 0
    return counted.count


async def erase_points(client: AsyncQdrantClient, collection: str, scope: q.Filter) -> VectorErasure:
    """Delete points. Nothing else does. Counts before and after, because a filter without matches also completes."""
    before = await count_points(client, collection, scope)
    if not before:
        return VectorErasure(before=0, left=0)
    try:
        with translate_errors():
            done = await client.delete(collection, q.FilterSelector(filter=scope), wait=True)
            check_completed(done.status)
    except CollectionGone:
        return VectorErasure(before=before, left=0)
    return VectorErasure(before=before, left=await count_points(client, collection, scope))


def check_completed(status: str) -> None:
    """Raise RecallUnavailable if a write was accepted but is not completed."""
    if status != q.UpdateStatus.COMPLETED:
        raise RecallUnavailable(f"the vector index did not finish a write in time ({status})")


@contextmanager
def translate_errors(accepted: Collection[int] = ()) -> Generator[None]:
    """Translate the client's errors, except for `accepted` statuses.

    See `refusal` and `unreachable`.
    """
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in accepted:
            return
        raise refusal(error.status_code or 0, error.reason_phrase) from error
    except ResourceExhaustedResponse as error:
        raise refusal(_TOO_MANY, "Too Many Requests") from error
    except (ApiException, QdrantException) as error:
        raise unreachable(getattr(error, "source", error)) from error


def _check_fits(info: q.CollectionInfo, name: str, dimension: int) -> None:
    vectors = info.config.params.vectors
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if dense is None:
        raise IndexMismatch(f"the collection {name} has no vector named {DENSE}: another program created it")
    if TERMS not in (info.config.params.sparse_vectors or {}):
        raise IndexMismatch(f"the collection {name} has no vector named {TERMS}: another program created it")
    if dense.size != dimension:
        raise IndexMismatch(
            f"the collection {name} holds vectors of {dense.size} dimensions, but the embedder makes "
            f"{dimension}: remove the collection and re-index"
        )
