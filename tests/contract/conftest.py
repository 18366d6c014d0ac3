"""Fixtures: the console on real embedded stores, and the history on both of its stores."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey
from memory.redis.client import open_redis
from tests.contract.console_rig import ConsoleRig, empty_stores, on_stores, settings_in
from tests.contract.memory_kit import FakeMemory, Memory, RedisMemory
from tests.stores import hold_open


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Embedded stores, kept running between the commands as a running bot does."""
    folder = tmp_path_factory.mktemp("console")
    with hold_open(open_valkey(folder)), hold_open(open_index_server(folder)):
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
