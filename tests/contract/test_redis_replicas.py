"""Durable writes with replicas, and lost connections of the driver."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ResponseError

from chaos.rig.program import until_it_is
from chaos.rig.system import free_port
from memory.errors import StoreNotDurable, StoreUnavailable
from memory.keys import Key
from memory.redis import client as redis_client
from memory.redis.client import Command, RedisClient, open_redis
from tests.stores import plain_valkey
from tests.typed_scripts import set_value


class OldServer:
    """Stands for redis-py on a server without WAITAOF, with writes on `copies` replicas.

    A single command finds its connection closed, as redis-py 8 does in a failover.
    """

    def __init__(self, *, copies: int = 0) -> None:
        self.copies = copies
        self.asked: list[Command] = []

    async def execute_command(self, *args: str | int | float | bytes) -> Any:
        raise AttributeError("'NoneType' object has no attribute 'writelines'")

    def pipeline(self, transaction: bool = True) -> "Pipeline":
        return Pipeline(self)

    async def aclose(self) -> None:
        """Close nothing: nothing is open."""


class Pipeline:
    """The commands of one round trip to it."""

    def __init__(self, server: OldServer) -> None:
        self._server = server
        self._commands: list[Command] = []

    def execute_command(self, *args: str | int | float | bytes) -> None:
        self._commands.append(args)

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        self._server.asked += self._commands
        return [self._answer(str(command[0])) for command in self._commands]

    def _answer(self, verb: str) -> Any:
        if verb == "WAITAOF":
            return ResponseError("unknown command 'WAITAOF'")
        return self._server.copies if verb == "WAIT" else "OK"


@asynccontextmanager
async def run_primary(directory: Path) -> AsyncGenerator[tuple[int, RedisClient]]:
    """Yield its port, and a client whose durable writes need one replica."""
    port = free_port()
    async with (
        plain_valkey(directory, port=str(port), appendonly="yes", appendfsync="always") as url,
        open_redis(url, replicas=1) as redis,
    ):
        await redis.call("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        yield port, redis


async def test_a_write_without_a_replica_in_time_is_not_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "DURABLE_WAIT_MS", 50)
    async with run_primary(tmp_path) as (_, redis):
        with pytest.raises(StoreNotDurable):
            await redis.run_durably(set_value(key=Key("key"), value="v"))


async def test_a_write_on_a_replica_is_durable(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    async with run_primary(tmp_path) as (port, redis):
        following = {"appendonly": "yes", "appendfsync": "always", "replicaof": f"127.0.0.1 {port}"}
        async with plain_valkey(tmp_path / "copy", **following) as copy_url, open_redis(copy_url) as copy:
            # Its append-only file is begun anew after it has got everything.
            await until_it_is("OK", partial(_write, redis), within_s=15)
            assert await copy.call("GET", "key") == "v"


@pytest.mark.parametrize(("copies", "is_durable"), [(0, False), (1, True), (2, True)])
async def test_a_server_without_waitaof_is_asked_with_wait(copies: int, is_durable: bool) -> None:
    server = OldServer(copies=copies)
    redis = RedisClient(server, max_connections=1, replicas=1)
    if is_durable:
        assert await redis.run_durably(set_value(key=Key("key"), value="v")) == "OK"
    else:
        with pytest.raises(StoreNotDurable):
            await redis.run_durably(set_value(key=Key("key"), value="v"))
    assert server.asked[-1] == ("WAIT", 1, redis_client.DURABLE_WAIT_MS)


async def test_a_connection_closed_during_a_command_means_unavailable() -> None:
    redis = RedisClient(OldServer(), max_connections=1)
    with pytest.raises(StoreUnavailable):
        await redis.call("GET", "key")


async def _write(redis: RedisClient) -> str:
    try:
        return await redis.run_durably(set_value(key=Key("key"), value="v"))
    except StoreNotDurable:
        return "not yet"
