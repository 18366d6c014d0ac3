"""HTTP calls that are cancelled at any moment: the pool loses no connection, and no request is sent late."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory.embedded.index_server import IndexEndpoint
from memory.http_calls import is_unsent, shielded, track_request
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


@asynccontextmanager
async def _server() -> AsyncGenerator[tuple[Server, httpx.AsyncClient]]:
    """A server, and a client with one connection."""
    told = Server()
    listening = await asyncio.start_server(told.serve, "127.0.0.1", 0)
    told.port = listening.sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{told.port}",
            limits=httpx.Limits(max_connections=1),
            timeout=httpx.Timeout(5, pool=2),
            event_hooks={"request": [track_request]},
        ) as client:
            yield told, client
    finally:
        listening.close()


async def _cancel_after(steps: int, call: Callable[[], Awaitable[object]]) -> None:
    async def make() -> object:
        return await shielded(call())

    task = asyncio.create_task(make(), name="cancelled")
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


async def _read_in_pieces(client: httpx.AsyncClient) -> bytes:
    async with client.stream("GET", "/") as answer:
        return b"".join([piece async for piece in answer.aiter_raw()])


@pytest.mark.parametrize("is_read_in_pieces", [False, True])
async def test_a_cancelled_call_returns_its_connection_at_any_moment(
    is_read_in_pieces: bool,
) -> None:
    async with _server() as (_, client):
        for steps in MOMENTS:
            await _cancel_after(
                steps, lambda: _read_in_pieces(client) if is_read_in_pieces else client.get("/")
            )

            assert (await shielded(client.get("/"))).text == "ok", f"cancelled after {steps} steps"


async def test_a_cancelled_call_is_cut_off() -> None:
    async with _server() as (server, client):
        call = asyncio.ensure_future(shielded(client.get("/slow")))
        async with asyncio.timeout(5):
            await server.is_slow.wait()

            assert not is_unsent(await _cancel(call))
            await server.left.wait()

        assert server.connections == 0
        assert (await shielded(client.get("/"))).text == "ok"


async def test_a_call_cancelled_before_its_send_is_never_sent() -> None:
    async with _server() as (server, client):
        slow = asyncio.ensure_future(shielded(client.get("/slow")))
        waiting = asyncio.ensure_future(shielded(client.get("/waiting")))
        async with asyncio.timeout(5):
            await server.is_slow.wait()

            assert is_unsent(await _cancel(waiting))
            assert not is_unsent(await _cancel(slow))
            assert (await shielded(client.get("/after"))).text == "ok"

        assert server.asked == ["/slow", "/after"]


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
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as client:
        assert await _sockets_kept(lambda: list_collections(client), range(100)) <= 1


async def test_an_exception_of_a_call_is_raised_unchanged() -> None:
    async with _server() as (server, client):
        with pytest.raises(httpx.UnsupportedProtocol):
            await shielded(client.get("other://127.0.0.1/"))
        assert server.asked == []
