"""Runs a simulator on a port until it is cancelled."""

import errno
import socket
from collections.abc import Callable
from contextlib import closing
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from simulator.api.app import create_app
from simulator.api.bot_api import HANG_UP
from simulator.api.config import SimulatorConfig
from simulator.api.errors import PortInUse
from simulator.api.simulation import Simulation

_DRAIN_S = 2


async def serve(
    config: SimulatorConfig, *, host: str, port: int, started: Callable[[int], None] | None = None
) -> None:
    """Serve until cancelled; signals are the caller's. Port 0 takes any free one.

    `started` gets the actual port once connections are accepted. Raises PortInUse. On cancellation long
    polls and page streams end at once, and other calls have two seconds.
    """
    await serve_app(create_app(config), host=host, port=port, started=started)


async def serve_app(
    app: Starlette, *, host: str, port: int, started: Callable[[int], None] | None = None
) -> None:
    """The same for what `create_app` gave, for who wants to hold the simulation as well."""
    with closing(_listen(host, port)) as listener:
        simulation: Simulation = app.state.simulation
        server = _build_server(app)
        await server.startup(sockets=[listener])
        try:
            if started is not None:
                started(listener.getsockname()[1])
            await server.main_loop()
        finally:
            simulation.close()
            await server.shutdown(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named asyncio turns Nagle's delay off; else each answer takes 40 ms more.
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


def _build_server(app: Starlette) -> uvicorn.Server:
    """Without Server.serve(), which would take over the signals; the paths carry a token: no access log."""
    uvicorn_config = uvicorn.Config(
        app,
        http=cast("Any", _connection),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_DRAIN_S,
    )
    uvicorn_config.load()
    server = uvicorn.Server(uvicorn_config)
    server.lifespan = uvicorn_config.lifespan_class(uvicorn_config)
    return server


def _connection(**given: Any) -> H11Protocol:
    """A connection whose calls can be ended without an answer: the extension HANG_UP of their scope."""
    connection = H11Protocol(**given)
    app = cast("ASGIApp", connection.app)

    async def with_hang_up(scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("extensions", {})[HANG_UP] = lambda: connection.transport.abort()
        await app(scope, receive, send)

    connection.app = cast("Any", with_hang_up)
    return connection
