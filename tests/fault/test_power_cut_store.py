"""The store's files after a power cut, the server's reaction to them, and our repair."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which

import pytest

from chaos.rig.power_cut_store import SOCKET, PowerCutStore, power_cut_store
from memory.embedded.valkey import server_options, valkey_binary
from memory.errors import CommandRefused
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import ask_info, check_store_format, rewrite_torn_file

TORN_OFF = len("*1\r\n$4\r\nEXEC\r\n") + 3


def _valkey(directory: Path) -> Sequence[str]:
    return [str(valkey_binary()), *server_options(directory, directory / SOCKET)]


def _redis(directory: Path) -> Sequence[str]:
    redis = which("redis-server")
    assert redis is not None, "Debian: redis-server"
    options = {"--port": "0", "--unixsocket": str(directory / SOCKET), "--dir": str(directory), "--save": ""}
    durable = {"--appendonly": "yes", "--appendfsync": "always"}
    return [redis, *(part for pair in (options | durable).items() for part in pair)]


def _cut_off(store: PowerCutStore, length: int) -> None:
    """Truncate the store's first file by this many bytes."""
    path = store.directory / "appendonlydir" / "appendonly.aof.1.incr.aof"
    os.truncate(path, path.stat().st_size - length)


@asynccontextmanager
async def _begun_behind_half_a_transaction(
    command: Callable[[Path], Sequence[str]], directory: Path
) -> AsyncGenerator[tuple[PowerCutStore, RedisClient]]:
    async with power_cut_store(directory, command(directory)) as store, open_redis(store.url) as redis:
        await redis.call("EVAL", "redis.call('SET', 'half', 1) redis.call('SET', 'other half', 1)", 0)
        await store.kill()
        _cut_off(store, TORN_OFF)
        await store.start()
        yield store, redis


async def _after_another_kill(store: PowerCutStore, redis: RedisClient) -> tuple[bool, bool]:
    """Return True if the store has its acknowledged data, and half of the rest."""
    await store.kill()
    await store.start()
    acknowledged, half = await redis.calls([("EXISTS", "acknowledged"), ("EXISTS", "half")])
    return bool(acknowledged), bool(half)


@pytest.mark.parametrize("server", [_valkey, _redis])
async def test_a_store_that_refuses_a_torn_file_starts_at_the_second_try(
    server: Callable[[Path], Sequence[str]], tmp_path: Path
) -> None:
    """docs/operating.md promises this: the torn end is removed, and later writes stay."""
    directory = tmp_path / "store"
    async with power_cut_store(directory, server(directory)) as store:
        async with open_redis(store.url) as redis:
            await redis.calls([("SET", "kept", "1"), ("SET", "torn", "1")])
            # The rewriting takes a second for each key, so that the cut falls into it.
            await redis.call("CONFIG", "SET", "rdb-key-save-delay", 1_000_000)
            await redis.calls([("BGREWRITEAOF",), ("SET", "later", "1")])
        await store.kill()
        _cut_off(store, 1)

        await store.start()

        assert store.refused == 1
        async with open_redis(store.url) as redis:
            assert await redis.calls([("EXISTS", key) for key in ("kept", "torn", "later")]) == [1, 0, 1]


async def test_data_acknowledged_after_a_torn_transaction_survives_the_repair(tmp_path: Path) -> None:
    async with _begun_behind_half_a_transaction(_redis, tmp_path / "store") as (store, redis):
        await redis.call("SET", "acknowledged", 1)

        assert await rewrite_torn_file(redis) is True

        await store.until_mended()
        assert await rewrite_torn_file(redis) is False
        assert await _after_another_kill(store, redis) == (True, False)


async def test_a_server_is_rewritten_after_a_restart_over_our_data_and_not_at_its_first_start(
    tmp_path: Path,
) -> None:
    directory = tmp_path / "store"
    async with power_cut_store(directory, _redis(directory)) as store, open_redis(store.url) as redis:
        await check_store_format(redis, partitions=1)
        assert await rewrite_torn_file(redis) is False
        assert await _last_rewrite_s(redis) == -1

        await store.kill()
        await store.start()

        assert await rewrite_torn_file(redis) is True
        await store.until_mended()
        for _ in range(2):  # the first notes that the file is whole
            assert await rewrite_torn_file(redis) is False
        assert await _last_rewrite_s(redis) >= 0


async def _last_rewrite_s(redis: RedisClient) -> int:
    (persistence,) = await ask_info(redis, "persistence")
    return persistence["aof_last_rewrite_time_sec"]


async def test_a_missing_permission_to_repair_is_reported(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    async with power_cut_store(directory, _redis(directory)) as store:
        async with open_redis(store.url) as redis:
            await redis.call("ACL", "SETUSER", "limited", "on", ">word", "~*", "+@all", "-bgrewriteaof")
        async with open_redis(store.url.replace("unix://", "unix://limited:word@")) as redis:
            with pytest.raises(CommandRefused, match="bgrewriteaof"):
                await rewrite_torn_file(redis)


async def test_the_embedded_store_needs_no_repair(tmp_path: Path) -> None:
    async with _begun_behind_half_a_transaction(_valkey, tmp_path / "store") as (store, redis):
        await redis.call("SET", "acknowledged", 1)

        assert await rewrite_torn_file(redis) is False
        assert await _after_another_kill(store, redis) == (True, False)
