"""Puts one simulator together as an ASGI application."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from simulator.api.bot_api import bot_api_routes
from simulator.api.config import SimulatorConfig
from simulator.api.page_api import page_routes
from simulator.api.simulation import Simulation, build_simulation


def create_app(config: SimulatorConfig) -> Starlette:
    """The Bot API and the chat page; `app.state.simulation` is the Simulation, and deliveries run within
    the lifespan. Its end cancels them at once: what was not taken is gone with the simulator.
    """
    app = Starlette(routes=[*bot_api_routes(), *page_routes()], lifespan=_lifespan)
    app.state.simulation = build_simulation(config)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncGenerator[None]:
    sim: Simulation = app.state.simulation
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(sim.delivery.run(), name="simulator-webhook-delivery"),
            tasks.create_task(sim.watch_deliveries(), name="simulator-deliveries-watch"),
        ]
        try:
            yield
        finally:
            sim.close()
            for task in running:
                task.cancel()
