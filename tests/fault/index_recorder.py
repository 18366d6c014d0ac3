"""A way to the index server that notes every search: of which chat, in which collection, with vectors of which size."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bot.serving import serve_http
from tests.local_http import local_client

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One request for nearest points: its collection, and the sizes of the dense vectors in it."""

    collection: str
    body: str
    dimensions: frozenset[int]


@dataclass(slots=True)
class IndexRecorder:
    """What went by, in order, and how many requests wrote points. `url` is where to send requests."""

    url: str = ""
    searches: list[Search] = field(default_factory=list[Search])
    writes: int = 0

    def note(self, method: str, path: str, body: bytes) -> None:
        """Keep it if it is a search: `/collections/NAME/points/query` or a batch of them."""
        parts = path.strip("/").split("/")
        self.writes += method == "PUT" and parts[-1] == "points"
        if len(parts) < 4 or parts[0] != "collections" or parts[3] != "query":
            return
        document = json.loads(body)
        asked = cast("list[dict[str, Any]]", document.get("searches", [document]))
        sizes = frozenset(len(one["query"]) for one in asked if isinstance(one.get("query"), list))
        self.searches.append(Search(collection=parts[1], body=body.decode(), dimensions=sizes))


@asynccontextmanager
async def recorded_index(index_url: str) -> AsyncGenerator[IndexRecorder]:
    """A recorder in front of the index server."""
    recorder = IndexRecorder()
    async with local_client(index_url, timeout_s=30) as server:

        async def forward(request: Request) -> Response:
            try:
                body = await request.body()
            except ClientDisconnect:  # killed in the middle of it
                return Response(status_code=400)
            recorder.note(request.method, request.url.path, body)
            headers = {name: text for name, text in request.headers.items() if name not in _HOP_BY_HOP}
            try:
                answer = await server.request(
                    request.method,
                    request.url.path,
                    params=request.url.query,
                    content=body,
                    headers=headers,
                )
            except httpx.TransportError:
                return Response(status_code=502)
            return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

        app = Starlette(routes=[Route("/{path:path}", forward, methods=_METHODS)])
        async with serve_http(app) as served:
            recorder.url = served.origin
            yield recorder
