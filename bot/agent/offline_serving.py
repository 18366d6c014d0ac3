"""An ASGI app served on a loopback port inside the running event loop."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

_HOST = "127.0.0.1"
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackServer:
    """A listening server; `origin` is `http://127.0.0.1:PORT`."""

    origin: str
    _server: uvicorn.Server

    def close_connection(self, client: tuple[str, int]) -> None:
        """Close the connection from `client` after what was already sent; nothing if it is gone."""
        for connection in self._connections():
            if connection.client == client:
                connection.transport.close()

    async def end(self) -> None:
        """Stop listening and drop every connection, which ends the answers that are being written on them."""
        for listening in self._server.servers:
            listening.close()
        for connection in self._connections():
            connection.transport.abort()
        answering = list(self._server.server_state.tasks)
        if answering:
            _, stuck = await asyncio.wait(answering, timeout=_PATIENCE_S)
            for task in stuck:
                task.cancel()
        for listening in self._server.servers:
            await listening.wait_closed()

    def _connections(self) -> list[H11Protocol]:
        connections = self._server.server_state.connections
        return [connection for connection in connections if isinstance(connection, H11Protocol)]


@asynccontextmanager
async def serve_on_loopback(app: ASGIApp, *, port: int = 0) -> AsyncGenerator[LoopbackServer, None]:
    """Serve `app` on 127.0.0.1 until the block ends; port 0 takes a free one, OSError if it is taken.

    No signal handlers, no logging set-up, no task of its own; at the end open answers are cut off.
    """
    listener = socket.create_server((_HOST, port))
    config = uvicorn.Config(
        app, http=H11Protocol, ws="none", lifespan="off", log_config=None, access_log=False
    )
    config.load()
    server = uvicorn.Server(config)
    # `serve` would take over SIGINT and SIGTERM, and `shutdown` waits for what still answers.
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    loopback = LoopbackServer(origin=f"http://{_HOST}:{listener.getsockname()[1]}", _server=server)
    try:
        yield loopback
    finally:
        await loopback.end()
