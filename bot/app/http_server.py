"""An HTTP server for an ASGI app inside the running event loop, without signal handlers and logging setup."""

import asyncio
import errno
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from bot.errors import PortInUse
from bot.observe import metrics

LOOPBACK = "127.0.0.1"
_PATIENCE_S = 2.0
_ACCEPTED_AT_ONCE = 16
"""Backlog for asyncio, which accepts this number of connections in a row and does nothing else meanwhile."""
_BACKLOG = 2048
_CONNECTIONS = 512
"""Requests get a 503 above this number of connections."""
HEAD_S = 10.0
"""Maximum time for the head of a request."""
HEAD_BYTES = 65_536
"""Maximum size of a request head."""


class _Connection(Protocol):
    """A connection as uvicorn knows it."""

    @property
    def client(self) -> tuple[str, int] | None: ...
    @property
    def transport(self) -> asyncio.Transport: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A listening server; `origin` is `http://HOST:PORT` with the actual port."""

    origin: str
    _server: uvicorn.Server

    def close_connection(self, client: tuple[str, int]) -> None:
        """Close the connection from `client`, if it still exists, after the data that is already sent."""
        for connection in self._connections():
            if connection.client == client:
                connection.transport.close()

    async def end(self, *, drain_s: float) -> None:
        """Stop listening, give running responses `drain_s` seconds, then drop every connection."""
        for listening in self._server.servers:
            listening.close()
        answering = list(self._server.server_state.tasks)
        if answering and drain_s:
            await asyncio.wait(answering, timeout=drain_s)
        for connection in self._connections():
            connection.transport.abort()
        answering = list(self._server.server_state.tasks)
        if answering:
            _, stuck = await asyncio.wait(answering, timeout=_PATIENCE_S)
            for task in stuck:
                task.cancel()
        for listening in self._server.servers:
            await listening.wait_closed()

    def _connections(self) -> list[_Connection]:
        return [cast(_Connection, connection) for connection in self._server.server_state.connections]


@asynccontextmanager
async def serve_http(
    app: ASGIApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    drain_s: float = 0,
    head_s: float = HEAD_S,
) -> AsyncGenerator[HttpServer]:
    """Serve `app` until the block ends; port 0 takes a free one. Raises PortInUse, or OSError for a bad host."""
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=cast("Any", partial(_BoundedHead, head_s=head_s)),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # without this, each invalid request of a stranger is a warning
        limit_concurrency=_CONNECTIONS,
        backlog=_ACCEPTED_AT_ONCE,
        access_log=False,
        proxy_headers=False,
    )
    config.load()
    server = uvicorn.Server(config)
    # `serve` would take over SIGINT and SIGTERM, and `shutdown` waits for what still answers.
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    listener.listen(_BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    serving = HttpServer(origin=f"http://{shown}:{listener.getsockname()[1]}", _server=server)
    try:
        yield serving
    finally:
        await serving.end(drain_s=drain_s)


class _BoundedHead(HttpToolsProtocol):
    """A connection of uvicorn that is dropped if the head of a request is slow or large.

    uvicorn 0.54 limits neither with httptools: a silent connection stays open, and a head may have any size.
    """

    def __init__(self, *args: Any, head_s: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_s = head_s
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._head_s, self._drop, "slow_head")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is not None and not cycle.response_complete:  # the head is complete
            self._head_bytes = 0
            self._cancel_deadline()
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self._drop("long_head")
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._head_s, self._drop, "slow_head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _drop(self, reason: str) -> None:
        metrics.CONNECTIONS_DROPPED.labels(reason).inc()
        self._cancel_deadline()
        self.transport.abort()


def _listen(host: str, port: int) -> socket.socket:
    # asyncio turns Nagle's delay off only for a named protocol. Otherwise each response takes 40 ms longer.
    listener = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use by another program") from error
        raise
    listener.setblocking(False)
    return listener
