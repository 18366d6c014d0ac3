"""A proxy of the index server that records searches and lets some requests fail."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, cast

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bot.transport.http_connection import CYCLE
from bot.transport.http_server import serve_http
from tests.local_http import local_client

FaultKind = Literal["down", "slow", "500"]

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search request: its collection, and the sizes of its dense vectors."""

    collection: str
    body: str
    dimensions: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFaults:
    """One of `every` requests fails, at a place among them that is random by `seed`; the kinds take turns.

    down: the connection is closed and nothing is done; slow: done and answered after up to `slow_s`
    seconds; 500: answered with an error, and done every second time.
    """

    every: int
    slow_s: float
    seed: int


@dataclass(slots=True)
class IndexProxy:
    """The proxy and its faults.

    `url` is its address. `searches` are those since `keeps_searches`; `asked` counts all of them,
    `writes` the requests that wrote points; `requests` and `failed` the requests and the faults while some are to fail.
    """

    url: str = ""
    keeps_searches: bool = True
    searches: list[Search] = field(default_factory=list[Search])
    asked: int = 0
    writes: int = 0
    requests: int = 0
    failed: Counter[FaultKind] = field(default_factory=Counter[FaultKind])
    _faults: IndexFaults | None = None
    _random: Random = field(default_factory=Random)
    _place: int = 0

    def fail(self, faults: IndexFaults | None) -> None:
        """Let requests fail from now on. None ends the faults."""
        self._faults = faults
        self._random = Random(faults.seed if faults else 0)

    def note(self, method: str, path: str, body: bytes) -> None:
        """Count a write, and record a search:

        `/collections/NAME/points/query` or a batch of them.
        """
        parts = path.strip("/").split("/")
        self.writes += method == "PUT" and parts[-1] == "points"
        if len(parts) < 4 or parts[0] != "collections" or parts[3] != "query":
            return
        self.asked += 1
        if self.keeps_searches:
            self.searches.append(_read_search(parts[1], body))

    def draw(self) -> tuple[FaultKind | None, float]:
        """Return the fault of the next request, and a random number from 0 to 1."""
        if self._faults is None:
            return None, 0.0
        at = self.requests % self._faults.every
        self._place = self._place if at else self._random.randrange(self._faults.every)
        self.requests += 1
        if at != self._place:
            return None, 0.0
        kinds: tuple[FaultKind, ...] = ("down", "slow", "500")
        kind = kinds[self.failed.total() % len(kinds)]
        self.failed[kind] += 1
        return kind, self._random.random()

    @property
    def slow_s(self) -> float:
        """Return the maximum delay of a response."""
        return self._faults.slow_s if self._faults else 0.0


@asynccontextmanager
async def proxied_index(index_url: str) -> AsyncGenerator[IndexProxy]:
    """Run a proxy in front of the index server."""
    proxy = IndexProxy()
    async with local_client(index_url, timeout_s=30) as server:
        way = _Way(proxy, server)
        async with serve_http(
            Starlette(routes=[Route("/{path:path}", way.forward, methods=_METHODS)])
        ) as served:
            proxy.url = served.origin
            yield proxy


class _Way:
    def __init__(self, proxy: IndexProxy, server: httpx.AsyncClient) -> None:
        self._proxy = proxy
        self._server = server

    async def forward(self, request: Request) -> Response:
        try:
            body = await request.body()
        except ClientDisconnect:  # killed in the middle of it
            return Response(status_code=400)
        self._proxy.note(request.method, request.url.path, body)
        fault, chance = self._proxy.draw()
        if fault == "down":
            return self._hang_up(request)
        if fault == "500" and chance < 0.5:
            return Response(status_code=500)
        answer = await self._ask(request, body)
        if fault == "slow":
            await asyncio.sleep(chance * self._proxy.slow_s)
        return Response(status_code=500) if fault == "500" else answer

    async def _ask(self, request: Request, body: bytes) -> Response:
        headers = {name: text for name, text in request.headers.items() if name not in _HOP_BY_HOP}
        try:
            answer = await self._server.request(
                request.method, request.url.path, params=request.url.query, content=body, headers=headers
            )
        except httpx.TransportError:
            return Response(status_code=502)
        return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

    def _hang_up(self, request: Request) -> Response:
        request.scope["extensions"][CYCLE].transport.close()
        return Response(status_code=500)  # nobody reads it


def _read_search(collection: str, body: bytes) -> Search:
    document = json.loads(body)
    asked = cast("list[dict[str, Any]]", document.get("searches", [document]))
    sizes = frozenset(len(one["query"]) for one in asked if isinstance(one.get("query"), list))
    return Search(collection=collection, body=body.decode(), dimensions=sizes)
