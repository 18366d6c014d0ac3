"""Stories of readiness: a store that can be read and not written, a full disk, and a Qdrant that is not there."""

import asyncio
import contextlib
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.app import health
from bot.settings import WEBHOOK_PATH
from bot.transport.http_server import SECRET_HEADER
from chaos.rig.system import free_port
from memory.embedded import valkey
from memory.embedded.data_dir import socket_path
from memory.errors import StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from tests.contract.webhook_rig import make_message_update
from tests.local_http import local_client
from tests.stores import plain_valkey
from tests.story.harness import BEN, Story, StoryStores, running_bot

pytestmark = pytest.mark.slow

EMBEDDED: Mapping[str, Any] = {"redis_url": None, "qdrant_url": None, "qdrant_api_key": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A Valkey of a test's own, with a connection that no trouble affects, and its append-only files."""

    url: str
    control: RedisClient
    files: Path

    async def set(self, name: str, value: str) -> None:
        await self.control.call("CONFIG", "SET", name, value)

    async def limit_files(self, *, is_full: bool) -> None:
        """Forbid the server's files to grow, as a full disk does."""
        pid = int((await self.control.call("INFO", "server"))["process_id"])
        largest = max(path.stat().st_size for path in self.files.glob("*.incr.aof"))
        limit = largest if is_full else resource.RLIM_INFINITY
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


async def _lead(server: Server) -> None:
    await server.control.call("REPLICAOF", "NO", "ONE")


async def _follow(server: Server) -> None:
    await server.control.call("REPLICAOF", "127.0.0.1", 1)


Change = Callable[[Server], Awaitable[None]]
REFUSALS: Mapping[str, tuple[Change, Change, str]] = {
    "OOM": (
        lambda server: server.set("maxmemory", "1"),
        lambda server: server.set("maxmemory", "0"),
        "raise its maxmemory",
    ),
    "READONLY": (_follow, _lead, "name the primary"),
    "NOREPLICAS": (
        lambda server: server.set("min-replicas-to-write", "1"),
        lambda server: server.set("min-replicas-to-write", "0"),
        "start them",
    ),
    "MISCONF": (
        lambda server: server.limit_files(is_full=True),
        lambda server: server.limit_files(is_full=False),
        "free space there",
    ),
}


@asynccontextmanager
async def own_server(directory: Path) -> AsyncGenerator[Server]:
    async with (
        plain_valkey(directory, appendonly="yes", appendfsync="everysec") as url,
        open_redis(url, max_connections=2) as control,
    ):
        yield Server(url=url, control=control, files=directory / "appendonlydir")


async def post(bot: Story, update_id: int) -> int:
    async with local_client() as client:
        answer = await client.post(
            f"{bot.http_url}{WEBHOOK_PATH}",
            json=make_message_update(update_id, f"line {update_id}", chat=BEN),
            headers={SECRET_HEADER: bot.settings.secret},
        )
    return answer.status_code


def check_of_the_image(bot: Story) -> "subprocess.CompletedProcess[str]":
    """Run the HEALTHCHECK of the Dockerfile."""
    text = (Path(__file__).parents[2] / "Dockerfile").read_text("utf-8")
    command = json.loads(text.partition("HEALTHCHECK")[2].partition("CMD ")[2].splitlines()[0])
    environment = {"HTTP_PORT": str(bot.settings.http_port)}
    return subprocess.run(
        [sys.executable, *command[1:]], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits the files of another process")
@pytest.mark.parametrize("code", REFUSALS)
async def test_s10_a_store_that_refuses_writes_is_not_ready_until_it_takes_them(
    stores: StoryStores, tmp_path: Path, code: str
) -> None:
    begin, end, advice = REFUSALS[code]
    async with (
        own_server(tmp_path) as server,
        running_bot(replace(stores, redis_url=server.url), is_pushed=True) as bot,
    ):
        await bot.wait_until_down()
        await begin(server)
        said = await _until_says(bot, f"Redis refuses writes: {code} (")
        assert advice in said
        assert "updates are refused with 503" in said
        assert await post(bot, 5_000_001) == 503

        await end(server)
        await bot.wait_until_down()
        assert await post(bot, 5_000_001) == 200
        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: line 5000001"])


async def _until_says(bot: Story, beginning: str) -> str:
    """Wait until /health/ready is 503 with this beginning of the sentence on Redis, and return the sentence."""
    said: list[str] = []

    async def says() -> bool:
        status, down = await bot.health()
        said[:] = [down.get("redis", "")]
        return status == 503 and said[0].startswith(beginning)

    await bot.wait_until_true(says)
    return said[0]


async def test_s10_a_qdrant_that_is_not_there_at_the_start_is_named_and_the_bot_answers(
    stores: StoryStores, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with running_bot(stores, qdrant_url=url, qdrant_api_key=None, log_format="json") as bot:
        await bot.wait_until_down("qdrant")
        says = (
            "the vector index cannot be reached: nothing listens at this port. Start the server, or correct the port. "
            "Answers come without recall"
        )
        assert await bot.health() == (503, {"qdrant": says})
        assert await bot.ask(BEN, "hello") == "echo: hello"

        checked = await asyncio.to_thread(check_of_the_image, bot)
        assert checked.returncode == 1
        assert says in checked.stdout
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    assert [line["problem"] for line in lines if line["event"] == "not_ready"] == [says]


async def test_a_wrong_key_of_qdrant_is_one_line_of_the_log_at_the_start(
    stores: StoryStores, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running_bot(stores, qdrant_api_key="wrong", log_format="json") as bot:
        await bot.wait_until_down("qdrant")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    assert [(line["event"], line["problem"]) for line in lines if line["level"] in ("warning", "error")] == [
        (
            "not_ready",
            "QDRANT_API_KEY: the vector index refuses the key (HTTP 401). Answers come without recall",
        )
    ]


async def test_the_check_of_the_image_is_passed_when_all_is_well(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.wait_until_down()
        checked = await asyncio.to_thread(check_of_the_image, bot)
    assert (checked.returncode, json.loads(checked.stdout)) == (0, {"status": "ok", "down": {}})


async def test_s10_the_embedded_store_takes_no_update_while_the_disk_is_nearly_full(
    stores: StoryStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_bot(stores, is_pushed=True, data_dir=tmp_path, **EMBEDDED) as bot:
        await bot.wait_until_down()
        assert await bot.ask(BEN, "before") == "echo: before"
        await bot.wait_until_idle()

        with monkeypatch.context() as nearly_full:
            for module in (valkey, health):
                nearly_full.setattr(module, "FULL_BELOW_BYTES", 2**62)
            nearly_full.setattr(valkey, "ROOM_FROM_BYTES", 2**62)
            await bot.wait_until_down("disk")
            status, down = await bot.health()
            assert status == 503
            assert f"DATA_DIR {tmp_path} has " in down["disk"]
            assert "Free some space there" in down["disk"]
            await _until_refused(bot)

        await bot.wait_until_down()
        await bot.say(BEN, "after")
        await bot.wait_until(lambda: bot.said_in(BEN)[-1:] == ["echo: after"])


async def _until_refused(bot: Story) -> None:
    """Post updates until the store, which is told twice a second, refuses them."""
    numbers = iter(range(5_000_001, 5_100_000))

    async def is_refused() -> bool:
        return await post(bot, next(numbers)) == 503

    await bot.wait_until_true(is_refused)


async def _until_told(bot: Story, data: Path) -> None:
    """Wait until the embedded store refuses writes. Before, a write may have ended it once."""
    socket = socket_path(data / "valkey", "valkey.sock")
    async with open_redis(f"unix://{socket}", max_connections=1) as control:

        async def is_told() -> bool:
            try:
                setting = await control.call("CONFIG", "GET", "min-replicas-to-write")
            except StoreUnavailable:
                return False
            return "1" in (setting.values() if isinstance(setting, dict) else setting)

        await bot.wait_until_true(is_told)


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Mount a file system of 400 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=400m", "tmpfs"]
    if subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write a file until no byte is free, as another program may."""
    other = disk / "another-programs-file"
    with other.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while free := shutil.disk_usage(disk).free:
            file.write(b"x" * min(1 << 20, free))
    return other


async def test_s10_a_full_disk_restarts_no_store_and_loses_nothing(
    stores: StoryStores, small_disk: Path
) -> None:
    data = small_disk / "data"
    async with running_bot(stores, is_pushed=True, data_dir=data, **EMBEDDED) as bot:
        await bot.wait_until_down()
        await bot.ask(BEN, "before")
        other = fill(small_disk)
        await bot.wait_until_down("disk")
        await _until_told(bot, data)
        server = (data / "valkey" / "server.lock").read_text()
        statuses = [await post(bot, 5_000_001 + number) for number in range(12)]
        assert statuses == [503] * 12
        assert (data / "valkey" / "server.lock").read_text() == server

        other.unlink()
        await bot.wait_until_down()
        assert await bot.ask(BEN, "after") == "echo: after"
        assert (data / "valkey" / "server.lock").read_text() == server
