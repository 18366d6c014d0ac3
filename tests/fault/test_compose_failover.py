"""The commands of compose.scale.yaml as processes: who is the primary at first, after deaths, and after all restart."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any, cast

import pytest
import yaml

from chaos.rig.program import until_it_is
from memory.embedded.valkey import valkey_binary
from memory.errors import MemoryFailure
from memory.redis.client import RedisClient, open_redis

pytestmark = pytest.mark.skipif(which("redis-cli") is None, reason="Debian: redis-server")

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "of-letters-and-digits-1"
STORES = {"valkey": "127.0.117.11", "valkey-replica": "127.0.117.12"}
SENTINELS = {f"sentinel-{number}": f"127.0.117.2{number}" for number in (1, 2, 3)}
WITHIN_S = 60.0


@dataclass(slots=True)
class Stack:
    """The store containers of the file, each as a process with addresses on loopback."""

    directory: Path
    services: dict[str, Any]
    running: dict[str, asyncio.subprocess.Process] = field(
        default_factory=dict[str, asyncio.subprocess.Process]
    )

    async def start(self, *names: str) -> None:
        for name in names:
            service = self.services[name]
            folder = self.directory / name
            folder.mkdir(exist_ok=True)
            script = cast(str, service["command"][2]).replace("$$", "$")
            if name in SENTINELS:  # all have this port, and a container has an address of its own
                own = f'"bind {SENTINELS[name]}" "sentinel announce-ip {SENTINELS[name]}" "port 26379"'
                script = script.replace('"port 26379"', own)
            environment = {
                "PATH": f"{self.directory}:{os.environ['PATH']}",
                "VALKEY_PASSWORD": PASSWORD,
                "CONFIG_DIR": str(folder),
                "SENTINEL": SENTINELS["sentinel-2"],
                "FIRST_PRIMARY": STORES["valkey"],
                "ADDRESS": STORES.get(name, ""),
            }
            assert set(service["environment"]) <= environment.keys()
            with (folder / "log").open("ab") as log:
                self.running[name] = await asyncio.create_subprocess_exec(
                    "sh", "-c", script, cwd=folder, env=environment, stdout=log, stderr=log, process_group=0
                )

    async def kill(self, *names: str) -> None:
        for name in names:
            process = self.running.pop(name)
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


@asynccontextmanager
async def compose_stack(directory: Path) -> AsyncGenerator[Stack]:
    """Begin with no process. Those that run at the end are killed."""
    (directory / "valkey-server").symlink_to(valkey_binary())
    (directory / "valkey-cli").symlink_to(which("redis-cli") or "")
    document = cast("dict[str, Any]", yaml.safe_load((ROOT / "compose.scale.yaml").read_text("utf-8")))
    stack = Stack(directory, document["services"])
    try:
        yield stack
    finally:
        await stack.kill(*stack.running)


async def role(name: str) -> str:
    """Return `master` or `slave`, with `up` or `down` of its link; the failure of one that does not answer."""
    try:
        async with open_redis(f"redis://:{PASSWORD}@{STORES[name]}:6379/0") as redis:
            info = (await redis.ask_each("INFO", "replication"))[0]
            return f"{info['role']} {info.get('master_link_status', '')}".strip()
    except MemoryFailure as error:
        return type(error).__name__


async def is_role(name: str, wanted: str) -> None:
    await until_it_is(wanted, lambda: role(name), within_s=WITHIN_S, look_again_s=0.1)


async def write(redis: RedisClient, name: str) -> None:
    """Write as soon as the store takes it."""

    async def is_written() -> bool:
        try:
            return await redis.call("SET", name, "kept") in (True, "OK")
        except MemoryFailure:
            return False

    await until_it_is(True, is_written, within_s=WITHIN_S, look_again_s=0.1)


async def test_the_stores_of_the_scale_file_fail_over_and_return(tmp_path: Path) -> None:
    hosts = ",".join(SENTINELS.values())
    async with (
        compose_stack(tmp_path) as stack,
        open_redis(f"redis+sentinel://:{PASSWORD}@{hosts}:26379/0?service=bot") as redis,
    ):
        await stack.start(*STORES, *SENTINELS)
        await is_role("valkey", "master")
        await is_role("valkey-replica", "slave up")
        await until_it_is(True, is_settled, within_s=WITHIN_S, look_again_s=0.2)
        await write(redis, "first")

        await stack.kill("valkey")
        await is_role("valkey-replica", "master")
        await write(redis, "second")

        # A whole host ends and starts again, without the one that is dead; that one returns last, with old data.
        await stack.kill("valkey-replica", *SENTINELS)
        await stack.start("valkey-replica", *SENTINELS)
        await is_role("valkey-replica", "master")
        await write(redis, "third")
        await stack.start("valkey")
        await is_role("valkey", "slave up")
        await until_it_is(True, is_settled, within_s=WITHIN_S, look_again_s=0.2)

        await stack.kill("valkey-replica")
        await is_role("valkey", "master")
        await write(redis, "fourth")  # once the sentinels tell the new primary
        assert await redis.call("MGET", "first", "second", "third") == ["kept"] * 3


async def is_settled() -> bool:
    """Return True if each sentinel knows the two others and a replica that follows. They ask every ten seconds."""
    for address in SENTINELS.values():
        try:
            async with open_redis(f"redis://{address}:26379") as sentinel:
                primary = fields_of(await sentinel.call("SENTINEL", "MASTER", "bot"))
                replicas = [fields_of(each) for each in await sentinel.call("SENTINEL", "REPLICAS", "bot")]
        except MemoryFailure:
            return False
        links = [(each["flags"], each["master-link-status"]) for each in replicas]
        if primary["num-other-sentinels"] != "2" or links != [("slave", "ok")]:
            return False
    return True


def fields_of(reply: Any) -> dict[str, str]:
    if isinstance(reply, dict):
        return {f"{name}": f"{value}" for name, value in cast("dict[str, Any]", reply).items()}
    words = [f"{word}" for word in cast("list[str]", reply)]
    return dict(zip(words[::2], words[1::2], strict=True))
