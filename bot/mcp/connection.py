"""The connection to one MCP server: opened at the first need, kept by one task, opened again after a pause."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast

import anyio
import structlog
from mcp.client import ClientSession, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, ToolListChangedNotification
from pydantic_core import to_json

from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.known_models import picture_tokens
from bot.agent.mcp_servers import McpServer
from bot.agent.model import Image
from bot.agent.tool import Tool
from bot.agent.tool_output import Illustrated, cut_middle
from bot.errors import ToolFailed
from bot.mcp.tools import McpStatus, read_tools
from bot.mcp.transports import McpServerFailed, Received, is_lost_session, open_streams
from bot.media.formats import picture_of
from bot.observe.logs import mask

FIRST_LIST_S = 10.0
"""Seconds that a turn waits for the first list of tools."""
OPENING_S = 60.0
"""Seconds until a server must have listed its tools. Some install themselves at their first start."""

_MOST_LISTED, _MOST_PAGES = 1_000, 20
_LIST_PAUSE_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 2.0, 300.0
_STEADY_S = 60.0
_FLOOD, _FLOOD_S = 1_000, 10.0
_CLOSING_S = 5.0
_REFUSALS_S = 1.0
_SHORT_OUTAGE = 3
"""Failures in a row after which the tools of a server that has worked are withdrawn."""
_LONGEST_ERROR = 2_000

Dispatcher = JSONRPCDispatcher[TransportContext]

log = structlog.get_logger()


class McpConnection:
    """The connection to one server. Built for one event loop."""

    def __init__(self, server: McpServer, *, clock: Callable[[], float] = monotonic) -> None:
        self._server = server
        self._clock = clock
        self._slots = asyncio.Semaphore(server.table.max_at_once)
        self._changed = asyncio.Event()
        # The task that has the connection, and the time of its start.
        self._owner: asyncio.Task[None] | None = None
        self._began = 0.0
        # Set when the server has listed its tools, or failed.
        self._opened = asyncio.Event()
        self._dispatcher: Dispatcher | None = None
        # Messages since the last call, or since the last FLOOD_S.
        self._received = 0
        self._tools: Mapping[str, Tool] = {}
        self._latency_s: float | None = None
        self._error = ""
        self._pause_s = _FIRST_PAUSE_S
        self._retry_at = 0.0
        # Failures until the tools are withdrawn.
        self._failures_left = 0
        self._requests: set[asyncio.Task[dict[str, Any]]] = set()
        self._renewing = asyncio.Lock()

    def status(self) -> McpStatus:
        """Return the state of the connection."""
        names = tuple(tool.name for tool in self._tools.values())
        return McpStatus(name=self._server.name, tools=names, latency_s=self._latency_s, error=self._error)

    async def list_tools(self) -> Mapping[str, Tool]:
        """Return the tools by the server's names for them. Waits FIRST_LIST_S from the start of the first connection.

        During a short outage these are the tools of before.
        """
        with suppress(ToolFailed, TimeoutError):
            opened = self._open()
            if not self._tools:
                async with asyncio.timeout(max(self._began + FIRST_LIST_S - self._clock(), 0.0)):
                    await opened.wait()
        return self._tools

    async def close(self) -> None:
        """Close the connection, and end the server's processes."""
        if self._owner is not None:
            for _ in range(2):  # the second time for an ending that hangs
                self._owner.cancel()
                await asyncio.wait([self._owner], timeout=_CLOSING_S)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool. Raises ToolFailed. Tool.call has the time-out."""
        name = self._server.name
        async with self._slots:
            try:
                result = await self._request(tool, arguments)
            except ToolFailed:
                raise
            except Exception as error:
                if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                    raise ToolFailed(self._hide(f"{name} refused the call: {error.message}")) from error
                lost = (
                    f"The connection to {name} ended before the answer. The outcome of this call is unknown."
                )
                raise ToolFailed(lost) from error
        output = await call_in_daemon_thread(lambda: read_result(result), name=f"mcp-result-{name}")
        if result.get("isError"):
            raise ToolFailed(self._hide(f"{tool} failed: {output}"))
        return output

    async def _request(
        self, tool: str, arguments: Mapping[str, Any], *, is_again: bool = False
    ) -> dict[str, Any]:
        """Send the call, and once more in a new session if the server has lost ours. Then it has not run the call."""
        await self._open().wait()
        dispatcher = self._dispatcher
        if dispatcher is None:
            raise _unavailable(self._server)
        self._received = 0  # quick calls are no flood
        call = dispatcher.send_raw_request("tools/call", {"name": tool, "arguments": dict(arguments)})
        request = asyncio.create_task(call, name=f"mcp-call-{self._server.name}")
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)
        try:
            return await request
        except MCPError as error:
            if is_again or not is_lost_session(error.code, error.message):
                raise
        await self._renew(dispatcher)
        return await self._request(tool, arguments, is_again=True)

    async def _renew(self, lost: Dispatcher) -> None:
        """End the connection whose session is lost, so that the next need opens one. The tools stay.

        Other calls get a moment for their own refusals: without one, nobody knows their outcome.
        """
        async with self._renewing:
            if self._dispatcher is not lost or self._owner is None:
                return
            if self._requests:
                await asyncio.wait(self._requests, timeout=_REFUSALS_S)
            log.info("mcp_session_lost", server=self._server.name)
            self._failures_left = _SHORT_OUTAGE
            self._owner.cancel()
            await asyncio.wait([self._owner], timeout=_CLOSING_S)

    def _open(self) -> asyncio.Event:
        """Return the event that ends the opening. Raises ToolFailed during the pause after a failure."""
        if self._owner is None or self._owner.done():
            if self._clock() < self._retry_at:
                raise _unavailable(self._server)
            self._opened = asyncio.Event()
            self._began = self._clock()
            self._owner = asyncio.create_task(self._own(), name=f"mcp-{self._server.name}")
        return self._opened

    async def _own(self) -> None:
        """Open, keep and close the connection. The transports of the SDK demand one task for all three."""
        try:
            await self._keep()
        except Exception as error:  # noqa: BLE001 - a server may cause any error; the next need tries again
            self._note_failure(error)
        finally:
            self._dispatcher = None
            self._opened.set()

    async def _keep(self) -> None:
        """Serve calls until the connection ends, which raises an error. Ask for the tools whenever they change."""
        async with open_streams(self._server) as (reading, writing):
            passing, passed = anyio.create_memory_object_stream[Received](0)
            dispatcher = Dispatcher(passed, writing)
            session = ClientSession(dispatcher=dispatcher, message_handler=self._notice)
            async with passing, passed, session, anyio.create_task_group() as group:
                group.start_soon(self._pass_on, reading, passing)
                async with asyncio.timeout(OPENING_S):
                    await session.initialize()
                    await self._ask(dispatcher)
                self._latency_s, self._error = self._clock() - self._began, ""
                self._dispatcher = dispatcher
                self._opened.set()
                while await self._changed.wait():
                    self._changed.clear()
                    async with asyncio.timeout(OPENING_S):
                        await self._ask(dispatcher)
                    await asyncio.sleep(_LIST_PAUSE_S)  # a server cannot keep us busy with changes

    async def _ask(self, dispatcher: Dispatcher) -> None:
        """Take the allowed tools of all pages of the list."""
        listed: list[object] = []
        cursor: object = None
        for _ in range(_MOST_PAGES):
            page = await dispatcher.send_raw_request("tools/list", {"cursor": cursor} if cursor else None)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            listed += cast("list[object]", tools) if isinstance(tools, list) else []
            if not (tools and cursor):
                break
        # In a thread, because schemas from outside may take a while.
        self._tools = await call_in_daemon_thread(
            lambda: read_tools(self._server, listed[:_MOST_LISTED], self._call), name="mcp-tools"
        )

    async def _pass_on(
        self, reading: AsyncIterable[Received], passing: anyio.abc.ObjectSendStream[Received]
    ) -> None:
        """Pass messages to the session. Raises McpServerFailed at the end, and for a flood of messages."""
        since = self._clock()
        async for each in reading:
            if self._clock() - since > _FLOOD_S:
                since, self._received = self._clock(), 0
            self._received += 1
            if self._received > _FLOOD:
                raise McpServerFailed("It floods the connection with messages.")
            if isinstance(each, SessionMessage):
                await passing.send(each)
        raise McpServerFailed("It ended the connection.")

    async def _notice(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    def _note_failure(self, error: BaseException) -> None:
        """Set the time of the next attempt: at once after a steady connection, then after a pause that doubles."""
        self._failures_left -= 1
        if self._dispatcher is not None and self._clock() - self._began > _STEADY_S:
            self._pause_s, self._failures_left = 0.0, _SHORT_OUTAGE
        if self._failures_left <= 0:
            self._tools = {}
        pause = self._pause_s
        self._pause_s = min(max(2 * pause, _FIRST_PAUSE_S), _LONGEST_PAUSE_S)
        self._retry_at = self._clock() + pause
        self._error = self._hide(_describe(error))
        log.warning("mcp_server_failed", server=self._server.name, error=self._error, retry_s=pause)

    def _hide(self, text: str) -> str:
        """Return a text of the server, shortened and without the values of our secrets."""
        return cut_middle(mask(text, self._server.secrets), at_most=_LONGEST_ERROR)


def _unavailable(server: McpServer) -> ToolFailed:
    return ToolFailed(f"The tools of {server.name} are not available now. Try again later.")


def _describe(error: BaseException) -> str:
    """Return the reason of a failure. Only our own texts are repeated, because others may contain secrets."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, McpServerFailed):
        return str(error)
    if isinstance(error, ConnectionError) and error.strerror is None:
        return "It ended the connection."
    if isinstance(error, TimeoutError):
        return f"It did not answer within {OPENING_S:g} seconds."
    if isinstance(error, MCPError):
        return f"It refused a request (error {error.code})."
    return f"{type(error).__name__}: {error.strerror}" if isinstance(error, OSError) else type(error).__name__


LARGEST_TEXT = 5_000_000
"""Characters of a result. A longer one loses its middle."""
MOST_IMAGES = 4
LARGEST_IMAGE = 5_000_000
"""Bytes of a picture."""


def read_result(result: Mapping[str, Any]) -> Illustrated:
    """Return the text of a result: its texts, a line for each other part, or else its structured content."""
    content = result.get("content")
    listed = cast("list[object]", content) if isinstance(content, list) else []
    images: list[Image] = []
    lines = [_line(cast("dict[str, Any]", each), images) for each in listed if isinstance(each, dict)]
    if not lines and result.get("structuredContent") is not None:
        lines = [to_json(result["structuredContent"], inf_nan_mode="constants").decode()]
    return Illustrated.of(cut_middle("\n".join(lines), at_most=LARGEST_TEXT), images)


def _line(part: Mapping[str, Any], images: list[Image]) -> str:
    """Return the line of a part, and append its picture if a model can see it."""
    kind, resource = part.get("type"), part.get("resource")
    embedded = cast("dict[str, Any]", resource) if kind == "resource" and isinstance(resource, dict) else part
    if kind in ("text", "resource") and isinstance(embedded.get("text"), str):
        return embedded["text"]
    if kind == "resource_link":
        return f"[link to {part.get('uri')}: {part.get('title') or part.get('name') or ''}]"
    if kind != "image":
        return f"[{embedded.get('mimeType') or kind} that cannot be shown as text]"
    image = _read_image(str(part.get("data", "")))
    if image is None or len(images) == MOST_IMAGES:
        return "[a picture that cannot be shown]"
    images.append(image)
    return f"[picture {len(images)}: {image.mime_type}]"


def _read_image(encoded: str) -> Image | None:
    """Return the picture, whatever type the server claims; None if it is too large or in no format for models."""
    try:
        data = b64decode(encoded, validate=True) if len(encoded) <= LARGEST_IMAGE * 4 // 3 else b""
    except ValueError:
        return None
    picture = picture_of(data)
    if picture is None:
        return None
    tokens = picture_tokens("", picture.width, picture.height)
    return Image(data=data, mime_type=picture.mime_type, tokens=tokens)
