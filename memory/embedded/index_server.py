"""The embedded index: a server of our own that answers the part of Qdrant's REST API that we use."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memory.embedded.data_dir import prepare_directory
from memory.embedded.guardian import load_port
from memory.embedded.supervisor import EmbeddedServer, is_answering, use_server

_READY_REQUEST = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEndpoint:
    """The address of the index, and the key that every request carries in the header `api-key`."""

    url: str
    api_key: str = field(repr=False)


@contextlib.asynccontextmanager
async def open_index_server(data_dir: Path) -> AsyncGenerator[IndexEndpoint]:
    """Open the index under `data_dir`, which all processes share; for `AsyncQdrantClient(url=…)`.

    An acknowledged write is on the disk. Address and key stay the same when the server dies and comes back, and a new
    connection waits meanwhile. Raises the errors of memory.embedded.errors.
    """
    directory = prepare_directory(data_dir, "index")
    server = EmbeddedServer(
        directory=directory,
        command=(sys.executable, "-m", "memory.embedded.index.server", str(directory)),
        is_ready=partial(answers_ready, directory / "endpoint"),
        listens=True,
    )
    async with use_server(server):
        port, api_key = load_port(directory / "endpoint"), (directory / "api-key").read_text()
        yield IndexEndpoint(url=f"http://127.0.0.1:{port}", api_key=api_key)


async def answers_ready(record: Path) -> bool:
    """Return True if the server on the recorded port has loaded its collections."""
    connecting = asyncio.open_connection("127.0.0.1", load_port(record))
    return await is_answering(connecting, _READY_REQUEST, b" 200 ")
