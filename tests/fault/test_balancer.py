"""deploy/haproxy.cfg with a real haproxy and two `serve`, one of which is killed. Skipped without haproxy."""

import asyncio
import re
import shutil
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.settings import WEBHOOK_PATH
from bot.transport.http_server import SECRET_HEADER
from chaos.rig.system import SECRET, System, free_port, running_system
from tests.scripted_script import echo

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
HAPROXY = shutil.which("haproxy")

pytestmark = pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed")


def config_for(port: int, servers: Sequence[int]) -> str:
    """Return the shipped configuration with servers of this machine."""
    text = (DEPLOY / "haproxy.cfg").read_text()
    text = re.sub(r"\nresolvers docker\n(    .*\n)+", "\n", text)
    text = text.replace("bind :8080", f"bind 127.0.0.1:{port}")
    text = text.replace(" init-addr none resolvers docker resolve-prefer ipv4", "")
    text = text.replace("/usr/local/etc/haproxy/503.http", str(DEPLOY / "503.http"))
    lines = "\n".join(f"    server s{number} 127.0.0.1:{each}" for number, each in enumerate(servers))
    return text.replace("    server-template serve 8 serve:8080", lines)


@asynccontextmanager
async def balancing(directory: Path, port: int, servers: Sequence[int]) -> AsyncGenerator[str]:
    """Run haproxy in front of these ports and return its URL."""
    file = directory / "haproxy.cfg"
    file.write_text(config_for(port, servers))
    process = await asyncio.create_subprocess_exec(str(HAPROXY), "-db", "-f", str(file))
    url = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(10):
            while not await _answers(client, url):  # noqa: ASYNC110 - another process has no event to wait for
                await asyncio.sleep(0.05)
        yield url
    finally:
        process.kill()
        await process.wait()


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/balancer")).status_code == 200
    except httpx.TransportError:
        return False


def make_update(number: int, chat: int) -> dict[str, Any]:
    sender = {"id": 1001, "is_bot": False, "first_name": "Anna"}
    return {
        "update_id": number,
        "message": {
            "message_id": number,
            "date": 1_767_323_045,
            "chat": {"id": chat, "type": "private", "first_name": "Anna"},
            "from": sender,
            "text": f"hello {number}",
        },
    }


async def taken_in(url: str) -> int:
    """Return the number of updates that a `serve` has accepted."""
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{url}/metrics")).text
    return sum(
        int(float(found))
        for found in re.findall(r"^mnemogram_updates_total\{.*\} (\S+)$", text, re.MULTILINE)
    )


async def test_the_shipped_balancer_uses_two_serves_and_skips_the_killed_one(tmp_path: Path) -> None:
    port, *servers = free_port(), free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    async with (
        running_system(tmp_path, echo, through={"index"}, WEBHOOK_URL=url) as system,
        balancing(tmp_path, port, servers),
    ):
        first, second = [(await system.start("serve", HTTP_PORT=str(server)))[0] for server in servers]
        urls = [f"http://127.0.0.1:{server}" for server in servers]
        await _all_up(system, urls)

        before = [await taken_in(each) for each in urls]
        assert {await deliver(system, number, chat=7) for number in range(10)} == {200}
        rose = [await taken_in(each) - was for each, was in zip(urls, before, strict=True)]
        assert sorted(rose) == [0, 10], "one chat's updates go to one server"

        assert {await deliver(system, 100 + number, chat=number) for number in range(40)} == {200}
        assert all([await taken_in(each) > 5 for each in urls])

        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{url}/metrics")).status_code == 404
            assert (await client.get(f"{url}/health/ready")).status_code == 404
            assert (await client.get(f"{url}/app/")).status_code == 200
            assert (await client.get(f"{url}/app/api/contexts")).status_code == 401
            assert (await client.get(f"{url}/app/../metrics")).status_code == 404
            assert (await client.get(f"{url}/telegram/webhook")).status_code == 405
        assert await asyncio.to_thread(status_of_a_large_body, port) == b"HTTP/1.1 413 "

        await system.proxies["index"].cut()
        async with httpx.AsyncClient(trust_env=False) as client:
            ready = {(await client.get(f"{each}/health/ready")).status_code for each in urls}
        assert ready == {200}, "no Qdrant"
        assert {await deliver(system, 150 + number, chat=number) for number in range(10)} == {200}

        await first.kill()
        assert {await deliver(system, 200 + number, chat=number) for number in range(40)} == {200}
        await second.kill()
        async with httpx.AsyncClient(trust_env=False) as client:
            none_left = await client.post(f"{url}/telegram/webhook", json=make_update(300, 7))
        assert none_left.status_code == 503
        assert none_left.headers["Retry-After"] == "2"


def status_of_a_large_body(port: int) -> bytes:
    """Return how the response to a body over 1 MiB begins.

    The balancer answers when its buffer is full. It resets a client that is still sending then, and the response
    may be lost with that, so no more is sent.
    """
    head = b"POST /telegram/webhook HTTP/1.1\r\nHost: bot\r\nContent-Length: 1100000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(head + b"x" * 70_000)
        return client.recv(13, socket.MSG_WAITALL)


async def deliver(system: System, number: int, *, chat: int) -> int:
    """Return the HTTP status of an update's delivery."""
    return (await system.deliver(make_update(1_000_000 + number, 2000 + chat)))[0]


async def _all_up(system: System, urls: Sequence[str]) -> None:
    """Return True after each server got an update. The balancer checks them every two seconds."""
    number, reached = 500, False
    async with asyncio.timeout(20):
        while not reached:
            number += 1
            await deliver_anyhow(system, make_update(1_000_000 + number, 3000 + number))
            reached = all([await taken_in(each) > 0 for each in urls])


async def deliver_anyhow(system: System, update: dict[str, Any]) -> None:
    """Deliver although the balancer may not know a server yet."""
    async with httpx.AsyncClient(trust_env=False) as telegram:
        await telegram.post(
            system.environment["WEBHOOK_URL"] + WEBHOOK_PATH, json=update, headers={SECRET_HEADER: SECRET}
        )
