"""The connection to Qdrant: one pool for each address of a cluster, and failures in our words."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
import httpx
from pydantic_core import ValidationError, from_json

from memory.causes import with_cause
from memory.errors import IndexUnreadable, RecallTimedOut, RecallUnavailable
from memory.http_calls import open_session

_CONNECTIONS = 100
_KEEP_ALIVE_S = 3.0
"""Lifetime of an idle connection. Qdrant's server and ours close theirs after five seconds."""
_PORT = 6333
_CONNECT_S = 0.4
"""Time to connect to one of several addresses: the next one must still answer within the budget of a recall."""
_OF_NODE = {502, 503, 504}
"""Statuses of one node: it still loads, or the balancer before it has lost it. Another node may answer."""
_SUCCESSES = range(200, 300)
_REDIRECTS = range(300, 400)
_BAD_REQUEST = 400
_OF_KEY = {401, 403}
_NOT_FOUND = 404
_TOO_LARGE = 413


class CollectionGone(RecallUnavailable):
    """The collection does not exist."""


class RequestTooLarge(RecallUnavailable):
    """The server, or a proxy before it, does not accept a request of that size."""


class BadRequest(RecallUnavailable):
    """The collection does not take this request: another program may have made it for other vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The answer of a server."""

    status: int
    reason: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    session: aiohttp.ClientSession
    origin: str

    async def request(self, method: str, path: str, body: bytes) -> Response:
        url = self.origin + path
        async with self.session.request(method, url, data=body, allow_redirects=False) as response:
            content = await response.read()
            return Response(status=response.status, reason=response.reason or "", content=content)


@asynccontextmanager
async def open_connection(
    urls: str, *, api_key: str | None, timeout_s: float
) -> AsyncGenerator["QdrantConnection"]:
    """Open the server at this address, or the cluster at these, separated by commas. Connects at first use.

    `timeout_s` limits each request to one address. A URL without a port means 6333.
    """
    addresses = urls.split(",")
    timeout = aiohttp.ClientTimeout(total=timeout_s, connect=_CONNECT_S if len(addresses) > 1 else None)
    headers = {
        "content-type": "application/json",
        # Qdrant sends a compressed answer in two segments without TCP_NODELAY: each search takes 44 ms then, not 2.
        "accept-encoding": "identity",
        **({"api-key": api_key} if api_key else {}),
    }
    async with AsyncExitStack() as stack:
        nodes: list[_Node] = []
        for url in addresses:
            session = open_session(
                url, connections=_CONNECTIONS, timeout=timeout, headers=headers, keep_alive_s=_KEEP_ALIVE_S
            )
            nodes.append(_Node(session=await stack.enter_async_context(session), origin=_origin(url)))
        yield QdrantConnection(nodes)


class QdrantConnection:
    """Sends each request to the address that answered last, and to the next one if that fails.

    Every request may be sent twice: writing and erasing the same points again changes nothing.
    """

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self._nodes = nodes
        self._at = 0

    async def send(self, method: str, path: str, body: bytes) -> bytes:
        """Send a request by its method, path and JSON body, and return the JSON of the answer.

        Raises RecallUnavailable, for some statuses as CollectionGone, RequestTooLarge or BadRequest.
        """
        response = await self.exchange(method, path, body)
        if response.status not in _SUCCESSES:
            raise refusal(response.status, response.reason)
        return response.content

    async def exchange(self, method: str, path: str, body: bytes) -> Response:
        """Send a request and return the answer, whatever its status. Raises RecallUnavailable without an answer."""
        for rest in reversed(range(len(self._nodes))):
            at = self._at
            try:
                response = await self._nodes[at].request(method, path, body)
            except CancelledError:  # mostly because the time for it is over
                self._leave(at)
                raise
            except (aiohttp.ClientError, OSError) as error:
                self._leave(at)
                if not rest:
                    raise unreachable(error) from error
            else:
                if response.status not in _OF_NODE:
                    return response
                self._leave(at)
                if not rest:
                    return response
        raise RecallUnavailable

    def _leave(self, at: int) -> None:
        """Send the next request to the next address, unless another request has moved on already."""
        if self._at == at:
            self._at = (at + 1) % len(self._nodes)


class QdrantTransport(httpx.AsyncBaseTransport):
    """Sends the requests of qdrant-client on our connection, in a fifth of its CPU and with our limits."""

    def __init__(self, connection: QdrantConnection) -> None:
        self._connection = connection

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer. Raises RecallUnavailable for none, and for a success that is not Qdrant's."""
        body = await request.aread()
        response = await self._connection.exchange(request.method, request.url.raw_path.decode(), body)
        if response.status in _SUCCESSES:
            parse_result(response.content)
        return httpx.Response(response.status, content=response.content)


def parse_result(content: bytes) -> Any:
    """Return the result in an answer. Raises IndexUnreadable for anything else, such as the page of a proxy."""
    try:
        answer = from_json(content)
    except ValueError as error:
        raise IndexUnreadable from error
    result = cast("dict[str, Any]", answer).get("result") if isinstance(answer, dict) else None
    if result is None:
        raise IndexUnreadable
    return result


def parse_status(content: bytes) -> str:
    """Return the status of a write in its answer. Raises IndexUnreadable for anything else."""
    result = parse_result(content)
    status = cast("dict[str, Any]", result).get("status") if isinstance(result, dict) else None
    if not isinstance(status, str):
        raise IndexUnreadable
    return status


def refusal(status: int, reason: str) -> RecallUnavailable:
    """Return the error of a status. Its message is without URL, key and body."""
    says = f"the vector index answered {status} {reason}".rstrip()
    if status in _OF_KEY:
        return RecallUnavailable(f"QDRANT_API_KEY: the vector index refuses the key (HTTP {status})")
    if status in _REDIRECTS:
        return RecallUnavailable(f"{says}: QDRANT_URL must be the address to which it leads")
    kinds = {_BAD_REQUEST: BadRequest, _NOT_FOUND: CollectionGone, _TOO_LARGE: RequestTooLarge}
    return kinds.get(status, RecallUnavailable)(says)


def unreachable(error: BaseException) -> RecallUnavailable:
    """Return the error of a request without an answer."""
    if isinstance(error, RecallUnavailable):
        return error
    if isinstance(error, TimeoutError):
        return RecallTimedOut()
    if isinstance(error, ValidationError):  # a success of another shape
        return IndexUnreadable()
    return RecallUnavailable(with_cause("the vector index cannot be reached", error))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc if parts.port else f"{parts.netloc}:{_PORT}"
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
