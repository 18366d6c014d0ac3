"""HTTP calls that are cancelled at any moment: the pool loses no connection, and no request is sent late."""

import asyncio
import os
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from openai import Timeout

from memory.embedded.supervisor import IndexEndpoint
from memory.http_calls import is_unsent, open_session, tracked
from memory.openai_client import open_client
from memory.recall.qdrant.index import list_collections, open_qdrant

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
MOMENTS = range(120)
"""Steps of the event loop after which a call is cancelled. A whole call takes fewer."""


@dataclass(slots=True)
class Server:
    """A server that answers "ok", except to /slow. It records requests and open connections."""

    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    connections: int = 0
    is_slow: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.append(head.split()[1].decode())
                if self.asked[-1] == "/slow":
                    self.is_slow.set()
                else:
                    writer.write(ANSWER)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            self.connections -= 1
            self.left.set()
        finally:
            writer.close()


Get = Callable[[str], Awaitable[str]]
"""Returns the text at a path."""


@asynccontextmanager
async def _server() -> AsyncGenerator[Server]:
    told = Server()
    listening = await asyncio.start_server(told.serve, "127.0.0.1", 0)
    told.port = listening.sockets[0].getsockname()[1]
    try:
        yield told
    finally:
        listening.close()


@asynccontextmanager
async def _client() -> AsyncGenerator[tuple[Server, Get]]:
    """A server, and calls that share one connection."""
    async with _server() as server, _get(f"http://127.0.0.1:{server.port}") as get:
        yield server, get


@asynccontextmanager
async def _get(url: str) -> AsyncGenerator[Get]:
    timeout = aiohttp.ClientTimeout(sock_connect=5, sock_read=5)
    async with open_session(url, connections=1, timeout=timeout, is_traced=True) as session:

        async def get(path: str) -> str:
            with tracked():
                async with session.get(f"{url}{path}") as response:
                    return await response.text()

        yield get


async def _cancel_after(steps: int, call: Awaitable[object]) -> None:
    task = asyncio.ensure_future(call)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _cancel(call: asyncio.Future[Any]) -> asyncio.CancelledError:
    """Cancel the task and return how it ends."""
    call.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await call
    return cancelled.value


async def test_a_cancelled_call_returns_its_connection_at_any_moment() -> None:
    async with _client() as (_, get):
        for steps in MOMENTS:
            await _cancel_after(steps, get("/"))

            async with asyncio.timeout(5):
                assert await get("/") == "ok", f"cancelled after {steps} steps"


async def test_a_cancelled_call_is_cut_off() -> None:
    async with _client() as (server, get):
        call = asyncio.ensure_future(get("/slow"))
        async with asyncio.timeout(5):
            await server.is_slow.wait()

            assert not is_unsent(await _cancel(call))
            await server.left.wait()

        assert server.connections == 0
        assert await get("/") == "ok"


async def test_a_call_cancelled_before_its_send_is_never_sent() -> None:
    async with _client() as (server, get):
        slow = asyncio.ensure_future(get("/slow"))
        waiting = asyncio.ensure_future(get("/waiting"))
        async with asyncio.timeout(5):
            await server.is_slow.wait()

            assert is_unsent(await _cancel(waiting))
            assert not is_unsent(await _cancel(slow))
            assert await get("/after") == "ok"

        assert server.asked == ["/slow", "/after"]


async def test_an_unsent_call_reaches_the_server_at_no_moment() -> None:
    async with _client() as (server, get):
        unsent = 0
        for steps in MOMENTS:
            task = asyncio.ensure_future(get(f"/{steps}"))
            for _ in range(steps):
                await asyncio.sleep(0)
            if not task.done() and is_unsent(await _cancel(task)):
                unsent += 1
                await get("/")
                assert f"/{steps}" not in server.asked
            await asyncio.gather(task, return_exceptions=True)

        assert unsent > 0


@asynccontextmanager
async def _refusing_proxy(heads: list[str]) -> AsyncGenerator[str]:
    """A proxy that wants other credentials. Yields its address without a scheme, and records heads of requests."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def _through_refusing_proxy(scheme: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Get]:
    """Calls that need the proxy. It gets its credentials with the one call of the block."""
    heads: list[str] = []
    async with _refusing_proxy(heads) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://anna:p%40ssw%C3%B6rd@{proxy}")
        async with _get(f"{scheme}://bot-api.invalid") as get:
            yield get

    (head,) = heads
    assert f"\r\nProxy-Authorization: {aiohttp.encode_basic_auth('anna', 'p@sswörd')}\r\n" in head


async def test_a_proxy_gets_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _through_refusing_proxy("http", monkeypatch) as get:
        assert await get("/") == ""


async def test_a_failed_tunnel_through_a_proxy_does_not_name_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with _through_refusing_proxy("https", monkeypatch) as get:
        with pytest.raises(aiohttp.ClientHttpProxyError) as refused:
            await get("/")

    assert "ssw%C3" not in "".join(traceback.format_exception(refused.value))


async def _sockets_kept(ask: Callable[[], Awaitable[object]], steps: range) -> int:
    """Return the number of leaked sockets after calls that were cancelled at each of these moments."""
    await ask()
    before = _sockets()
    for each in steps:

        async def make() -> object:
            return await ask()

        task = asyncio.create_task(make(), name="cancelled")
        for _ in range(each):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await ask()
    return _sockets() - before


def _sockets() -> int:
    links = (os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
    return sum("socket:" in link for link in links)


async def test_cancelled_searches_keep_no_connection(index_endpoint: IndexEndpoint) -> None:
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        assert await _sockets_kept(lambda: list_collections(qdrant.send), range(100)) <= 1


async def test_the_query_of_a_base_url_follows_the_path_of_each_request() -> None:
    async with _server() as server:
        url = f"http://127.0.0.1:{server.port}/openai/v1?api-version=preview"
        async with open_client(api_key=None, base_url=url, timeout=Timeout(5)) as client:
            assert await client.get("/models", cast_to=str) == "ok"

    assert server.asked == ["/openai/v1/models?api-version=preview"]
