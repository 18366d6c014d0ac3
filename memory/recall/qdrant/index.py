"""The index in Qdrant, on a server and on the embedded one."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from pydantic_core import to_json

from memory.errors import IndexMismatch, RecallUnavailable
from memory.http_calls import open_session
from memory.recall.qdrant.points import (
    DENSE,
    TERMS,
    Answer,
    CollectionInfo,
    Json,
    ListedCollections,
    PointCount,
    WriteResult,
    erasure_filter,
    filter_of_contexts,
    messages_filter,
    parse_answers,
    parse_hits,
    parse_result,
    parse_scored,
    score_requests,
    search_requests,
    to_batches,
)
from memory.recall.scored_messages import ScoredMessages
from memory.recall.spaces import COLLECTION_PREFIX
from memory.recall.vector_index import Hit, VectorErasure, VectorPoint, VectorQuery

_CONNECTIONS = 100
_KEEP_ALIVE_S = 3.0
"""Lifetime of an idle connection. Qdrant's server and ours close theirs after five seconds."""
_PORT = 6333
_OK = 200
_CONFLICT = 409
_NOT_FOUND = 404
_TOO_LARGE = 413
_NO_STRICT_MODE = {400, 404, 405, 422, 501}
"""Statuses of a server without strict mode, such as the embedded one."""
_PAYLOAD_INDEXES: Mapping[str, Json] = {
    "scope": {"type": "keyword", "is_tenant": True},
    "context": {"type": "keyword", "enable_hnsw": False},
    "epoch": {"type": "integer", "lookup": False, "range": True, "enable_hnsw": False},
    "sequence": {"type": "integer", "lookup": True, "range": True, "enable_hnsw": False},
    "sender_id": {"type": "integer", "lookup": True, "range": False, "enable_hnsw": False},
    "sent_at": {"type": "float", "enable_hnsw": False},
    "role": {"type": "keyword", "enable_hnsw": False},
    "slot": {"type": "integer", "lookup": False, "range": True, "enable_hnsw": False},
}
_TENANT_GRAPHS = {"m": 0, "payload_m": 16}
"""One graph for each chat that is large enough, and none over all chats, which no search would use.

See https://qdrant.tech/documentation/manage-data/multitenancy/. The embedded server has no graphs.
"""
_STRICT = {"enabled": True, "unindexed_filtering_retrieve": False, "unindexed_filtering_update": False}

Send = Callable[[str, str, bytes], Awaitable[bytes]]
"""Sends a request by its method, path and JSON body, and returns the JSON of the response.

Raises RecallUnavailable, as an IndexRefusal if the server refuses the request.
"""


class IndexRefusal(RecallUnavailable):
    """The server refused a request. The message is without URL, key and body."""

    def __init__(self, status: int, reason: str | None) -> None:
        super().__init__(f"the vector index answered {status} {reason or ''}".rstrip())
        self.status = status


class CollectionGone(IndexRefusal):
    """The collection does not exist."""


class RequestTooLarge(IndexRefusal):
    """The server, or a proxy before it, does not accept a request of that size."""


@asynccontextmanager
async def open_qdrant(
    url: str, *, api_key: str | None = None, timeout_s: float = 5.0
) -> AsyncGenerator["Qdrant"]:
    """Open the Qdrant server at `url`, or our embedded one. Connects at first use.

    `timeout_s` limits each request. A URL without a port means 6333.
    """
    parts = urlsplit(url)
    host = parts.netloc if parts.port else f"{parts.netloc}:{_PORT}"
    origin = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
    async with open_session(
        url,
        connections=_CONNECTIONS,
        timeout=aiohttp.ClientTimeout(total=timeout_s),
        headers={"content-type": "application/json", **({"api-key": api_key} if api_key else {})},
        keep_alive_s=_KEEP_ALIVE_S,
    ) as session:
        yield Qdrant(send=_Sender(session, origin).send)


@dataclass(frozen=True, slots=True)
class _Sender:
    """Sends requests to the server at `origin`."""

    session: aiohttp.ClientSession
    origin: str

    async def send(self, method: str, path: str, body: bytes) -> bytes:
        """See Send."""
        url = self.origin + path
        try:
            async with self.session.request(method, url, data=body, allow_redirects=False) as response:
                content = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise RecallUnavailable(f"the vector index cannot be reached ({type(error).__name__})") from error
        if response.status != _OK:
            kind = {_NOT_FOUND: CollectionGone, _TOO_LARGE: RequestTooLarge}.get(
                response.status, IndexRefusal
            )
            raise kind(response.status, response.reason)
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdrant:
    """A Qdrant server, or the embedded one, with all of our collections. Every method raises RecallUnavailable."""

    send: Send

    async def list_names(self) -> list[str]:
        """Return the names of all of our collections, whatever their space."""
        answer = parse_result(await self.send("GET", "/collections", b""), ListedCollections)
        return [each.name for each in answer.collections if each.name.startswith(COLLECTION_PREFIX)]

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """Erase the points of these contexts from this collection. Return how many there were."""
        erasure = await self.erase(name, filter_of_contexts(context_ids))
        if erasure.left:
            raise RecallUnavailable(f"{erasure.left} points were not erased")
        return erasure.before

    async def delete_if_empty(self, name: str) -> bool:
        """Delete the collection unless it has points of any context. Return True if it is gone.

        Another deployment may use this collection on the same server. Its writes between our count and our deletion
        are lost, so call this only when nothing of ours writes to it.
        """
        if await self.count(name, None):
            return False
        with suppress(CollectionGone):
            await self.send("DELETE", f"/collections/{name}", b"")
        return True

    async def count(self, name: str, scope: Json | None) -> int:
        """Return the number of points; 0 if another process has deleted the collection meanwhile."""
        body = to_json({"filter": scope, "exact": True})
        try:
            content = await self.send("POST", f"/collections/{name}/points/count", body)
        except CollectionGone:
            return 0
        return parse_result(content, PointCount).count

    async def erase(self, name: str, scope: Json) -> VectorErasure:
        """Delete points. Nothing else does.

        Counts before and after, because a filter without matches also completes.
        """
        before = await self.count(name, scope)
        if not before:
            return VectorErasure(before=0, left=0)
        path = f"/collections/{name}/points/delete?wait=true"
        try:
            check_completed(await self.send("POST", path, to_json({"filter": scope})))
        except CollectionGone:
            return VectorErasure(before=before, left=0)
        return VectorErasure(before=before, left=await self.count(name, scope))

    async def change(self, method: str, path: str, body: Json, *, accepted: Collection[int] = ()) -> None:
        """Send a change. A refusal with an `accepted` status is no error."""
        try:
            await self.send(method, path, to_json(body))
        except IndexRefusal as refusal:
            if refusal.status not in accepted:
                raise


class QdrantIndex:
    """VectorIndex in one collection (see spaces.collection_name), which the first write creates.

    Reads create nothing: a missing collection holds nothing. Erasing and counting cover all of our collections.
    Raises IndexMismatch if the collection was made for other vectors.
    """

    def __init__(self, qdrant: Qdrant, collection: str, *, dimension: int) -> None:
        self._qdrant = qdrant
        self._path = f"/collections/{collection}"
        self._dimension = dimension
        self._opening = asyncio.Lock()
        self._is_open = False
        """True if the collection exists and was checked; False to look for it again at the next use."""
        self.collection = collection

    async def upsert(self, points: Sequence[VectorPoint]) -> None:
        """See VectorIndex. Writes in batches: a failure leaves the earlier ones in the index, and repeating is
        harmless.
        """
        for batch in to_batches(points):
            await self._create()
            try:
                await self._write(batch)
            except CollectionGone:
                self._is_open = False
                await self._create()
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
        names = await self._qdrant.list_names()
        return sum([await self._qdrant.count(name, scope) for name in names])

    async def count_messages(self, context_id: str, *, epoch: int) -> int:
        """See VectorIndex."""
        scope = messages_filter(context_id, epoch)
        return await self._qdrant.count(self.collection, scope) if await self._is_there() else 0

    async def _write(self, batch: Sequence[Json]) -> None:
        """Write a batch, in halves if it is too large: a proxy such as nginx may allow only 1 MB."""
        path = f"{self._path}/points?wait=true"
        try:
            done = await self._qdrant.send("PUT", path, to_json({"points": batch}))
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
        if not searches or not await self._is_there():
            return []
        path = f"{self._path}/points/query/batch"
        try:
            return parse_answers(await self._qdrant.send("POST", path, to_json({"searches": searches})))
        except CollectionGone:
            self._is_open = False
            if await self._is_there():
                raise
            return []

    async def _erase(self, scope: Json) -> VectorErasure:
        names = await self._qdrant.list_names()
        erasures = [await self._qdrant.erase(name, scope) for name in names]
        return VectorErasure(
            before=sum(each.before for each in erasures), left=sum(each.left for each in erasures)
        )

    async def _create(self) -> None:
        """Create the collection if it is missing. Several processes may do so at once. Raises IndexMismatch."""
        if not await self._is_there():
            settings = {
                "vectors": {DENSE: {"size": self._dimension, "distance": "Cosine"}},
                "sparse_vectors": {TERMS: {"modifier": "idf"}},
                "hnsw_config": _TENANT_GRAPHS,
            }
            await self._qdrant.change("PUT", self._path, settings, accepted={_CONFLICT})
            await self._is_there()

    async def _is_there(self) -> bool:
        """Return True if it exists, after checking and completing it the first time. Raises IndexMismatch."""
        async with self._opening:
            if self._is_open:
                return True
            if self.collection not in await self._qdrant.list_names():
                return False
            info = parse_result(await self._qdrant.send("GET", self._path, b""), CollectionInfo)
            _check_fits(info, self.collection, self._dimension)
            await self._complete(info)
            self._is_open = True
            return True

    async def _complete(self, info: CollectionInfo) -> None:
        """Add missing payload indexes and strict mode, for instance after a crash of its creator."""
        for field, schema in _PAYLOAD_INDEXES.items():
            if field not in info.payload_schema:
                index = {"field_name": field, "field_schema": schema}
                await self._qdrant.change("PUT", f"{self._path}/index?wait=true", index)
        strict = info.config.strict_mode_config or {}
        if not strict.get("enabled"):
            await self._qdrant.change(
                "PATCH", self._path, {"strict_mode_config": _STRICT}, accepted=_NO_STRICT_MODE
            )


def check_completed(content: bytes) -> None:
    """Raise RecallUnavailable if the response to a write says that it is accepted, but not completed."""
    if (status := parse_result(content, WriteResult).status) != "completed":
        raise RecallUnavailable(f"the vector index did not finish a write in time ({status})")


def _check_fits(info: CollectionInfo, name: str, dimension: int) -> None:
    params = info.config.params
    dense: Json | None = params.vectors.get(DENSE)
    if dense is None:
        raise IndexMismatch(f"the collection {name} has no vector named {DENSE}: another program created it")
    if TERMS not in (params.sparse_vectors or {}):
        raise IndexMismatch(f"the collection {name} has no vector named {TERMS}: another program created it")
    if dense["size"] != dimension:
        raise IndexMismatch(
            f"the collection {name} holds vectors of {dense['size']} dimensions, but the embedder makes "
            f"{dimension}: remove the collection and re-index"
        )
