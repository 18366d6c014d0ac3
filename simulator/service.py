"""Serves a simulator inside the running event loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette

from simulator.api.bot_api import bot_api_routes
from simulator.api.config import SimulatorConfig
from simulator.api.page_api import page_routes
from simulator.api.simulation import Simulation, build_simulation
from simulator.api.world_folder import WorldFolder
from simulator.server import LOOPBACK, listening


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
