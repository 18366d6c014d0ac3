"""Fixtures: the console on real embedded stores, and the history on both of its stores."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from uuid import uuid4

import pytest

from memory.embedded.supervisor import IndexEndpoint, open_index_server
from memory.embedded.valkey import open_valkey
from memory.recall.qdrant.index import open_qdrant
from memory.recall.vector_index import VectorIndex
from memory.redis.client import open_redis
from tests.contract.console_rig import ConsoleRig, empty_stores, on_stores, settings_in
from tests.contract.memory_kit import FakeMemory, Memory, RedisMemory
from tests.contract.vector_kit import make_index, open_local_client
from tests.fakes.vector_index import InMemoryIndex
from tests.stores import hold_open, store_folder


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Embedded stores, kept running between the commands as a running bot does."""
    with (
        store_folder(tmp_path_factory) as folder,
        hold_open(open_valkey(folder)),
        hold_open(open_index_server(folder)),
    ):
        yield folder


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> ConsoleRig:
    """The console on empty stores."""
    settings_in(monkeypatch, tmp_path, data_dir)
    on_stores(empty_stores())
    return ConsoleRig(capsys)


@pytest.fixture(params=["redis", "memory"])
async def memory(request: pytest.FixtureRequest, redis_url: str) -> AsyncGenerator[Memory]:
    """A history on Redis, and its fake. Both keep the same promises."""
    if request.param == "memory":
        yield FakeMemory()
        return
    async with open_redis(redis_url) as redis:
        await redis.call("FLUSHALL")
        yield RedisMemory(redis)


@pytest.fixture(params=["server", "local", "memory"])
async def any_index(
    request: pytest.FixtureRequest, index_endpoint: IndexEndpoint
) -> AsyncGenerator[VectorIndex]:
    """A vector index on the embedded server, in qdrant-client's local mode, and in memory."""
    if request.param == "memory":
        yield InMemoryIndex()
    elif request.param == "local":
        async with open_local_client() as client:
            yield make_index(client)
    else:
        async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as client:
            yield make_index(client)


@pytest.fixture
def chat() -> str:
    """Return a context id for this test alone: erasing and counting cover all collections of a shared server."""
    return uuid4().hex
