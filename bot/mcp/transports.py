"""The transports of MCP servers: the pipes of a program, and streamable HTTP. Both bound what a server can send."""

import asyncio
import os
import re
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, cast

import anyio
import httpx2
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, jsonrpc_message_adapter

from bot.agent.mcp_servers import McpServer
from bot.errors import BotError
from memory.http_calls import certificates
from memory.proxy import proxy_of

LARGEST_MESSAGE = 8 * 1024 * 1024
"""Bytes of one message of a server."""

_GRACE_S = 1.0
_SLOWEST_WRITE_S = 10.0
_CONNECT_S = 10.0
_GONE = (401, 403, 404, 405, 502, 503, 504)
"""HTTP statuses that end the connection. Any other error ends its call."""
LOST_SESSION = -33_404
"""Our code of a JSON-RPC error: the server does not know the session any more, so it has not run the request."""
_SESSION_HEADER = "mcp-session-id"
_SESSION = re.compile(r"session|not initiali[sz]ed", re.IGNORECASE)
"""Words about a lost session. The specification demands 404, but the TypeScript SDK's examples answer 400
(modelcontextprotocol/typescript-sdk#1476), and the Rust SDK 401 (modelcontextprotocol/rust-sdk#559).
"""
_LOST = re.compile(
    r"(?:unknown|invalid|expired|no valid|no such) (?:\S+ )?session|not initiali[sz]ed|reinitiali[sz]e"
    r"|session\b[^.]{0,60}(?:not found|expired|unknown|invalid|terminated|not exist|no longer)",
    re.IGNORECASE,
)
"""Such words in an error with the status 500 (punkpeye/fastmcp#121) or 200 (zoedsoupe/anubis-mcp#89)."""
_ERROR = re.compile(
    r'\s*\{(?:\s*"(?:jsonrpc|id)"\s*:[^,{}]*,)*\s*"error"(?!.*"code"\s*:\s*-3260[123]\b)', re.DOTALL
)
_WRONG_ARGUMENTS = re.compile(r'"code"\s*:\s*-3260[12]\b')
"""A refusal of one call, whose argument may be a session of the tool's own."""
_LONGEST_REFUSAL = 500
_GUARD = "read _; sleep 1; kill -9 0"
"""Ends the process group of a server after its input. Its input ends with this process, however that dies."""
_ENDS_AT: ContextVar[float | None] = ContextVar("_ENDS_AT", default=None)
"""The time when all requests of one call end. The SDK makes them in one task."""

Received = SessionMessage | Exception
Streams = tuple[AsyncIterable[Received], anyio.abc.ObjectSendStream[SessionMessage]]


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
    harmless, process = get_default_environment(), None
    guard = await create_subprocess_exec(
        "/bin/sh", "-c", _GUARD, stdin=PIPE, stdout=DEVNULL, env=harmless, process_group=0
    )
    try:
        process = await create_subprocess_exec(
            server.table.command,
            *server.table.args,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**harmless, **server.env},
            process_group=guard.pid,
            limit=LARGEST_MESSAGE,
        )
        writing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        lines = _read_lines(cast("StreamReader", process.stdout))
        async with aclosing(lines), writing, sent, anyio.create_task_group() as group:
            group.start_soon(_write_lines, cast("StreamWriter", process.stdin), sent)
            yield lines, writing
            group.cancel_scope.cancel()
    finally:
        await _end(guard, process)


async def _read_lines(stdout: StreamReader) -> AsyncGenerator[Received]:
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
        yield message


async def _write_lines(stdin: StreamWriter, sent: anyio.abc.ObjectReceiveStream[SessionMessage]) -> None:
    async for each in sent:
        stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        async with asyncio.timeout(_SLOWEST_WRITE_S):
            await stdin.drain()


async def _end(guard: Process, process: Process | None) -> None:
    """Close the program's input, wait a moment, and kill what is left of its process group."""
    try:
        if process is not None:
            cast("StreamWriter", process.stdin).close()
            await _drain(process)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(guard.pid, signal.SIGKILL)
        await guard.wait()
        if process is not None:
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
    headers = {**server.headers, "accept-encoding": "identity"}
    client = _Client(
        headers=headers,
        timeout=httpx2.Timeout(None, connect=_CONNECT_S),
        trust_env=False,  # httpx2 would use a proxy for loopback too
        proxy=proxy_of(server.url),
        verify=certificates(),
    )
    async with (
        client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LARGEST_MESSAGE) as streams,
    ):
        client.limit_s = server.table.timeout_s + _GRACE_S
        yield streams  # pyright: ignore[reportReturnType]


class _Client(httpx2.AsyncClient):
    """A client that bounds responses. Other errors than these would end the connection with all of its calls."""

    # Seconds of a call with all of its requests. Nobody waits for it any more, but the SDK goes on.
    limit_s = 0.0
    _has_streamed = False

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Return the response, 504 if none came in time. Raises McpServerFailed if the server is gone."""
        if request.method != "GET" and _ENDS_AT.get() is None:
            _ENDS_AT.set(asyncio.get_running_loop().time() + self.limit_s)
        ends_at = _ENDS_AT.get()  # None for the stream of notifications, which is silent for hours
        try:
            async with asyncio.timeout_at(ends_at):
                if request.method == "GET":
                    # A server may end each stream at once, and ask for the next without a pause.
                    await asyncio.sleep(_GRACE_S if self._has_streamed else 0)
                    self._has_streamed = True
                response = await super().send(request, **options)
        except TimeoutError:
            return httpx2.Response(504, request=request)
        fault = ""
        if response.headers.get("content-encoding", "identity") != "identity":
            fault = "It packs its answers, although nobody asked for that."
        elif words := await _lost_session(request, response, ends_at):
            error = {"code": LOST_SESSION, "message": words}
            return httpx2.Response(400, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)
        if request.method == "POST" and response.status_code in _GONE:
            fault = f"It answered with the HTTP status {response.status_code}."
        if fault:
            await response.aclose()
            raise McpServerFailed(fault)
        if ends_at is not None and not response.is_stream_consumed:
            stream = cast("httpx2.AsyncByteStream", response.stream)
            response.stream = _Bounded(stream, ends_at=ends_at)
        return response


def is_lost_session(code: int, message: str) -> bool:
    """Return True for the error of a call that has not run, because the server does not know the session."""
    is_of_server = code == INVALID_REQUEST or -32_099 <= code <= -32_000
    return code == LOST_SESSION or (is_of_server and _LOST.search(message) is not None)


async def _lost_session(request: httpx2.Request, response: httpx2.Response, ends_at: float | None) -> str:
    """Return the server's words if it refuses the request because it does not know the session, or ""."""
    status, length = response.status_code, response.headers.get("content-length", "")
    may_be = 400 <= status <= 500 or (status == 200 and 0 < len(length) < 5)  # a short body that ends
    if request.method != "POST" or _SESSION_HEADER not in request.headers or not may_be:
        return ""
    stream = cast("httpx2.AsyncByteStream", response.stream)
    response.stream = _Bounded(stream, ends_at=ends_at or 0.0)
    try:
        text = (await response.aread()).decode(errors="replace")
    except httpx2.StreamError:
        text = ""
    await response.aclose()
    if status in (200, 500):
        return text[:_LONGEST_REFUSAL] if _ERROR.match(text) and _LOST.search(text) else ""
    is_lost = status == 404 or _SESSION.search(text)
    return text[:_LONGEST_REFUSAL] or "404" if is_lost and not _WRONG_ARGUMENTS.search(text) else ""


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response. A StreamError ends its call alone."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, ends_at: float) -> None:
        self._stream = stream
        self._ends_at = ends_at

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received, pieces = 0, aiter(self._stream)
        while True:
            try:
                async with asyncio.timeout_at(self._ends_at):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                raise httpx2.StreamError("too slow") from error
            if piece is None:
                return
            received += len(piece)
            if received > LARGEST_MESSAGE:
                raise httpx2.StreamError(f"more than {LARGEST_MESSAGE:,} bytes at once")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
