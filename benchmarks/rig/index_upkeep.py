"""An index server whose upkeep can be watched: how long a vacuum takes, and what it does to searches meanwhile."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory.embedded.data_dir import prepare_directory
from memory.embedded.endpoint import load_port
from memory.embedded.index.folders import current_shard
from memory.embedded.index_server import answers_ready
from memory.embedded.supervisor import EmbeddedServer, supervised

_GIVE_UP_AFTER_S = 1_800.0
_BETWEEN_S = 0.02
"""Between two searches: what is measured is how long they wait, not how much is left for a vacuum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the index is. `directory` is of the embedded one: a Qdrant server's upkeep cannot be watched."""

    url: str
    api_key: str | None
    directory: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """How long one took, and the slowest of so many searches while it ran and of as many after it."""

    seconds: float
    searches: int
    slowest_ms: float
    slowest_apart_ms: float


@asynccontextmanager
async def index_server(url: str | None) -> AsyncGenerator[Server]:
    """The server at this address (QDRANT_API_KEY is its key), or an embedded one that ends with us.

    The upkeep of the embedded one does not wait for silence: garbage is vacuumed after a second.
    """
    if url is not None:
        yield Server(url=url, api_key=os.environ.get("QDRANT_API_KEY"))
        return
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as parent:
        directory = prepare_directory(Path(parent), "index")
        command = (sys.executable, "-m", "memory.embedded.index", "--directory", str(directory))
        embedded = EmbeddedServer(
            directory=directory,
            command=(*command, "--patience", "1"),
            is_ready=partial(answers_ready, directory / "endpoint"),
            listens=True,
        )
        async with supervised(embedded):
            port = load_port(directory / "endpoint")
            key = (directory / "api-key").read_text()
            yield Server(url=f"http://127.0.0.1:{port}", api_key=key, directory=directory)


async def watch_vacuum(folder: Path, search: Callable[[], Awaitable[object]]) -> Vacuum:
    """Search one after another while the collection of this folder, which has garbage, is vacuumed.

    Raises TimeoutError where that does not come to be.
    """
    former = current_shard(folder)
    begun_at: float | None = None
    during: list[float] = []
    deadline = time.monotonic() + _GIVE_UP_AFTER_S
    while current_shard(folder) == former:
        if time.monotonic() > deadline:
            raise TimeoutError("the collection was not vacuumed")
        if begun_at is None and _count_shards(folder) > 1:
            begun_at = time.perf_counter()
        spent = await time_ms(search)
        if begun_at is not None:
            during.append(spent)
        await asyncio.sleep(_BETWEEN_S)
    seconds = time.perf_counter() - (begun_at or time.perf_counter())
    apart = [await time_ms(search) for _ in during]
    return Vacuum(
        seconds=seconds,
        searches=len(during),
        slowest_ms=max(during, default=0.0),
        slowest_apart_ms=max(apart, default=0.0),
    )


async def time_ms(ask: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds on the clock."""
    started = time.perf_counter()
    await ask()
    return (time.perf_counter() - started) * 1000


def _count_shards(folder: Path) -> int:
    return sum(path.is_dir() for path in folder.glob("shard*"))
