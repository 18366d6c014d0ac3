"""An MCP server over HTTP that loses its sessions and says so in its own way, for tests.

`forget` makes it lose the session, `down` refuses every request with 503. It runs within the test's process.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.transport.http_server import serve_http

_TOOL = {"name": "pay", "inputSchema": {"type": "object", "properties": {"session_id": {"type": "string"}}}}


@dataclass(kw_only=True)
class OddMcp:
    """The server. `refusal` is its status and body for a session that it does not know.

    `own_error` is what the tool answers to a wrong `session_id`.
    """

    refusal: tuple[int, object]
    url: str = ""
    session: int = 1
    is_down: bool = False
    always_lost: bool = False
    own_error: tuple[int, dict[str, object]] = (400, {"code": -32602, "message": "no such session_id"})
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    openings: int = 0

    def forget(self) -> None:
        """Lose the session, as a restart does."""
        self.session += 1

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        response = self._answer(request, await request.body())
        await response(scope, receive, send)

    def _answer(self, request: Request, body: bytes) -> Response:
        if self.is_down:
            return Response("", 503)
        if request.method != "POST":
            return Response("", 405)
        asked = json.loads(body)
        if asked["method"] == "initialize":
            self.openings += 1
        is_known = request.headers.get("mcp-session-id") == str(self.session)
        is_lost = asked["method"] == "tools/call" and self.always_lost
        if asked["method"] != "initialize" and (is_lost or not is_known):
            status, content = self.refusal
            text = content if isinstance(content, str) else json.dumps(content)
            kind = "application/json"
            if isinstance(content, str):
                kind = "text/event-stream" if status == 200 else "text/plain"
            return Response(text, status, media_type=kind)
        if "id" not in asked:
            return Response("", 202)
        if asked["method"] == "tools/call":
            self.calls.append(asked["params"]["arguments"])
            if asked["params"]["arguments"].get("session_id") == "wrong":
                status, error = self.own_error
                return self._say({"id": asked["id"], "error": error}, status=status)
        results: dict[str, object] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            },
            "tools/list": {"tools": [_TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "paid"}]},
        }
        return self._say({"id": asked["id"], "result": results[asked["method"]]})

    def _say(self, message: dict[str, object], *, status: int = 200) -> Response:
        text = json.dumps({"jsonrpc": "2.0", **message})
        headers = {"mcp-session-id": str(self.session)}
        return Response(text, status, headers, "application/json")


@asynccontextmanager
async def serving_odd(refusal: tuple[int, object]) -> AsyncGenerator[OddMcp]:
    """Serve it on a free port until the block ends."""
    odd = OddMcp(refusal=refusal)
    async with serve_http(odd) as running:
        odd.url = f"{running.origin}/mcp"
        yield odd
