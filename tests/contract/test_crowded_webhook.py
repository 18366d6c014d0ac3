"""Strangers that hold connections or requests open: Telegram's posts are stored all the same."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bot.settings import WEBHOOK_PATH
from bot.transport import http_server
from memory.redis.client import RedisClient
from tests.contract.webhook_rig import Endpoint, make_message_update, served_webhook

CROWD = 540
HEAD = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: a\r\n"
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def crowded(port: int, sent: str) -> AsyncGenerator[list[Ends]]:
    """Open CROWD connections, each of which sends this and nothing more."""
    crowd: list[Ends] = []
    try:
        for _ in range(CROWD):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            crowd.append((reader, writer))
            writer.write(sent.encode())
        yield crowd
    finally:
        for _, writer in crowd:
            writer.transport.abort()


async def statuses(endpoint: Endpoint, updates: range) -> list[int]:
    return [(await endpoint.push(make_message_update(each))).status_code for each in updates]


async def is_open(ends: Ends) -> bool:
    """Return True if the server answers one more request on this connection."""
    reader, writer = ends
    try:
        writer.write(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(5):
            return (await reader.readline()).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


@pytest.mark.parametrize(
    "sent",
    ["", "POST", HEAD, HEAD + "Content-Length: 9\r\n\r\n", HEAD + "Content-Length: 9\r\n\r\n{"],
    ids=["nothing", "four letters", "half a head", "a head without its body", "half a body"],
)
async def test_a_crowd_does_not_shut_telegram_out(redis: RedisClient, sent: str) -> None:
    async with served_webhook(redis) as endpoint:
        before = await statuses(endpoint, range(1, 3))
        async with crowded(endpoint.port, sent):
            during = await statuses(endpoint, range(3, 20))

    assert before + during == [200] * 19


async def test_the_oldest_silent_connection_is_dropped_and_no_other_kind(redis: RedisClient) -> None:
    async with served_webhook(redis) as endpoint:
        idle = await asyncio.open_connection("127.0.0.1", endpoint.port)
        assert await is_open(idle)
        await idle[0].readuntil(b"}")
        async with crowded(endpoint.port, "") as crowd:
            assert await is_open(idle)
            assert not await is_open(crowd[0])
            assert await is_open(crowd[-1])
        idle[1].transport.abort()


async def test_a_connection_with_too_many_requests_at_once_is_dropped(redis: RedisClient) -> None:
    get = b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"
    async with served_webhook(redis) as endpoint:
        some = await endpoint.push_bytes(get * 20, answers=20)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await endpoint.push_bytes(get * 1_000, answers=1_000)

    assert some == [200] * 20


async def test_requests_to_other_paths_are_limited_and_the_webhook_is_not(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "_REQUESTS", 2)
    waiting, released = asyncio.Semaphore(0), asyncio.Event()

    async def wait() -> None:
        waiting.release()
        await released.wait()

    async with served_webhook(redis, before_health=wait) as endpoint:
        slow = [asyncio.create_task(endpoint.http.get("/health/ready")) for _ in range(2)]
        for _ in slow:
            await waiting.acquire()
        during = (await endpoint.http.get("/health/live")).status_code, await statuses(endpoint, range(1, 4))
        released.set()
        served = [(await each).status_code for each in slow]
        after = (await endpoint.http.get("/health/live")).status_code

    assert during == (503, [200] * 3)
    assert (served, after) == ([200, 200], 200)
