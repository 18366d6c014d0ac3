"""Serves a simulator, or another ASGI app, inside the running event loop. Signals and logging stay the caller's."""

import asyncio
import errno
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from simulator.api.bot_api import HANG_UP, bot_api_routes
from simulator.api.config import SimulatorConfig
from simulator.api.page_api import page_routes
from simulator.api.simulation import Simulation, build_simulation
from simulator.api.world_folder import WorldFolder

LOOPBACK = "127.0.0.1"
_DRAIN_S = 2


class PortInUse(Exception):
    """Another program listens on the port."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"Port {port} on {host} is in use by another program.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSimulator:
    """A simulator that listens at `url`."""

    url: str
    simulation: Simulation


@asynccontextmanager
async def serve(
    config: SimulatorConfig, *, host: str = LOOPBACK, port: int = 0
) -> AsyncGenerator[RunningSimulator]:
    """Serve until the block ends; port 0 takes any free one. Raises PortInUse.

    At the end long polls and page streams end at once; other requests have two seconds.
    """
    app = create_app(config)
    simulation: Simulation = app.state.simulation
    async with listening(app, host=host, port=port) as actual:
        try:
            yield RunningSimulator(
                url=f"http://{f'[{host}]' if ':' in host else host}:{actual}", simulation=simulation
            )
        finally:
            simulation.close()


def create_app(config: SimulatorConfig) -> Starlette:
    """Build the Bot API and the chat page as an ASGI app; `app.state.simulation` is the Simulation.

    Deliveries run within the lifespan. Its end cancels them at once: updates that the bot has not fetched are lost.
    """
    app = Starlette(routes=[*bot_api_routes(), *page_routes()], lifespan=_lifespan)
    app.state.simulation = build_simulation(config)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncGenerator[None]:
    sim: Simulation = app.state.simulation
    kept = WorldFolder(sim.config.folder, sim) if sim.config.folder else None
    if kept:
        kept.load()
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(sim.delivery.run(), name="simulator-webhook-delivery"),
            tasks.create_task(sim.watch_deliveries(), name="simulator-deliveries-watch"),
        ]
        if kept:
            running.append(tasks.create_task(kept.keep(), name="simulator-world-folder"))
        try:
            yield
        finally:
            sim.close()
            for task in running:
                task.cancel()
            if kept:
                kept.save()


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
