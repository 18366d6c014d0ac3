"""Serves an ASGI app inside the running event loop. Signals and logging stay the caller's."""

import errno
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOPBACK = "127.0.0.1"
HANG_UP = "simulator.hang_up"
"""The ASGI extension with which a request is ended without a response."""
_DRAIN_S = 2


class PortInUse(Exception):
    """Another program listens on the port."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"Port {port} on {host} is in use by another program.")


@asynccontextmanager
async def listening(app: ASGIApp, *, host: str, port: int, drains: bool = True) -> AsyncGenerator[int]:
    """Serve until the block ends; yield the port, which is any free one for port 0. Raises PortInUse.

    At the end responses have two seconds; without `drains` their connections are closed at once.
    """
    with closing(_listen(host, port)) as listener:
        server = _build_server(app)
        await server.startup(sockets=[listener])
        try:
            yield listener.getsockname()[1]
        finally:
            if not drains:
                for connection in server.server_state.connections:
                    cast("H11Protocol", connection).transport.abort()
            await server.shutdown(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's delay only if the protocol is named. Nagle's delay adds 40 ms to each response.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port) from error
        raise
    listener.setblocking(False)
    return listener


def _build_server(app: ASGIApp) -> uvicorn.Server:
    """Build a server to start without `Server.serve`, which takes over the signals.

    There is no access log, because paths of the Bot API hold the token.
    """
    config = uvicorn.Config(
        app,
        http=cast("Any", _open_connection),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_DRAIN_S,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    return server


def _open_connection(**options: Any) -> H11Protocol:
    """Build a connection whose requests have the extension HANG_UP in their scope."""
    connection = H11Protocol(**options)
    app = cast("ASGIApp", connection.app)

    async def with_hang_up(scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("extensions", {})[HANG_UP] = lambda: connection.transport.abort()
        await app(scope, receive, send)

    connection.app = cast("Any", with_hang_up)
    return connection
