"""Serves an ASGI app inside the running event loop: no signal handlers, no logging set-up."""

import asyncio
import errno
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

import uvicorn
from starlette.types import ASGIApp

from bot.app.connections import ConnectionLimits, Doorkeeper
from bot.errors import PortInUse

LOOPBACK = "127.0.0.1"
_PATIENCE_S = 2.0
_ACCEPTED_AT_ONCE = 16
"""asyncio takes as many new connections in a row as its backlog says, and nothing else is done meanwhile."""
_BACKLOG = 2048


class _Connection(Protocol):
    """A connection as uvicorn knows it."""

    @property
    def client(self) -> tuple[str, int] | None: ...
    @property
    def transport(self) -> asyncio.Transport: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A listening server; `origin` is `http://HOST:PORT`, with the port that was really taken."""

    origin: str
    _server: uvicorn.Server

    def close_connection(self, client: tuple[str, int]) -> None:
        """Close the connection from `client` after what was already sent; nothing if it is gone."""
        for connection in self._connections():
            if connection.client == client:
                connection.transport.close()

    async def end(self, *, drain_s: float) -> None:
        """Stop listening, give the answers being written `drain_s` seconds, then drop every connection."""
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
    limits: ConnectionLimits | None = None,
) -> AsyncGenerator[HttpServer]:
    """Serve `app` until the block ends; port 0 takes a free one. Raises PortInUse, or OSError for a bad host."""
    listener = _listen(host, port)
    keeper = Doorkeeper(limits or ConnectionLimits())
    config = uvicorn.Config(
        app,
        http=cast("Any", keeper.open_connection),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # it warns of each request that is no HTTP, which strangers may send by the thousand
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
    watch = asyncio.create_task(keeper.keep_watch(), name="doorkeeper")
    shown = f"[{host}]" if ":" in host else host
    serving = HttpServer(origin=f"http://{shown}:{listener.getsockname()[1]}", _server=server)
    try:
        yield serving
    finally:
        watch.cancel()
        await serving.end(drain_s=drain_s)
        await asyncio.wait([watch])


def _listen(host: str, port: int) -> socket.socket:
    # With the protocol named asyncio turns Nagle's delay off; else each answer takes 40 ms more.
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
