"""An MCP server by the SDK, for tests: `python mcp_server.py NAME LOG [http PORT]`.

Each call of a tool is a line in the file LOG. Over HTTP it demands the header `Authorization: Bearer open sesame`.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.utilities.types import Image
from mcp_types import ToolAnnotations

PASSWORD = "open sesame"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060"
    "0000000500017a5eab3f0000000049454e44ae426082"
)
"""A PNG of one transparent pixel."""

Message = MutableMapping[str, Any]
Application = Callable[[Message, Callable[..., Any], Callable[..., Any]], Awaitable[None]]


def make_server(name: str, log: Path) -> MCPServer:
    """Return the server. An amount over 100 takes for ever, unless there is a file LOG.go."""
    server = MCPServer(name)
    reads = ToolAnnotations(read_only_hint=True)

    def note(line: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    async def hold(amount: int) -> None:
        if amount > 100 and not log.with_suffix(".go").exists():
            await asyncio.Event().wait()

    @server.tool(annotations=reads)
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        note(f"add {a} {b}")
        return f"{name}: {a + b}"

    @server.tool()
    async def pay(amount: int) -> str:
        """Pay an amount."""
        note(f"pay {amount}")
        await hold(amount)
        return f"paid {amount}"

    @server.tool(annotations=reads)
    async def look(amount: int) -> str:
        """Look at an amount."""
        note(f"look {amount}")
        await hold(amount)
        return f"saw {amount}"

    @server.tool(annotations=reads)
    def draw() -> list[str | Image]:
        """Draw a pixel."""
        return ["one pixel", Image(data=PIXEL, format="png")]

    @server.tool(annotations=reads)
    def recite(lines: int) -> str:
        """Recite so many lines."""
        return "\n".join(f"line {number} of the poem" for number in range(lines))

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("it never works")

    return server


def guarded(app: Application) -> Application:
    """Return the application for requests with the password only."""

    async def serve(scope: Message, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and given != f"Bearer {PASSWORD}":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return serve


if __name__ == "__main__":
    made = make_server(sys.argv[1], Path(sys.argv[2]))
    if sys.argv[3:4] == ["http"]:
        uvicorn.run(
            guarded(made.streamable_http_app()), host="127.0.0.1", port=int(sys.argv[4]), log_level="error"
        )
    else:
        made.run()
