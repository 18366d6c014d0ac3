"""The embedded store keeps what it acknowledged, and is reached as redis-py reaches any server."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from memory.embedded.errors import ServerMissing
from memory.embedded.valkey import open_valkey, valkey_binary

WRITE_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
import redis.asyncio as redis
from memory.embedded.valkey import open_valkey

async def write(data_dir):
    async with open_valkey(Path(data_dir)) as url:
        client = redis.Redis.from_url(url)
        number = 0
        while True:
            number += 1
            await client.set(f"n{number}", number)
            print(number, flush=True)

asyncio.run(write(sys.argv[1]))
"""


def patient(url: str) -> redis.Redis:
    """A client that tries again for as long as a server takes to come back."""
    retry = Retry(ConstantBackoff(0.05), 100)
    return redis.Redis.from_url(
        url, retry=retry, retry_on_error=[RedisConnectionError, redis.BusyLoadingError]
    )


async def test_the_store_is_durable_never_evicts_and_opens_no_port(tmp_path: Path) -> None:
    async with open_valkey(tmp_path) as url, redis.Redis.from_url(url, decode_responses=True) as client:
        wanted = {
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory-policy": "noeviction",
            "save": "",
            "port": "0",
            "protected-mode": "yes",
        }
        assert await client.config_get(*wanted) == wanted


async def test_a_folder_with_any_name_is_a_good_url(tmp_path: Path) -> None:
    async with open_valkey(tmp_path / "d a#t?a%20é") as url, redis.Redis.from_url(url) as client:
        assert await client.ping()


async def test_an_acknowledged_write_survives_a_kill_of_the_server(tmp_path: Path) -> None:
    async with open_valkey(tmp_path) as url, patient(url) as client:
        await client.set("kept", "yes")
        os.kill((await client.info("server"))["process_id"], signal.SIGKILL)
        assert await client.get("kept") == b"yes"


async def test_acknowledged_writes_survive_a_kill_of_everything(tmp_path: Path) -> None:
    acknowledged = write_until_everything_is_killed(tmp_path)
    async with open_valkey(tmp_path) as url, redis.Redis.from_url(url) as client:
        values = await client.mget([f"n{number}" for number in range(1, acknowledged + 1)])
    assert values == [str(number).encode() for number in range(1, acknowledged + 1)]


def write_until_everything_is_killed(data_dir: Path) -> int:
    """The number of the last write that the writer saw acknowledged."""
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(50)]
        server = int((data_dir / "valkey" / "server.lock").read_text())
        parent = subprocess.run(["ps", "-o", "ppid=", "-p", str(server)], capture_output=True, check=True)
        for pid in (int(parent.stdout), server, writer.pid):
            os.kill(pid, signal.SIGKILL)
        return int([*told, *writer.stdout][-1])


async def test_two_openings_are_one_store(tmp_path: Path) -> None:
    async with (
        open_valkey(tmp_path) as one,
        open_valkey(tmp_path) as other,
        redis.Redis.from_url(one) as writer,
        redis.Redis.from_url(other) as reader,
    ):
        await writer.set("shared", "1")
        assert await reader.get("shared") == b"1"


def test_a_platform_without_the_binary_is_told_to_set_redis_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ServerMissing, match="REDIS_URL"):
        valkey_binary()
