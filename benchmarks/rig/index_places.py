"""Places of an index for benchmarks: embedded, at an address, and a server that sends as Qdrant does."""

import argparse
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory.embedded.data_dir import prepare_directory
from memory.embedded.guardian import load_port
from memory.embedded.supervisor import EmbeddedServer, answers_ready, use_server
from rig.surroundings import ROOT, answers, child, free_port, until

_SERVER = """
import asyncio, sys
from pathlib import Path
from memory.embedded.index.server import serve
from memory.embedded.index.server import UpkeepTimes

asyncio.run(serve(Path(sys.argv[1]), UpkeepTimes(patience=1.0)))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The address of the index, and the folder of an embedded one."""

    url: str
    api_key: str | None
    directory: Path | None = None


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options for a server that is measured beside the embedded index."""
    server = parser.add_mutually_exclusive_group()
    server.add_argument(
        "--qdrant-url", help="a Qdrant server, beside the embedded index (QDRANT_API_KEY is its key)"
    )
    server.add_argument(
        "--like-qdrant",
        action="store_true",
        help="the embedded index behind a server that sends as Qdrant does",
    )


@asynccontextmanager
async def index_at(url: str) -> AsyncGenerator[Server]:
    """Yield the server at this address."""
    yield Server(url=url, api_key=os.environ.get("QDRANT_API_KEY"))


@asynccontextmanager
async def embedded_index() -> AsyncGenerator[Server]:
    """Start an embedded index, which vacuums garbage after a second, without waiting for a quiet moment."""
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as parent:
        directory = prepare_directory(Path(parent), "index")
        embedded = EmbeddedServer(
            directory=directory,
            command=(sys.executable, "-c", _SERVER, str(directory)),
            is_ready=partial(answers_ready, directory / "endpoint"),
            listens=True,
        )
        async with use_server(embedded):
            port = load_port(directory / "endpoint")
            key = (directory / "api-key").read_text()
            yield Server(url=f"http://127.0.0.1:{port}", api_key=key, directory=directory)


@asynccontextmanager
async def index_like_qdrant() -> AsyncGenerator[Server]:
    """Start an embedded index behind a server that sends its answers as Qdrant does, in a process of its own."""
    async with embedded_index() as index, server_like_qdrant(index.url) as url:
        yield Server(url=url, api_key=index.api_key)


@asynccontextmanager
async def server_like_qdrant(index_url: str) -> AsyncGenerator[str]:
    """Start a server that sends the answers of this index as Qdrant does. Yield its address."""
    port = free_port()
    command = (sys.executable, "-m", "tests.qdrant_manners", index_url, str(port))
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as parent:
        log = Path(parent) / "server.log"
        async with child(*command, log=log, environment={"PYTHONPATH": ROOT}):
            await until(partial(answers, port), "the server like Qdrant is ready")
            yield f"http://127.0.0.1:{port}"
