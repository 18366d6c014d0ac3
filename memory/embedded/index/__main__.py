"""The entry of the index server: `python -m memory.embedded.index --directory DIR`, its socket as stdin."""

import argparse
import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from memory.embedded.index.front import build_front
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.index.upkeep import UpkeepTimes, keep_up
from memory.embedded.index.vacuum import Reached, go_on


def main() -> int:
    """Serve until SIGTERM; then flush and close."""
    times = UpkeepTimes()
    parser = argparse.ArgumentParser(prog="index")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--quiet", type=float, default=times.quiet, help="seconds of silence before a vacuum")
    parser.add_argument(
        "--patience", type=float, default=times.patience, help="seconds before a vacuum without silence"
    )
    wanted = parser.parse_args()
    os.umask(0o077)
    listener = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    times = UpkeepTimes(quiet=wanted.quiet, patience=wanted.patience)
    asyncio.run(serve(wanted.directory, listener, times))
    return 0


async def serve(
    directory: Path, listener: socket.socket, times: UpkeepTimes, *, reached: Reached = go_on
) -> None:
    """Answer on a listening socket; the collections of the folder are loaded before the first answer."""
    switchboard = await Switchboard.open(directory, _end_without_shards)
    config = uvicorn.Config(
        build_front(switchboard),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    # Having shut down, uvicorn raises the signal again that told it to: the process would end here, nothing flushed.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_up(switchboard, times, reached=reached), name="index upkeep")
            await uvicorn.Server(config).serve(sockets=[listener])
            upkeep.cancel()
    finally:
        await switchboard.close()


def _end_without_shards() -> None:
    """Whoever guards us starts everything afresh, from the log of writes."""
    sys.stderr.write("index: a process with shards ended by itself\n")
    sys.stderr.flush()
    os._exit(70)


if __name__ == "__main__":
    sys.exit(main())
