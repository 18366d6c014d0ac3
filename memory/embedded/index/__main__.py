"""The entry of the index process: `python -m memory.embedded.index --directory DIR`, its socket as stdin."""

import argparse
import asyncio
import os
import secrets
import socket
import sys
from pathlib import Path

import uvicorn

from memory.embedded.index.app import build_app
from memory.embedded.index.collections import Collections
from memory.embedded.index.upkeep import UpkeepTimes, keep_up


def main() -> int:
    """Serve until SIGTERM; then flush and close."""
    parser = argparse.ArgumentParser(prog="index")
    parser.add_argument("--directory", type=Path, required=True)
    directory: Path = parser.parse_args().directory
    os.umask(0o077)
    asyncio.run(serve(directory, socket.socket(fileno=os.dup(sys.stdin.fileno()))))
    return 0


async def serve(directory: Path, listener: socket.socket) -> None:
    """Answer on a listening socket; the collections of the folder are loaded before the first answer."""
    api_key = load_api_key(directory / "api-key")
    collections = Collections.open(directory / "collections")
    config = uvicorn.Config(
        build_app(collections, api_key),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    upkeep = asyncio.create_task(keep_up(collections, UpkeepTimes()), name="index upkeep")
    try:
        await uvicorn.Server(config).serve(sockets=[listener])
    finally:
        upkeep.cancel()
        await asyncio.gather(upkeep, return_exceptions=True)
        collections.close()


def load_api_key(path: Path) -> str:
    """The key of this folder, made at its first start; whoever may read the file may use the index."""
    if path.exists() and (key := path.read_text()):
        return key
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(secrets.token_urlsafe(32))
    fresh.replace(path)
    return path.read_text()


if __name__ == "__main__":
    sys.exit(main())
