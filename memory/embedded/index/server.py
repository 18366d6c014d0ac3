"""The index server: `python -m memory.embedded.index.server DIR`, with its listening socket as stdin.

It answers the requests that we send, in Qdrant's paths, results and errors.
"""

import asyncio
import hmac
import os
import secrets
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as edge
import uvicorn
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from memory.embedded.data_dir import MIN_FREE_BYTES, rest_after
from memory.embedded.index import requests
from memory.embedded.index.collections import Collection, Collections, IndexFailure, Shard, engine_errors

MAX_BODY_BYTES = 32 * 1024 * 1024

SomeBody = TypeVar("SomeBody", bound=requests.Body)

Operation = tuple[type[requests.Body], Callable[[Collection, Any], Any]]
"""A body, and the operation of a collection with it. Writes return None."""

# The key is the method and the path below the collection.
_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("PUT", "index"): (requests.CreateIndex, Collection.create_index),
    ("PUT", "points"): (requests.UpsertPoints, Collection.upsert),
    ("POST", "points/delete"): (requests.DeletePoints, Collection.delete),
    ("POST", "points/count"): (requests.CountPoints, Collection.count),
    ("POST", "points/scroll"): (requests.ScrollPoints, Collection.scroll),
    ("POST", "points/query/batch"): (requests.SearchBatch, Collection.search),
}


SLICE = 32
"""Points that a vacuum copies at a time: other requests wait for 4 ms, seldom for 12 ms."""
FLUSH_POINTS = 2_048
"""Writes between two flushes: 30 ms each, where one for 100,000 points holds the interpreter for 350 ms.

Fewer writes stay in the log, on the disk. The next start reads them in 0.4 s.
"""

Reached = Callable[[str], Awaitable[None]]

_IN_USE_S = 1.0
# While the index is in use, a vacuum rests for half as long as it works.
_REST_PER_WORK = 0.5
# The copy, its log of writes, and the room that a shard reserves for itself.
_ROOM_PER_SIZE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTimes:
    """Seconds that decide about a vacuum."""

    tick: float = 1.0
    """Between two looks."""
    quiet: float = 3.0
    """Without a request before a vacuum."""
    patience: float = 20.0
    """Age of garbage after which a vacuum no longer waits for a quiet moment."""
    retry: float = 300.0
    """After a vacuum that failed."""


async def go_on(_stage: str) -> None:
    """Wait for nothing at any stage of a vacuum."""


async def keep_up(collections: Collections, times: UpkeepTimes, *, reached: Reached = go_on) -> None:
    """Flush and vacuum what is due, one collection at a time."""
    while True:
        await asyncio.sleep(times.tick)
        for collection in collections:
            now = time.monotonic()
            if collection.shard.unflushed_points >= FLUSH_POINTS:
                await _attempt(f"flush of {collection.name}", collection.shard.flush())
            if is_vacuum_due(collection, now=now, used_at=collections.used_at, times=times):
                work = vacuum(collections, collection, reached=reached)
                succeeded = await _attempt(f"vacuum of {collection.name}", work)
                ended = time.monotonic()
                collection.next_vacuum_at = ended + (rest_after(ended - now) if succeeded else times.retry)


def is_vacuum_due(collection: Collection, *, now: float, used_at: float, times: UpkeepTimes) -> bool:
    """Return True if there is garbage, and the index is quiet or the garbage is old."""
    garbage_since = collection.shard.garbage_since
    if garbage_since is None or now < collection.next_vacuum_at:
        return False
    return now - used_at >= times.quiet or now - garbage_since >= times.patience


async def vacuum(collections: Collections, collection: Collection, *, reached: Reached = go_on) -> None:
    """Move a collection into a new shard. Writes go to both shards until the new one replaces the former.

    `reached` is awaited at each stage: begun, copying (after each slice but the last), copied, replaced.
    Any exception means that nothing changed, except files that the next start removes.
    """
    # The files are sparse, so their lengths add up to more than their blocks.
    size = 512 * sum(path.lstat().st_blocks for path in collection.folder.rglob("*"))
    needed = MIN_FREE_BYTES + _ROOM_PER_SIZE * size
    if shutil.disk_usage(collection.folder).free < needed:
        raise IndexFailure(507, f"the disk needs {needed / 2**20:.0f} MB of free space")
    try:
        await _fill_copy(collections, collection, reached)
        copy = _current_copy(collection)
        if copy.points != collection.shard.points:
            raise IndexFailure(500, "the copy does not hold the same points")
        former = collection.adopt_copy(copy)
    finally:
        collection.discard_copy()
    await reached("replaced")
    former.close()
    await asyncio.to_thread(shutil.rmtree, former.folder, ignore_errors=True)


async def _attempt(name: str, work: Coroutine[Any, Any, None]) -> bool:
    """Return True if the work was done; log a line if it failed."""
    try:
        with engine_errors():
            await work
    except (IndexFailure, OSError) as error:
        sys.stderr.write(f"index: {name} postponed: {type(error).__name__}: {error}\n")
        return False
    return True


async def _fill_copy(collections: Collections, collection: Collection, reached: Reached) -> None:
    copy = collection.begin_copy()
    for field, index in collection.shard.engine.info().payload_schema.items():
        if index.params is not None:
            copy.update(edge.UpdateOperation.create_field_index(field, index.params))
        await asyncio.sleep(0)
        _current_copy(collection)
    await reached("begun")
    offset: edge.PointId | None = None
    while True:
        started = time.monotonic()
        offset = _copy_slice(collection, offset)
        if offset is None:
            break
        took = time.monotonic() - started
        await reached("copying")
        await asyncio.sleep(took * _REST_PER_WORK if started - collections.used_at < _IN_USE_S else 0)
        if copy.unflushed_points >= FLUSH_POINTS:
            await copy.flush()
    await copy.flush()
    await reached("copied")


def _copy_slice(collection: Collection, offset: "edge.PointId | None") -> "edge.PointId | None":
    """Copy some points and return the id of the next one.

    Points that the copy has were written since it began, and are newest there.
    """
    copy = _current_copy(collection)
    request = edge.ScrollRequest(offset, SLICE, with_payload=True, with_vector=True)
    page, following = collection.shard.engine.scroll(request)
    present = {record.id for record in copy.engine.retrieve([record.id for record in page], False, False)}
    missing = [
        edge.Point(record.id, record.vector or {}, record.payload)
        for record in page
        if record.id not in present
    ]
    if missing:
        copy.update(edge.UpdateOperation.upsert_points(missing), added=len(missing))
    return following


def _current_copy(collection: Collection) -> Shard:
    """Return the copy. A failed write, or the deletion of the collection, discards it at any await."""
    if collection.copy is None:
        raise IndexFailure(409, "the copy was discarded meanwhile")
    return collection.copy


async def serve(directory: Path, times: UpkeepTimes, *, reached: Reached = go_on) -> None:
    """Load all collections, answer on the socket in standard input until SIGTERM, then flush and close them."""
    os.umask(0o077)
    listener = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    collections = Collections(directory / "collections")
    config = uvicorn.Config(
        IndexApp(collections, load_api_key(directory / "api-key")),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=3,
    )
    # After its shutdown uvicorn raises the signal again. The process would end before the flush.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_up(collections, times, reached=reached), name="index upkeep")
            await uvicorn.Server(config).serve(sockets=[listener])
            upkeep.cancel()
    finally:
        await collections.close()


class IndexApp:
    """The application over open collections. Every path except `/readyz` needs the key."""

    def __init__(self, collections: Collections, api_key: str) -> None:
        self._collections = collections
        self._api_key = api_key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        status, answer = await self._answer(scope, receive)
        body = to_json(answer, fallback=_sparse_to_json)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, dict[str, Any]]:
        """Return the status and Qdrant's envelope around the result or the error."""
        try:
            if scope["path"] != "/readyz":
                if not hmac.compare_digest(dict(scope["headers"]).get(b"api-key", b""), self._api_key):
                    raise IndexFailure(401, "Invalid API key or JWT")
                self._collections.used_at = time.monotonic()
            return 200, {"result": await self._run(scope["method"], scope["path"], receive), "status": "ok"}
        except IndexFailure as refusal:
            return refusal.status, {"status": {"error": str(refusal)}}
        except Exception:  # noqa: BLE001 - the process goes on after a mistake of ours
            traceback.print_exc(file=sys.stderr)
            return 500, {"status": {"error": "Service internal error"}}

    async def _run(self, method: str, path: str, receive: Receive) -> Any:
        match method, path.split("/")[1:]:
            case "GET", ["readyz"]:
                return True
            case "GET", ["collections"]:
                return {"collections": [{"name": collection.name} for collection in self._collections]}
            case "GET", ["collections", name]:
                return _describe(self._collections.get(name))
            case "PUT", ["collections", name]:
                settings = await _read(receive, requests.CollectionSettings)
                with engine_errors():
                    self._collections.create(name, settings)
                return True
            case "DELETE", ["collections", name]:
                return self._collections.delete(name)
            case _, ["collections", name, *rest] if operation := _OPERATIONS.get((method, "/".join(rest))):
                kind, run = operation
                body = await _read(receive, kind)
                collection = self._collections.get(name)
                with engine_errors():
                    if (result := run(collection, body)) is not None:
                        return result
                await collection.sync()  # a write is on the disk before it is acknowledged
                return {"status": "completed"}
            case _:
                raise IndexFailure(501, f"the embedded index does not support {method} {path}")


def _describe(collection: Collection) -> dict[str, Any]:
    """Return Qdrant's description. It is true also of the parts that mean nothing here: there is no graph."""
    info = collection.shard.engine.info()
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": info.segments_count,
        "config": {
            "params": collection.settings.model_dump(
                exclude={"hnsw_config", "optimizers_config"}, exclude_none=True
            ),
            "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {"default_segment_number": 1, "flush_interval_sec": 60},
        },
        "payload_schema": {
            # The engine's enumeration has no names, only texts such as "PayloadSchemaType.Keyword".
            field: {"data_type": str(index.data_type).split(".")[1].lower(), "points": index.points}
            for field, index in info.payload_schema.items()
        },
    }


def _sparse_to_json(vector: edge.SparseVector) -> dict[str, Any]:
    """Return the only kind of object in an answer that JSON does not know: a sparse vector of a scrolled point."""
    return {"indices": vector.indices, "values": vector.values}


async def _read(receive: Receive, kind: type[SomeBody]) -> SomeBody:
    """Parse the body. The error says where it is wrong, and never quotes it: it may be the text of a user."""
    body, is_incomplete = bytearray(), True
    while is_incomplete:  # a client that disconnects leaves a body that cannot be parsed
        message = await receive()
        body += message.get("body", b"")
        is_incomplete = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            raise IndexFailure(413, f"JSON payload is larger than allowed ({MAX_BODY_BYTES} bytes)")
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)[:3]
        text = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems)
        raise IndexFailure(400, f"Wrong input: {text}") from error


def load_api_key(path: Path) -> str:
    """Return the key of this folder. The first start makes it, readable for its owner only."""
    if path.exists() and (key := path.read_text()):
        return key
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(32))
    fresh.replace(path)
    return path.read_text()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), UpkeepTimes()))
