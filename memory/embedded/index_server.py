"""The embedded index: a server of our own that speaks the part of Qdrant's REST API that we use."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memory.embedded.data_dir import prepare_directory
from memory.embedded.endpoint import load_port
from memory.embedded.errors import data_dir_failure
from memory.embedded.supervisor import EmbeddedServer, supervised

READY_TIMEOUT_S = 2.0
_READY_REQUEST = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEndpoint:
    """Where the index answers, and the key that every request carries (header `api-key`)."""

    url: str
    api_key: str = field(repr=False)


@contextlib.asynccontextmanager
async def open_index_server(data_dir: Path) -> AsyncGenerator[IndexEndpoint]:
    """The index under `data_dir`, shared by all processes that open it; for `AsyncQdrantClient(url=…)`.

    A write that was answered is on the disk. Address and key stay good when the server dies and is brought
    back; a request made meanwhile waits. Raises the errors of memory.embedded.errors.
    """
    directory = prepare_directory(data_dir, "index")
    server = EmbeddedServer(
        directory=directory,
        command=(sys.executable, "-m", "memory.embedded.index", "--directory", str(directory)),
        is_ready=partial(answers_ready, directory / "endpoint"),
        listens=True,
    )
    async with supervised(server):
        try:
            port = load_port(directory / "endpoint")
            api_key = (directory / "api-key").read_text()
        except OSError as error:
            raise data_dir_failure(directory, error) from error
        yield IndexEndpoint(url=f"http://127.0.0.1:{port}", api_key=api_key)


async def answers_ready(record: Path) -> bool:
    """Does the server on the recorded port say that its collections are loaded?"""
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", load_port(record))
            try:
                writer.write(_READY_REQUEST)
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return False
