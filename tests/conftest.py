"""Fixtures of every test.

- `redis_url` (session): an embedded Valkey of this worker's own.
- `redis`: a client of it, emptied before the test; afterwards no key without a TTL may be left unlisted.
- `index_endpoint` (session): an embedded index server of this worker's own (`.url`, `.api_key`).
- `minilm` (session): the embedded embedder.
- always: sockets reach loopback only; an async test leaves no task behind; logging is as it was before; the settings
  of the developer's environment and `.env` are not seen.

TEST_REDIS_URL and TEST_QDRANT_URL (with TEST_QDRANT_API_KEY) name servers in place of the embedded ones. Then only the
tests that use them run, and the Redis must be empty at first: each test flushes it.
"""

import asyncio
import gc
import inspect
import logging
import os
import socket
from collections.abc import AsyncGenerator, Generator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import structlog
from hypothesis import HealthCheck, settings
from redis import utils as redis_utils

from bot.features.settings import AllSettings
from bot.settings import Settings
from memory.redis.client import RedisClient
from tests.stores import count_keys, empty, hold_open, real_redis, store_folder

if TYPE_CHECKING:
    from memory.embedded.supervisor import IndexEndpoint
    from memory.recall.embedders.minilm import MiniLMEmbedder

settings.register_profile(
    "mnemogram", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("quick", settings.get_profile("mnemogram"), max_examples=15)
settings.load_profile("mnemogram")

# Until all tests are collected: imports leave no garbage, and looking for it takes 4 s of CPU.
gc.disable()

_TASKS_END_WITHIN_S = 1.0
GIVEN_REDIS, GIVEN_QDRANT = os.environ.get("TEST_REDIS_URL"), os.environ.get("TEST_QDRANT_URL")
_SETTINGS = {name.upper() for name in AllSettings.model_fields}
_GIVEN = {"redis_url": GIVEN_REDIS, "index_endpoint": GIVEN_QDRANT}


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Start the embedded store as the product does. It ends by itself even if this process is killed."""
    if GIVEN_REDIS:
        assert asyncio.run(count_keys(GIVEN_REDIS)) == 0, (
            "TEST_REDIS_URL must name an empty server: tests flush it"
        )
        yield GIVEN_REDIS
        asyncio.run(empty(GIVEN_REDIS))
        return
    from memory.embedded.valkey import open_valkey

    with store_folder(tmp_path_factory) as folder, hold_open(open_valkey(folder)) as url:
        yield url


@pytest.fixture
async def redis(redis_url: str) -> AsyncGenerator[RedisClient]:
    """Return a client of an empty store."""
    async with real_redis(redis_url) as client:
        yield client


@pytest.fixture(scope="session")
def index_endpoint(tmp_path_factory: pytest.TempPathFactory) -> "Generator[IndexEndpoint]":
    """Start the embedded index server as the product does.

    Its collections are shared, so a test uses its own names.
    """
    from memory.embedded.supervisor import IndexEndpoint, open_index_server

    if GIVEN_QDRANT:
        yield IndexEndpoint(url=GIVEN_QDRANT, api_key=os.environ.get("TEST_QDRANT_API_KEY", ""))
        return
    with store_folder(tmp_path_factory) as folder, hold_open(open_index_server(folder)) as endpoint:
        yield endpoint


@pytest.fixture(scope="session", autouse=True)
def quick_connections() -> Generator[None]:
    """Compute once what redis-py computes for each connection, in 1 ms."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(redis_utils, "get_lib_version", cache(redis_utils.get_lib_version))
        yield


@pytest.fixture(scope="session")
def minilm() -> "MiniLMEmbedder":
    """Return the embedded embedder."""
    from memory.recall.embedders.minilm import MiniLMEmbedder

    return MiniLMEmbedder()


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the developer's environment and `.env` from the tests."""
    for name in _SETTINGS & os.environ.keys():
        monkeypatch.delenv(name)
    monkeypatch.setitem(cast("dict[str, Any]", Settings.model_config), "env_file", None)


@pytest.fixture(autouse=True)
def logs_as_before() -> Generator[None]:
    """Restore the logs after a test that runs the service."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Generator[None]:
    """Fail a test that connects to another machine or resolves its name."""
    connect, connect_ex, resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check_loopback(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check_loopback(self.family, address)
        return connect_ex(self, address)

    def guarded_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        _check_host(host)
        return resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket.socket, "connect", guarded_connect)
        patched.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patched.setattr(socket, "getaddrinfo", guarded_resolve)
        yield


@pytest.fixture
async def no_task_left() -> AsyncGenerator[None]:
    """Check that an async test leaves no task, soon after its fixtures have ended."""
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        _, left = await asyncio.wait(left, timeout=_TASKS_END_WITHIN_S)
    assert not left, f"tasks left behind: {sorted(task.get_name() for task in left if task)}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file whose tests are all slow, if `make test` leaves them out."""
    is_left_out = config.option.markexpr == "not slow" and collection_path.suffix == ".py"
    return (
        True if is_left_out and "\npytestmark = pytest.mark.slow\n" in collection_path.read_text() else None
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage among what the tests make, as the product does, and not among modules and tests."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put `no_task_left` first, so that it is torn down last. With servers given, leave out tests without them."""
    given = {name for name, url in _GIVEN.items() if url}
    if given:
        left_out = [item for item in items if not given & {*getattr(item, "fixturenames", ())}]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(getattr(item, "function", None)):
            item.fixturenames.insert(0, "no_task_left")


def _check_loopback(family: int, address: Any) -> None:
    if family in {socket.AF_INET, socket.AF_INET6}:
        _check_host(address[0])


def _check_host(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name and not (name in {"localhost", "::1"} or name.startswith("127.")):
        raise AssertionError(f"a test reached for {name}: only loopback is allowed")
