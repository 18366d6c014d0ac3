"""Durable writes with replicas, and lost connections of the driver."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import hiredis
import pytest
from redis.exceptions import ResponseError

from chaos.rig.program import until_it_is
from chaos.rig.system import free_port
from memory.errors import StoreNotDurable, StoreUnavailable
from memory.keys import Key
from memory.redis import client as redis_client
from memory.redis.client import RedisClient, open_redis
from tests.stores import plain_valkey
from tests.typed_scripts import set_value


class OldServer:
    """Stands for redis-py's client, pool and connection on a server without WAITAOF, with writes on `copies` replicas.

    With `is_closed` a command finds its connection closed, as redis-py 8 does in a failover.
    """

    def __init__(self, *, copies: int = 0, is_closed: bool = False) -> None:
        self.connection_pool = self
        self.response_callbacks: dict[str, Any] = {}
        self.socket_timeout: float | None = None
        self.asked: list[list[bytes]] = []
        self._copies = copies
        self._is_closed = is_closed
        self._answered = 0

    async def get_connection(self) -> "OldServer":
        return self

    async def send_packed_command(self, command: bytes, check_health: bool = True) -> None:
        if self._is_closed:
            raise AttributeError("'NoneType' object has no attribute 'writelines'")
        reader = hiredis.Reader()
        reader.feed(command)
        while asked := reader.gets():
            self.asked.append(asked)

    async def read_response(self) -> Any:
        self._answered += 1
        verb = self.asked[self._answered - 1][0]
        if verb == b"WAITAOF":
            raise ResponseError("unknown command 'WAITAOF'")
        return self._copies if verb == b"WAIT" else "OK"

    async def connect(self) -> None:
        """Do nothing: it is always open."""

    async def disconnect(self, nowait: bool = False) -> None:
        """Stay open."""

    async def aclose(self) -> None:
        """Close nothing: nothing is open."""


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
    assert server.asked[-1] == [b"WAIT", b"1", b"%d" % redis_client.DURABLE_WAIT_MS]


async def test_a_connection_closed_during_a_command_means_unavailable() -> None:
    redis = RedisClient(OldServer(is_closed=True), max_connections=1)
    with pytest.raises(StoreUnavailable):
        await redis.call("GET", "key")


async def _write(redis: RedisClient) -> str:
    try:
        return await redis.run_durably(set_value(key=Key("key"), value="v"))
    except StoreNotDurable:
        return "not yet"
