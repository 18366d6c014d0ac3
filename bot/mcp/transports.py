"""The transports of MCP servers: the pipes of a program, and streamable HTTP. Both bound what a server can send."""

import asyncio
import os
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from time import monotonic
from typing import Any, cast

import anyio
import httpx2
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from bot.agent.mcp_servers import McpServer
from bot.errors import BotError

LARGEST_MESSAGE = 8 * 1024 * 1024
"""Bytes of one message of a server."""

_GRACE_S = 1.0
_SLOWEST_WRITE_S = 10.0
_CONNECT_S = 10.0
_GONE = (401, 403, 404)

Received = SessionMessage | Exception
Streams = tuple[anyio.abc.ObjectReceiveStream[Received], anyio.abc.ObjectSendStream[SessionMessage]]


class McpServerFailed(BotError):
    """The MCP server failed. The text contains no secret and no text of the server."""


def open_streams(server: McpServer) -> AbstractAsyncContextManager[Streams]:
    """Connect to the server. Errors end the block: McpServerFailed, OSError, errors of httpx2, or groups of these."""
    return _open_http(server) if server.url else _open_program(server)


@asynccontextmanager
async def _open_program(server: McpServer) -> AsyncGenerator[Streams]:
    """Start the program, and end its whole process group after the block.

    The SDK's own client reads lines of any length. The environment has the few variables that the SDK finds safe, and
    those of the table. The stderr is dropped, because it may contain secrets.
    """
    process = await asyncio.create_subprocess_exec(
        server.table.command,
        *server.table.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env={**get_default_environment(), **server.env},
        start_new_session=True,
        limit=LARGEST_MESSAGE,
    )
    try:
        received, reading = anyio.create_memory_object_stream[Received](0)
        writing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        async with received, reading, writing, sent, anyio.create_task_group() as group:
            group.start_soon(_read_lines, cast("StreamReader", process.stdout), received)
            group.start_soon(_write_lines, cast("StreamWriter", process.stdin), sent)
            yield reading, writing
            group.cancel_scope.cancel()
    finally:
        await _end(process)


async def _read_lines(stdout: StreamReader, received: anyio.abc.ObjectSendStream[Received]) -> None:
    async with received:
        while True:
            try:
                line = await stdout.readline()
            except ValueError as error:
                raise McpServerFailed(f"It sent more than {LARGEST_MESSAGE:,} bytes at once.") from error
            if not line:
                return
            try:
                message: Received = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError as error:
                message = error
            await received.send(message)


async def _write_lines(stdin: StreamWriter, sent: anyio.abc.ObjectReceiveStream[SessionMessage]) -> None:
    async for each in sent:
        stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        async with asyncio.timeout(_SLOWEST_WRITE_S):
            await stdin.drain()


async def _end(process: Process) -> None:
    """Close the program's input, wait a moment, and kill what is left of its process group."""
    cast("StreamWriter", process.stdin).close()
    try:
        await _drain(process)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await _drain(process)


async def _drain(process: Process) -> None:
    """Wait for the end of the program. asyncio closes its pipes only when they are read to their end."""
    with suppress(TimeoutError):  # a process that left the group may hold the pipes open
        async with asyncio.timeout(_GRACE_S):
            while await cast("StreamReader", process.stdout).read(LARGEST_MESSAGE):
                pass
            await process.wait()


@asynccontextmanager
async def _open_http(server: McpServer) -> AsyncGenerator[Streams]:
    # Nobody waits for a call after its time-out. Its request still goes on in the SDK until this one.
    limit_s = server.table.timeout_s + _GRACE_S
    headers = {**server.headers, "accept-encoding": "identity"}
    async with (
        _Client(headers=headers, timeout=httpx2.Timeout(limit_s, connect=_CONNECT_S)) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LARGEST_MESSAGE) as streams,
    ):
        yield streams  # pyright: ignore[reportReturnType]


class _Client(httpx2.AsyncClient):
    """A client that bounds responses. Other errors than these would end the connection with all of its calls."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Return the response, 504 if none came in time. Raises McpServerFailed if the server is gone."""
        latest = monotonic() + (self.timeout.read or 0.0)
        if request.method == "GET":  # the stream of notifications is silent for hours
            request.extensions["timeout"]["read"] = None
        try:
            response = await super().send(request, **options)
        except httpx2.ReadTimeout:
            return httpx2.Response(504, request=request)
        fault = ""
        if response.headers.get("content-encoding", "identity") != "identity":
            fault = "It packs its answers, although nobody asked for that."
        if request.method == "POST":
            if response.status_code in _GONE or response.status_code >= 500:
                fault = f"It answered with the HTTP status {response.status_code}."
            response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream), latest=latest)
        if fault:
            await response.aclose()
            raise McpServerFailed(fault)
        return response


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response. A StreamError ends its call alone."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, latest: float) -> None:
        self._stream = stream
        self._latest = latest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        try:
            async for piece in self._stream:
                received += len(piece)
                if received > LARGEST_MESSAGE:
                    raise httpx2.StreamError(f"more than {LARGEST_MESSAGE:,} bytes at once")
                if monotonic() > self._latest:
                    raise httpx2.StreamError("too slow")
                yield piece
        except httpx2.ReadTimeout as error:
            raise httpx2.StreamError("too slow") from error

    async def aclose(self) -> None:
        await self._stream.aclose()
