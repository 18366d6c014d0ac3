"""The connection to Qdrant: one pool for each address of a cluster, and failures in our words."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import aiohttp
import msgspec

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

_Result = TypeVar("_Result")
Send = Callable[[str, str, bytes], Awaitable[bytes]]
"""Sends a request by its method, path and JSON body, and returns the JSON of the answer.

Raises RecallUnavailable, for some statuses as CollectionGone or RequestTooLarge.
"""


class Envelope(msgspec.Struct, Generic[_Result]):
    """The JSON of every answer of Qdrant."""

    result: _Result


class IndexRefusal(RecallUnavailable):
    """An answer with a status that is no success. The message is without URL, key and body."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class CollectionGone(IndexRefusal):
    """The collection does not exist."""


class RequestTooLarge(IndexRefusal):
    """The server, or a proxy before it, does not accept a request of that size."""


class BadRequest(IndexRefusal):
    """The collection does not take this request: another program may have made it for other vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    status: int
    reason: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    session: aiohttp.ClientSession
    origin: str

    async def request(self, method: str, path: str, body: bytes) -> _Response:
        url = self.origin + path
        async with self.session.request(method, url, data=body, allow_redirects=False) as response:
            content = await response.read()
            return _Response(status=response.status, reason=response.reason or "", content=content)


@asynccontextmanager
async def open_connection(
    urls: str, *, api_key: str | None, timeout_s: float
) -> AsyncGenerator["QdrantConnection"]:
    """Open the server at this address, or the cluster at these, separated by commas. Connects at first use.

    `timeout_s` limits each request to one address. A URL without a port and a path means 6333.
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
            nodes.append(_Node(session=await stack.enter_async_context(session), origin=origin_of(url)))
        yield QdrantConnection(nodes)


class QdrantConnection:
    """Sends each request to the address that answered last, and to the next one if that fails.

    Every request may be sent twice: writing and erasing the same points again changes nothing.
    """

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self._nodes = nodes
        self._at = 0

    async def send(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request by its method, path and JSON body, and return the JSON of the answer.

        Raises RecallUnavailable: IndexRefusal for a status, for some as CollectionGone, RequestTooLarge or BadRequest.
        """
        response = await self._exchange(method, path, body)
        if response.status not in _SUCCESSES:
            raise _refusal(response.status, response.reason)
        return response.content

    async def _exchange(self, method: str, path: str, body: bytes) -> _Response:
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
                    raise _unreachable(error) from error
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


def parse_result(content: bytes, decoder: msgspec.json.Decoder[Envelope[_Result]]) -> _Result:
    """Return the result in an answer. Raises IndexUnreadable for anything else, such as the page of a proxy."""
    try:
        return decoder.decode(content).result
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IndexUnreadable from error


def _refusal(status: int, reason: str) -> IndexRefusal:
    says = f"the vector index answered {status} {reason}".rstrip()
    if status in _OF_KEY:
        says = f"QDRANT_API_KEY: the vector index refuses the key (HTTP {status})"
    elif status in _REDIRECTS:
        says += ": QDRANT_URL must be the address to which it leads"
    kinds = {_BAD_REQUEST: BadRequest, _NOT_FOUND: CollectionGone, _TOO_LARGE: RequestTooLarge}
    return kinds.get(status, IndexRefusal)(says, status)


def _unreachable(error: Exception) -> RecallUnavailable:
    if isinstance(error, TimeoutError):
        return RecallTimedOut()
    return RecallUnavailable(with_cause("the vector index cannot be reached", error))


def origin_of(url: str) -> str:
    """Return the address of requests. A path is that of a proxy, which has the usual port (qdrant-client#1215)."""
    parts = urlsplit(url)
    host = parts.netloc if parts.port or parts.path.strip("/") else f"{parts.netloc}:{_PORT}"
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
