"""The index server: `python -m memory.embedded.index.server DIR`, with its listening socket as stdin.

It answers the requests that we send, in Qdrant's paths, results and errors.
"""

import asyncio
import hmac
import os
import secrets
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as edge
import uvicorn
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from memory.embedded.index import requests
from memory.embedded.index.collections import Collection, Collections, IndexFailure, engine_errors
from memory.embedded.index.upkeep import Reached, UpkeepTimes, go_on, keep_up

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
