"""Entry of the index server: `python -m memory.embedded.index --directory DIR`, with its listening socket as stdin."""

import argparse
import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from memory.embedded.index.app import IndexApp, load_api_key
from memory.embedded.index.collections import Collections
from memory.embedded.index.upkeep import Reached, UpkeepTimes, go_on, keep_up


def main() -> int:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="index")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument(
        "--patience", type=float, default=UpkeepTimes().patience, help="seconds before a vacuum in busy times"
    )
    options = parser.parse_args()
    os.umask(0o077)
    listener = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    asyncio.run(serve(options.directory, listener, UpkeepTimes(patience=options.patience)))
    return 0


async def serve(
    directory: Path, listener: socket.socket, times: UpkeepTimes, *, reached: Reached = go_on
) -> None:
    """Answer on a listening socket, after all collections are loaded; at the end flush and close them."""
    collections = Collections(directory / "collections")
    config = uvicorn.Config(
        IndexApp(collections, load_api_key(directory / "api-key")),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    # After its shutdown uvicorn raises the signal again. The process would end before the flush.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_up(collections, times, reached=reached), name="index upkeep")
            await uvicorn.Server(config).serve(sockets=[listener])
            upkeep.cancel()
    finally:
        await collections.close()


if __name__ == "__main__":
    sys.exit(main())
