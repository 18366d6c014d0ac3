"""Limits of an HTTP server for heads of requests: time and memory."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.transport.http_server import serve_http

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def served(*, head_s: float = 0.2) -> AsyncGenerator[int]:
    async def hello(_: Request) -> Response:
        return PlainTextResponse("hello")

    async with serve_http(Starlette(routes=[Route("/", hello)]), head_s=head_s) as server:
        yield int(server.origin.rpartition(":")[2])


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[Ends]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Return True if the server ends the connection without a response, within a few seconds."""
    async with asyncio.timeout(5):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def answer(ends: Ends) -> bytes:
    """Return the status line for one more request, "" if the connection is ended."""
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


async def test_a_slow_second_head_of_a_connection_is_ended() -> None:
    async with served() as port, connected(port) as ends:
        assert await answer(ends) == b"HTTP/1.1 200 OK"
        ends[1].write(b"GET / HT")
        assert await is_ended(ends[0])


async def test_an_endless_head_is_ended_before_it_takes_much_memory() -> None:
    async with served(head_s=60) as port, connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nX-Junk: " + b"a" * 100_000)
        assert await is_ended(reader)


async def drip(writer: asyncio.StreamWriter) -> None:
    for byte in b"GET /" + b"a" * 1_000:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.02)
