"""The client on one server: its connections, and what it says of a server that cannot serve."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from memory.errors import CommandRefused, StoreUnavailable
from memory.redis import client as redis_client
from memory.redis.client import RedisClient, open_redis
from tests.contract.inbox_kit import eventually
from tests.stores import plain_valkey


async def test_commands_beyond_the_number_of_connections_wait(redis_url: str) -> None:
    async with open_redis(redis_url, max_connections=3) as redis:
        await redis.call("FLUSHALL")
        async with asyncio.TaskGroup() as group:
            for _ in range(50):
                group.create_task(redis.call("INCR", "n"))
                group.create_task(redis.calls([("INCR", "n"), ("INCR", "n")]))

        assert await redis.call("GETDEL", "n") == "150"
        connected = [line for line in str(await redis.call("CLIENT", "LIST")).splitlines() if "cmd=" in line]
        assert len(connected) <= 8


async def test_a_command_without_a_connection_in_time_means_unavailable(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "CONNECTION_WAIT_S", 0.05)
    async with open_redis(redis_url, max_connections=1) as redis:
        blocking = await _blocked(redis)
        with pytest.raises(StoreUnavailable, match="every connection"):
            await redis.call("PING")

        blocking.cancel()
        await asyncio.wait([blocking])
        assert await redis.is_alive()


async def test_cancelled_commands_give_their_connections_back(redis_url: str) -> None:
    async with open_redis(redis_url, max_connections=2) as redis:
        for _ in range(10):
            blocking = [await _blocked(redis), await _blocked(redis)]
            for task in blocking:
                task.cancel()
            await asyncio.wait(blocking)

        assert await redis.is_alive()


@pytest.mark.parametrize("steps", range(0, 32, 3))
async def test_a_cancellation_is_never_lost(redis_url: str, steps: int) -> None:
    async with open_redis(redis_url, max_connections=1) as redis:
        task = asyncio.create_task(redis.call("BLPOP", "nothing", 0.05))
        for _ in range(steps):
            await asyncio.sleep(0)

        is_running = task.cancel()
        await asyncio.wait([task])

    assert task.cancelled() or not is_running


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 10, 20, 40])
async def test_a_command_under_way_ends_with_its_client_and_leaves_no_connection(
    redis_url: str, steps: int
) -> None:
    async with open_redis(redis_url, max_connections=1) as watch:
        async with open_redis(redis_url) as redis:
            command = asyncio.create_task(redis.call("BLPOP", "nothing", 3))
            for _ in range(steps):  # until it connects, shakes hands, waits for the reply
                await asyncio.sleep(0)

        with pytest.raises(StoreUnavailable):
            await command
        assert len(str(await watch.call("CLIENT", "LIST")).splitlines()) == 1


async def test_a_closed_client_opens_no_connection(redis_url: str) -> None:
    async with open_redis(redis_url, max_connections=1) as redis:
        await redis.call("PING")

    with pytest.raises(StoreUnavailable, match="closed"):
        await redis.call("PING")


async def test_the_replies_after_an_unreadable_one_are_not_those_of_the_next_command(redis_url: str) -> None:
    async with open_redis(redis_url, max_connections=1) as redis:
        with pytest.raises(ValueError, match="invalid literal"):  # TIME replies QUEUED here
            await redis.calls([("MULTI",), ("TIME",), ("DISCARD",)])

        assert await redis.call("ECHO", "mine") == "mine"


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:1",
        "rediss://127.0.0.1:1",
        "unix:///nowhere/at.all",
        "redis+sentinel://127.0.0.1:1/0?service=a",
    ],
)
async def test_every_form_of_url_opens_and_reports_a_missing_server(url: str) -> None:
    async with open_redis(url, max_connections=1) as redis:
        with pytest.raises(StoreUnavailable):
            await redis.call("PING")


OPTIONS = (
    "username=u&password=p&client_name=c&socket_timeout=1&socket_connect_timeout=1.5"
    "&db=0&max_connections=3&socket_read_size=4096&health_check_interval=2&protocol=3"
)
TLS = (
    "&ssl_cert_reqs=CERT_NONE&ssl_ca_certs=&ssl_ca_data=&ssl_certfile=&ssl_keyfile=&ssl_ciphers=DEFAULT"
    "&ssl_check_hostname=no&ssl_min_version=771&ssl_include_verify_flags=&ssl_exclude_verify_flags="
)


@pytest.mark.parametrize(
    "url",
    [
        f"redis://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes&retry_on_timeout=yes",
        f"rediss://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes{TLS}&ssl_ca_path=/a&ssl_password=x",
        f"unix:///nowhere/at.all?{OPTIONS}&retry_on_timeout=yes",
        f"redis+cluster://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes",
        f"rediss+cluster://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes{TLS}",
        f"redis+sentinel://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes&retry_on_timeout=yes",
        f"rediss+sentinel://127.0.0.1:1?{OPTIONS}&socket_keepalive=yes{TLS}&ssl_ca_path=/a&ssl_password=x",
    ],
)
async def test_the_driver_takes_every_parameter(url: str) -> None:
    async with open_redis(url, max_connections=1) as redis:
        with pytest.raises(StoreUnavailable):
            await redis.call("PING")


async def test_a_server_that_is_busy_with_a_script_is_unavailable(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path, busy_reply_threshold="1") as url, open_redis(url) as redis:
        await redis.call("PING")
        for_ever = asyncio.create_task(redis.call("EVAL", "while true do end", 0), name="script")
        async with asyncio.timeout(5):
            with pytest.raises(StoreUnavailable):
                await _ask_until_it_fails(redis)
            await redis.call("SCRIPT", "KILL")

        with pytest.raises(CommandRefused):
            await for_ever


async def _blocked(redis: RedisClient) -> asyncio.Task[object]:
    """Start a read that blocks on the server."""
    before = redis.round_trips
    task = asyncio.create_task(redis.call("BLPOP", "nothing", 1), name="blocking")
    await eventually(lambda: redis.round_trips > before)
    return task


async def _ask_until_it_fails(redis: RedisClient) -> None:
    while True:
        await redis.call("GET", "a")


async def test_a_cancelled_command_that_the_server_does_not_take_leaves_no_socket(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path) as url, open_redis(url) as redis:
        pid = int((await redis.call("INFO", "server"))["process_id"])
        connected = _count_sockets()
        os.kill(pid, signal.SIGSTOP)
        try:
            sending = asyncio.create_task(redis.call("SET", "k", "x" * 10_000_000))
            for _ in range(20):  # until it waits for the server to take the rest
                await asyncio.sleep(0)
            assert sending.cancel()
            await asyncio.wait([sending])

            await eventually(lambda: _count_sockets() == connected - 1)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert await redis.is_alive()


def _count_sockets() -> int:
    targets: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that reads the folder
            targets.append(str(descriptor.readlink()))
    return sum(target.startswith("socket:") for target in targets)
