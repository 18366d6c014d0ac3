"""The index in Qdrant, on a server and on the embedded one. Its imports have numpy: import it late."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import msgspec
from pydantic_core import to_json

from memory.errors import IndexMismatch, RecallUnavailable
from memory.recall.qdrant.connection import (
    BadRequest,
    CollectionGone,
    Envelope,
    IndexRefusal,
    RequestTooLarge,
    Send,
    open_connection,
    parse_result,
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

_CONFLICT = 409
_NOT_FOUND = 404
_NO_STRICT_MODE = {400, 404, 405, 422, 501}
"""Statuses of a server without strict mode."""
_OUT_OF_GRAPHS = {"enable_hnsw": False}
_PAYLOAD_INDEXES: dict[str, Json] = {
    "scope": {"type": "keyword", "is_tenant": True},
    "context": {"type": "keyword", **_OUT_OF_GRAPHS},
    "epoch": {"type": "integer", "lookup": False, "range": True, **_OUT_OF_GRAPHS},
    "sequence": {"type": "integer", "lookup": True, "range": True, **_OUT_OF_GRAPHS},
    "sender_id": {"type": "integer", "lookup": True, "range": False, **_OUT_OF_GRAPHS},
    "sent_at": {"type": "float", **_OUT_OF_GRAPHS},
    "role": {"type": "keyword", **_OUT_OF_GRAPHS},
    "tags": {"type": "keyword", **_OUT_OF_GRAPHS},
    "slot": {"type": "integer", "lookup": False, "range": True, **_OUT_OF_GRAPHS},
}
_TENANT_GRAPHS = {"m": 0, "payload_m": 16}
"""One graph for each chat that is large enough, and none over all chats, which no search would use.

See https://qdrant.tech/documentation/manage-data/multitenancy/. The embedded server has no graphs.
"""
_DELETED_SHARE = 0.05
_VACUUM: Json = {"deleted_threshold": _DELETED_SHARE, "vacuum_min_vector_number": 100}
"""Limits from which Qdrant writes a segment again without its deleted points: a quarter of its own share."""
_COMPLETED = "completed"


class _Name(msgspec.Struct):
    name: str


class _Collections(msgspec.Struct):
    collections: list[_Name]


class _Count(msgspec.Struct):
    count: int


class _Write(msgspec.Struct):
    status: str


class _Params(msgspec.Struct):
    vectors: Json | None = None
    sparse_vectors: Json | None = None


class _Optimizers(msgspec.Struct):
    deleted_threshold: float | None = None


class _StrictMode(msgspec.Struct):
    enabled: bool | None = None


class _Config(msgspec.Struct):
    params: _Params
    optimizer_config: _Optimizers
    strict_mode_config: _StrictMode | None = None


class _Info(msgspec.Struct):
    config: _Config
    payload_schema: Json


_COLLECTIONS = msgspec.json.Decoder(Envelope[_Collections])
_COUNT = msgspec.json.Decoder(Envelope[_Count])
_DONE = msgspec.json.Decoder(Envelope[bool])
_WRITE = msgspec.json.Decoder(Envelope[_Write])
_INFO = msgspec.json.Decoder(Envelope[_Info])


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdrant:
    """A Qdrant server."""

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
        yield Qdrant(send=connection.send, is_embedded=is_embedded)


class QdrantIndex:
    """VectorIndex in one collection (see spaces.collection_name), which the first write creates.

    Reads create nothing: a missing collection holds nothing. Erasing and counting cover all of our collections.
    Raises IndexMismatch if the collection was made for other vectors.
    """

    def __init__(self, qdrant: Qdrant, collection: str, *, dimension: int) -> None:
        self._send = qdrant.send
        self._collection = QdrantCollection(qdrant, collection, dimension)
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
        names = await list_collections(self._send)
        return sum([await count_points(self._send, name, scope) for name in names])

    async def count_messages(self, context_id: str, *, epoch: int) -> int:
        """See VectorIndex."""
        scope = messages_filter(context_id, epoch)
        if not (self._collection.is_open or await self._collection.is_there()):
            return 0
        return await count_points(self._send, self.collection, scope)

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
                await erase_points(self._send, self.collection, {"must": [{"has_id": [*gone]}]})
            copied = found

    async def _write(self, batch: Sequence[Json]) -> None:
        """Write a batch, in halves if it is too large: a proxy such as nginx may allow only 1 MB."""
        path = f"/collections/{self.collection}/points?wait=true"
        try:
            answer = await self._send("PUT", path, to_json({"points": batch}))
        except RequestTooLarge:
            if len(batch) == 1:
                raise
            middle = len(batch) // 2
            await self._write(batch[:middle])
            await self._write(batch[middle:])
        else:
            _check_completed(answer)

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

    async def _erase(self, scope: Json) -> VectorErasure:
        names = await list_collections(self._send)
        erasures = [await erase_points(self._send, name, scope) for name in names]
        return VectorErasure(
            before=sum(each.before for each in erasures), left=sum(each.left for each in erasures)
        )


class FormerCollections:
    """All of our collections on a Qdrant server, or on the embedded one. Every method raises RecallUnavailable."""

    def __init__(self, qdrant: Qdrant) -> None:
        self._send = qdrant.send

    async def list_names(self) -> list[str]:
        """Return the names of all our collections, whatever their space."""
        return await list_collections(self._send)

    async def size(self, name: str) -> int | None:
        """Return about how many points the collection has, of all deployments; None if it does not exist."""
        if name not in await list_collections(self._send):
            return None
        return await count_points(self._send, name, None, is_exact=False)

    async def list_contexts(self, name: str) -> Collection[str]:
        """Return the ids of all contexts with a point in the collection, also those of other deployments."""
        return await list_contexts(self._send, name)

    async def delete(self, name: str) -> None:
        """Delete the collection with all its points."""
        with _accepted(_NOT_FOUND):
            parse_result(await self._send("DELETE", f"/collections/{name}", b""), _DONE)

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """Erase the points of these contexts from this collection. Return how many there were."""
        erasure = await erase_points(self._send, name, filter_of_contexts(context_ids))
        if erasure.left:
            raise RecallUnavailable(f"{erasure.left} points were not erased")
        return erasure.before

    async def delete_if_empty(self, name: str) -> bool:
        """Delete the collection unless points of any context are left. Return True if it is gone.

        Another deployment may use this collection on the same server. Its writes between our count and our deletion
        are lost, so call this only when nothing of ours writes to it.
        """
        if await count_points(self._send, name, None):
            return False
        await self.delete(name)
        return True


class QdrantCollection:
    """One collection: created if it is missing, completed if its creator crashed, checked before its first use.

    The result is remembered until `forget`.
    """

    def __init__(self, qdrant: Qdrant, name: str, dimension: int) -> None:
        self._send = qdrant.send
        self._is_embedded = qdrant.is_embedded
        self._path = f"/collections/{name}"
        self._dimension = dimension
        self.is_open = False
        """True if it exists and was checked."""
        self._opening = asyncio.Lock()
        self.name = name

    async def create(self) -> None:
        """Create the collection if it is missing. Several processes may do so at once. Raises IndexMismatch."""
        if not await self.is_there():
            body = {
                "vectors": {DENSE: {"size": self._dimension, "distance": "Cosine"}},
                "sparse_vectors": {TERMS: {"modifier": "idf"}},
                "hnsw_config": _TENANT_GRAPHS,
                "optimizers_config": _VACUUM,
            }
            with _accepted(_CONFLICT):
                parse_result(await self._send("PUT", self._path, to_json(body)), _DONE)
            await self.is_there()

    async def is_there(self) -> bool:
        """Return True if it exists, after checking and completing it the first time. Raises IndexMismatch."""
        async with self._opening:
            if self.is_open:
                return True
            if self.name not in await list_collections(self._send):
                return False
            info = parse_result(await self._send("GET", self._path, b""), _INFO)
            _check_fits(info, self.name, self._dimension)
            await self._complete(info)
            self.is_open = True
            return True

    def forget(self) -> None:
        """Look for the collection again at the next use."""
        self.is_open = False

    async def _complete(self, info: _Info) -> None:
        """Add what is missing, perhaps after a crash of its creator: payload indexes, strict mode, vacuum limits."""
        for field, schema in _PAYLOAD_INDEXES.items():
            if field not in info.payload_schema:
                body = to_json({"field_name": field, "field_schema": schema})
                parse_result(await self._send("PUT", f"{self._path}/index?wait=true", body), _WRITE)
        strict = info.config.strict_mode_config
        has_limits = info.config.optimizer_config.deleted_threshold == _DELETED_SHARE
        if not self._is_embedded and (strict is None or not strict.enabled or not has_limits):
            from memory.recall.qdrant.server_limits import set_limits

            with _accepted(*_NO_STRICT_MODE):
                await set_limits(self._send, self.name, vacuum=_VACUUM)


async def list_collections(send: Send) -> list[str]:
    """Return the names of all of our collections, whatever their space."""
    found = parse_result(await send("GET", "/collections", b""), _COLLECTIONS)
    return [each.name for each in found.collections if each.name.startswith(COLLECTION_PREFIX)]


async def count_points(send: Send, collection: str, scope: Json | None, *, is_exact: bool = True) -> int:
    """Return the number of points; 0 if another process has deleted the collection meanwhile."""
    body = to_json({"filter": scope, "exact": is_exact})
    try:
        return parse_result(await send("POST", f"/collections/{collection}/points/count", body), _COUNT).count
    except CollectionGone:
        return 0


async def erase_points(send: Send, collection: str, scope: Json) -> VectorErasure:
    """Delete points. Nothing else does. Counts before and after, because a filter without matches also completes."""
    before = await count_points(send, collection, scope)
    if not before:
        return VectorErasure(before=0, left=0)
    path = f"/collections/{collection}/points/delete?wait=true"
    try:
        _check_completed(await send("POST", path, to_json({"filter": scope})))
    except CollectionGone:
        return VectorErasure(before=before, left=0)
    return VectorErasure(before=before, left=await count_points(send, collection, scope))


def _check_completed(answer: bytes) -> None:
    """Raise RecallUnavailable if a write was accepted but is not completed."""
    status = parse_result(answer, _WRITE).status
    if status != _COMPLETED:
        raise RecallUnavailable(f"the vector index did not finish a write in time ({status})")


@contextmanager
def _accepted(*statuses: int) -> Generator[None]:
    """Ignore an answer with one of these statuses."""
    try:
        yield
    except IndexRefusal as error:
        if error.status not in statuses:
            raise


def _check_fits(info: _Info, name: str, dimension: int) -> None:
    dense = (info.config.params.vectors or {}).get(DENSE)
    if dense is None:
        raise IndexMismatch(f"the collection {name} has no vector named {DENSE}: another program created it")
    if TERMS not in (info.config.params.sparse_vectors or {}):
        raise IndexMismatch(f"the collection {name} has no vector named {TERMS}: another program created it")
    if (size := dense["size"]) != dimension:
        raise IndexMismatch(
            f"the collection {name} holds vectors of {size} dimensions, but the embedder makes "
            f"{dimension}: remove the collection and re-index"
        )
