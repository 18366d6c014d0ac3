"""Real stores for tests: a clean Redis client, the index server, and a check for stray keys."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from shutil import disk_usage, which
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

import pytest
from anyio.from_thread import start_blocking_portal

from memory.embedded.valkey import answers_ping, valkey_binary
from memory.keys import CONTEXT_KEYS, GLOBAL_KEYS, PARTITION_KEYS, PREFIX, WORK_KEYS
from memory.redis.client import RedisClient, open_redis

T = TypeVar("T")
REDIS = which("redis-server")
"""Debian's Redis, None if it is not installed."""

_MEMORY, _MUCH_MEMORY = Path("/dev", "shm"), 4 * 1024**3
"""A file system in memory, and its free space from which on it is used."""
_PLACES = (
    ("{m*}:ctx:*:%s", CONTEXT_KEYS),
    ("{m*}:%s:*", WORK_KEYS),
    ("{m*}:%s", PARTITION_KEYS),
    ("%s", GLOBAL_KEYS),
)
_PERMANENT = [
    f"{PREFIX}:{place % name}{':*' if kind.parts else ''}"
    for place, kinds in _PLACES
    for name, kind in kinds.items()
    if not kind.expires
]


@contextmanager
def hold_open(resource: AbstractAsyncContextManager[T]) -> Generator[T]:
    """Keep an async resource open in its own loop and thread, for fixtures that outlive a test's loop."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(resource) as opened:
        yield opened


@contextmanager
def store_folder(factory: pytest.TempPathFactory) -> Generator[Path]:
    """Yield an empty folder, in memory if the system has much of it: there a durable write takes no time."""
    if not _MEMORY.is_dir() or disk_usage(_MEMORY).free < _MUCH_MEMORY:
        yield factory.mktemp("store")
        return
    with TemporaryDirectory(prefix="mnemogram-", dir=_MEMORY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@asynccontextmanager
async def real_redis(url: str) -> AsyncGenerator[RedisClient]:
    """Return a client of an empty server.

    All its databases are flushed first. Fail if a stray key is left.
    """
    async with open_redis(url) as redis:
        await redis.call("FLUSHALL")
        yield redis
        assert await stray_keys(redis) == [], "keys without a TTL that memory/keys.py does not list"


async def empty(url: str) -> None:
    """Delete all keys of a server."""
    async with open_redis(url) as redis:
        await redis.call("FLUSHALL")


async def count_keys(url: str) -> int:
    """Return the number of keys of a server."""
    async with open_redis(url) as redis:
        return sum(await redis.ask_each("DBSIZE"))


@asynccontextmanager
async def plain_valkey(directory: Path, *, program: str = "", **settings: str) -> AsyncGenerator[str]:
    """Run a Valkey with the server's defaults and these settings (`_` for `-`), on its own socket.

    `program` is another server, such as REDIS.
    """
    socket = directory / "plain.sock"
    options = {"port": "0", "unixsocket": str(socket), "dir": str(directory), **settings}
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    # SIGXFSZ stays ignored, so that a limit of its files is a failed write, as on a full disk.
    server = await asyncio.create_subprocess_exec(
        program or valkey_binary(), *arguments, stdout=asyncio.subprocess.DEVNULL, restore_signals=False
    )
    try:
        async with asyncio.timeout(10):
            while server.returncode is None and not await answers_ping(socket):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield f"unix://{socket}"
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


async def stray_keys(redis: RedisClient) -> list[str]:
    """Return the keys that have no TTL and are not listed as permanent."""
    keys = await all_keys(redis)
    ttls = await redis.calls([("PTTL", key) for key in keys]) if keys else []
    return [key for key, ttl in zip(keys, ttls, strict=True) if ttl == -1 and not _is_permanent(key)]


async def all_keys(redis: RedisClient) -> list[str]:
    """Return every key of the server or of the whole cluster, sorted."""
    return sorted({key for keys in await redis.ask_each("KEYS", "*") for key in cast("list[str]", keys)})


def _is_permanent(key: str) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in _PERMANENT)
