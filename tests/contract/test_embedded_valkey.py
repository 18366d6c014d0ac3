"""The embedded store keeps every acknowledged write, and serves clients like any other server."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from memory.embedded.valkey import open_valkey, valkey_binary
from memory.errors import ServerMissing, StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import read_setting

WRITE_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
from memory.embedded.valkey import open_valkey
from memory.redis.client import open_redis

async def write(data_dir):
    async with open_valkey(Path(data_dir)) as url, open_redis(url) as client:
        number = 0
        while True:
            number += 1
            await client.call("SET", f"n{number}", number)
            print(number, flush=True)

asyncio.run(write(sys.argv[1]))
"""


async def patiently(client: RedisClient, *command: str) -> Any:
    """Return the reply when the server is back."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return await client.call(*command)
        except StoreUnavailable:
            assert time.monotonic() < deadline, "the server does not come back"
            await asyncio.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
async def test_the_servers_processes_get_only_the_environment_that_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    async with open_valkey(tmp_path):
        environment = guardian_environment(tmp_path / "valkey" / "server.lock")

    assert b"PATH=" in environment
    assert b"canary-key" not in environment


def guardian_environment(server_lock: Path) -> bytes:
    """Return the environment of the guardian: the server overwrites its own."""
    status = Path(f"/proc/{int(server_lock.read_text())}/status").read_text()
    return Path(f"/proc/{status.partition('PPid:')[2].split()[0]}/environ").read_bytes()


async def test_the_store_is_durable_evicts_nothing_and_opens_no_port(tmp_path: Path) -> None:
    wanted = {
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "save": "",
        "port": "0",
        "protected-mode": "yes",
    }
    async with open_valkey(tmp_path) as url, open_redis(url) as client:
        assert {name: await read_setting(client, name) for name in wanted} == {
            n: [value] for n, value in wanted.items()
        }


async def test_a_folder_with_any_name_makes_a_valid_url(tmp_path: Path) -> None:
    async with open_valkey(tmp_path / "d a#t?a%20é") as url, open_redis(url) as client:
        assert await client.is_alive()


async def test_an_acknowledged_write_survives_a_kill_of_the_server(tmp_path: Path) -> None:
    async with open_valkey(tmp_path) as url, open_redis(url) as client:
        await client.call("SET", "kept", "yes")
        os.kill(int((tmp_path / "valkey" / "server.lock").read_text()), signal.SIGKILL)
        assert await patiently(client, "GET", "kept") == "yes"


async def test_acknowledged_writes_survive_a_kill_of_everything(tmp_path: Path) -> None:
    acknowledged = write_until_everything_is_killed(tmp_path)
    async with open_valkey(tmp_path) as url, open_redis(url) as client:
        values = await client.call("MGET", *(f"n{number}" for number in range(1, acknowledged + 1)))
    assert values == [str(number) for number in range(1, acknowledged + 1)]


def write_until_everything_is_killed(data_dir: Path) -> int:
    """Return the number of the last write that the writer saw acknowledged."""
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(50)]
        server = int((data_dir / "valkey" / "server.lock").read_text())
        parent = subprocess.run(["ps", "-o", "ppid=", "-p", str(server)], capture_output=True, check=True)
        for pid in (int(parent.stdout), server, writer.pid):
            os.kill(pid, signal.SIGKILL)
        return int([*lines, *writer.stdout][-1])


async def test_two_openers_share_one_store(tmp_path: Path) -> None:
    async with (
        open_valkey(tmp_path) as one,
        open_valkey(tmp_path) as other,
        open_redis(one) as writer,
        open_redis(other) as reader,
    ):
        await writer.call("SET", "shared", "1")
        assert await reader.call("GET", "shared") == "1"


def test_without_a_binary_for_the_platform_the_error_names_redis_url(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_is_installed(_name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr("importlib.util.find_spec", nothing_is_installed)
    with pytest.raises(ServerMissing, match="REDIS_URL"):
        valkey_binary()
