"""Run telemelya's Bot API and control API without the object store that its own start requires."""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from telemelya.server.bot_api import router as bot_api  # pyright: ignore[reportMissingTypeStubs]
from telemelya.server.control_api import router as control_api  # pyright: ignore[reportMissingTypeStubs]
from telemelya.server.state import state_manager  # pyright: ignore[reportMissingTypeStubs] - the same


@asynccontextmanager
async def _state(_: FastAPI) -> AsyncGenerator[None]:
    await state_manager.connect()
    yield
    await state_manager.close()


async def main() -> None:
    """Serve on a free port of loopback until SIGTERM; its first line of output is the address."""
    app = FastAPI(lifespan=_state)
    app.include_router(bot_api)
    app.include_router(control_api)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main())
