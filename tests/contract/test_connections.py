"""What strangers may take of an HTTP server before they have asked for anything: connections, time and memory."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.app.connections import ConnectionLimits
from bot.app.http_server import serve_http

LIMITS = ConnectionLimits(connections=4, head_s=0.2, head_bytes=2_000, pipelined=3)
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def served(*, limits: ConnectionLimits = LIMITS) -> AsyncGenerator[int]:
    async def hello(_: Request) -> Response:
        return PlainTextResponse("hello")

    async with serve_http(Starlette(routes=[Route("/", hello)]), limits=limits) as server:
        yield int(server.origin.rpartition(":")[2])


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[Ends]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Whether the server ends the connection without another word, within a few seconds."""
    async with asyncio.timeout(5):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def answer(ends: Ends) -> bytes:
    """The status line that comes back for one more request, and "" where the connection is ended."""
    reader, writer = ends
    writer.write(REQUEST)
    async with asyncio.timeout(5):
        try:
            line = await reader.readline()
            await reader.readuntil(b"hello")
        except (ConnectionError, asyncio.IncompleteReadError):
            return b""
    return line.strip()


async def test_a_connection_that_sends_nothing_is_ended() -> None:
    async with served() as port, connected(port) as (reader, _):
        assert await is_ended(reader)


async def test_a_head_that_comes_byte_by_byte_is_ended() -> None:
    async with served() as port, connected(port) as (reader, writer):
        dripping = asyncio.create_task(drip(writer))
        assert await is_ended(reader)
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_so_is_the_second_head_of_a_connection() -> None:
    async with served() as port, connected(port) as ends:
        assert await answer(ends) == b"HTTP/1.1 200 OK"
        ends[1].write(b"GET / HT")
        assert await is_ended(ends[0])


async def test_a_head_without_an_end_is_ended_before_it_takes_much_memory() -> None:
    patient = ConnectionLimits(connections=4, head_s=60, head_bytes=2_000)
    async with served(limits=patient) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nX-Junk: " + b"a" * 4_000)
        assert await is_ended(reader)


async def test_many_requests_at_once_are_not_queued() -> None:
    async with served() as port, connected(port) as (reader, writer):
        writer.write(REQUEST * 20)
        assert await is_ended(reader)


async def test_a_new_connection_takes_the_place_of_one_that_asked_for_nothing() -> None:
    patient = ConnectionLimits(connections=3, head_s=60)
    async with served(limits=patient) as port, AsyncExitStack() as stack:
        asking = await stack.enter_async_context(connected(port))
        assert await answer(asking) == b"HTTP/1.1 200 OK"
        silent: Sequence[Ends] = [await stack.enter_async_context(connected(port)) for _ in range(2)]
        fourth = await stack.enter_async_context(connected(port))

        assert await answer(fourth) == b"HTTP/1.1 200 OK"
        assert await is_ended(silent[0][0])
        assert await answer(silent[1]) == b"HTTP/1.1 200 OK"
        assert await answer(asking) == b"HTTP/1.1 200 OK"


async def drip(writer: asyncio.StreamWriter) -> None:
    for byte in b"GET /" + b"a" * 1_000:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.02)
