"""The routes of the index server: Qdrant's paths, its answers and its errors."""

import hmac
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from memory.embedded.index import reads, writes
from memory.embedded.index.collections import Collection, Collections
from memory.embedded.index.describe import describe_collection
from memory.embedded.index.failures import BadRequest, RequestRefused, TooLarge, Unauthorized, Unsupported
from memory.embedded.index.requests import (
    CountPoints,
    CreateCollection,
    CreateFieldIndex,
    PointsSelection,
    QueryBatch,
    QueryPoints,
    RetrievePoints,
    ScrollPoints,
    SetPayload,
    UpsertPoints,
)

MAX_BODY_BYTES = 32 * 1024 * 1024
# The API of Qdrant that this speaks; its client warns when it is more than one minor version away.
API_VERSION = "1.20.0"

Handler = Callable[[Request], Awaitable[Any]]
Body = TypeVar("Body", bound=BaseModel)


def build_app(collections: Collections, api_key: str) -> Starlette:
    """The server over opened collections; every path but the root and the health checks needs the key."""
    collection, points = "/collections/{name}", "/collections/{name}/points"
    routes = [
        Route("/", _answer_version),
        *(Route(path, _answer_health) for path in ("/healthz", "/livez", "/readyz")),
        _route("GET", "/collections", _list_collections),
        _route("GET", f"{collection}/exists", _has_collection),
        _route("GET", collection, _get_collection),
        _route("PUT", collection, _create_collection),
        _route("DELETE", collection, _delete_collection),
        _route("PUT", f"{collection}/index", _create_index),
        _route("DELETE", f"{collection}/index/{{field}}", _delete_index),
        _route("PUT", points, _upsert_points),
        _route("POST", points, _retrieve_points),
        _route("POST", f"{points}/delete", _delete_points),
        _route("POST", f"{points}/payload", _set_payload),
        _route("POST", f"{points}/count", _count_points),
        _route("POST", f"{points}/scroll", _scroll_points),
        _route("POST", f"{points}/query", _query_points),
        _route("POST", f"{points}/query/batch", _query_batch),
    ]
    app = Starlette(
        routes=routes, exception_handlers={HTTPException: _answer_unknown, Exception: _answer_broken}
    )
    app.state.collections = collections
    app.state.api_key = api_key.encode()
    return app


def _route(method: str, path: str, handler: Handler) -> Route:
    return Route(path, partial(_answer, handler), methods=[method])


async def _answer(handler: Handler, request: Request) -> Response:
    """Check the key, do it, and answer in Qdrant's envelope."""
    started = time.perf_counter()
    try:
        _check_key(request)
        _collections(request).used_at = time.monotonic()
        result = await handler(request)
    except RequestRefused as refusal:
        return _refuse(refusal.status, str(refusal), started)
    except ClientDisconnect:
        return _refuse(400, "the client went away", started)
    body = {"result": result, "status": "ok", "time": time.perf_counter() - started}
    return Response(to_json(body), media_type="application/json")


def _refuse(status: int, message: str, started: float) -> Response:
    body = {"status": {"error": message}, "time": time.perf_counter() - started}
    return Response(to_json(body), status_code=status, media_type="application/json")


async def _answer_unknown(request: Request, error: Exception) -> Response:
    refusal = Unsupported(f"the embedded index does not support {request.method} {request.url.path}")
    status = refusal.status if getattr(error, "status_code", 404) in {404, 405} else 400
    return _refuse(status, str(refusal), time.perf_counter())


async def _answer_broken(_request: Request, _error: Exception) -> Response:
    """Our own mistake: the framework logs it after this answer."""
    return _refuse(500, "Service internal error", time.perf_counter())


def _check_key(request: Request) -> None:
    """In constant time, on bytes; in either header that Qdrant takes."""
    given = request.headers.get("api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
    if not given:
        raise Unauthorized("Must provide an API key or an Authorization bearer token")
    if not hmac.compare_digest(given.encode(), request.app.state.api_key):
        raise Unauthorized("Invalid API key or JWT")


async def _read(request: Request, kind: type[Body]) -> Body:
    """The body as what it should be; anything else in it is refused, as unsupported where Qdrant knows it."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge(f"JSON payload ({MAX_BODY_BYTES} bytes) is larger than allowed")
    try:
        return kind.model_validate_json(bytes(body))
    except ValidationError as error:
        raise _name_problem(error) from error


def _name_problem(error: ValidationError) -> RequestRefused:
    """The first problems with where they are; never what was given, which may be a user's text."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)[:3]
    text = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems)
    if any(problem["type"] == "unsupported" for problem in problems):
        return Unsupported(f"Not supported: {text}")
    return BadRequest(f"Wrong input: {text}")


def _collections(request: Request) -> Collections:
    return request.app.state.collections


def _collection(request: Request) -> Collection:
    return _collections(request).get(request.path_params["name"])


async def _written(request: Request, collection: Collection, operation_id: int) -> dict[str, Any]:
    """Acknowledge a write: on the disk first, unless the client does not wait."""
    if request.query_params.get("wait", "false").lower() != "true":
        return {"operation_id": operation_id, "status": "acknowledged"}
    await anyio.to_thread.run_sync(collection.sync)
    return {"operation_id": operation_id, "status": "completed"}


async def _answer_version(request: Request) -> Response:
    return Response(
        to_json({"title": "embedded index of Mnemogram, speaking Qdrant", "version": API_VERSION}),
        media_type="application/json",
    )


async def _answer_health(request: Request) -> Response:
    return PlainTextResponse("ok")


async def _list_collections(request: Request) -> Any:
    return {"collections": [{"name": collection.name} for collection in _collections(request)]}


async def _has_collection(request: Request) -> Any:
    return {"exists": request.path_params["name"] in _collections(request)}


async def _get_collection(request: Request) -> Any:
    return describe_collection(_collection(request))


async def _create_collection(request: Request) -> Any:
    settings = await _read(request, CreateCollection)
    _collections(request).create(request.path_params["name"], settings)
    return True


async def _delete_collection(request: Request) -> Any:
    return _collections(request).delete(request.path_params["name"])


async def _create_index(request: Request) -> Any:
    wanted = await _read(request, CreateFieldIndex)
    collection = _collection(request)
    return await _written(request, collection, writes.create_index(collection, wanted))


async def _delete_index(request: Request) -> Any:
    collection = _collection(request)
    return await _written(request, collection, writes.delete_index(collection, request.path_params["field"]))


async def _upsert_points(request: Request) -> Any:
    wanted = await _read(request, UpsertPoints)
    collection = _collection(request)
    return await _written(request, collection, writes.upsert_points(collection, wanted))


async def _delete_points(request: Request) -> Any:
    wanted = await _read(request, PointsSelection)
    collection = _collection(request)
    return await _written(request, collection, writes.delete_points(collection, wanted))


async def _set_payload(request: Request) -> Any:
    wanted = await _read(request, SetPayload)
    collection = _collection(request)
    return await _written(request, collection, writes.set_payload(collection, wanted))


async def _retrieve_points(request: Request) -> Any:
    wanted = await _read(request, RetrievePoints)
    return reads.retrieve_points(_collection(request), wanted)


async def _count_points(request: Request) -> Any:
    wanted = await _read(request, CountPoints)
    return {"count": reads.count_points(_collection(request), wanted)}


async def _scroll_points(request: Request) -> Any:
    wanted = await _read(request, ScrollPoints)
    return reads.scroll_points(_collection(request), wanted)


async def _query_points(request: Request) -> Any:
    wanted = await _read(request, QueryPoints)
    return reads.query_points(_collection(request), [wanted])[0]


async def _query_batch(request: Request) -> Any:
    wanted = await _read(request, QueryBatch)
    return reads.query_points(_collection(request), wanted.searches)
