"""An MCP server that misbehaves, as a program: `python hostile_mcp.py MODE [PORT]`, over stdio or HTTP.

Modes: `plain`. `silent` answers nothing. `many` has 10,000 tools. `lies` has wrong schemas, and names twice. `garbage`
sends invalid JSON around each answer, and lists tools on pages without end. `json` sends each answer in one piece over
HTTP. `resume` ends each response of a call over HTTP before its result, and asks to be called again for it at once;
its tool `crash` has the status 500. `stubborn` ignores the end of its input and SIGTERM, and has a child process.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    SamplingMessage,
    TextContent,
    Tool,
    ToolAnnotations,
)

MODE = sys.argv[1]
PNG = b"\x89PNG\r\n\x1a\n" + bytes([0, 0, 0, 13]) + b"IHDR" + bytes([0, 0, 0, 1] * 2) + bytes(64)
OBJECT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
NAMES = (
    "echo",
    "hang",
    "die",
    "flood",
    "huge",
    "long",
    "sample",
    "picture",
    "fail",
    "leak",
    "change",
    "broken",
)
grown: list[str] = []
gets: list[str] = []


def listed() -> list[Tool]:
    if MODE == "many":
        return [Tool(name=f"tool{number}", input_schema=OBJECT) for number in range(10_000)]
    if MODE == "lies":
        return [
            Tool(name="echo", input_schema=OBJECT),
            Tool(name="echo", input_schema={"type": "object"}),
            Tool(
                name="no.such name ünï",
                input_schema={"type": "object", "properties": {"a": {"type": "text"}}},
            ),
            Tool(
                name="vast", input_schema={"type": "object", "properties": {str(n): {} for n in range(5_000)}}
            ),
        ]
    reading = ToolAnnotations(read_only_hint=True)
    return [
        Tool(name=name, input_schema=OBJECT, annotations=reading if name == "echo" else None)
        for name in (*NAMES, *grown)
    ]


async def list_tools(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=listed())


def text(content: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=content)], is_error=is_error)


async def call_tool(  # noqa: C901, PLR0912 - one case for each tool
    context: Any, params: CallToolRequestParams
) -> CallToolResult:
    session = context.session
    match params.name:
        case "echo":
            return text(str((params.arguments or {}).get("text")))
        case "hang":
            await asyncio.Event().wait()
        case "die":
            os._exit(3)
        case "flood":
            for _ in range(20_000):
                await session.send_log_message(level="info", data="x" * 1_000)
            await asyncio.Event().wait()
        case "huge":
            return text("x" * 20_000_000)
        case "long":
            return text("y" * 6_000_000)
        case "sample":
            message = SamplingMessage(role="user", content=TextContent(type="text", text="Who are you?"))
            await session.create_message([message], max_tokens=5)
        case "picture":
            picture = ImageContent(type="image", data=b64encode(PNG).decode(), mime_type="image/png")
            return CallToolResult(content=[TextContent(type="text", text="Look:"), picture])
        case "fail":
            return text("no such record", is_error=True)
        case "leak":
            return text(f"wrong key {os.environ.get('SERVICE_KEY')}", is_error=True)
        case "change":
            grown.append("new")
            await session.send_tool_list_changed()
        case "broken":
            raise ValueError("broken")
        case _:
            pass
    return text("done")


server = Server("hostile", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def answer_garbage() -> None:
    """Answer by hand, with lines around each answer that are no JSON-RPC. The calls get only these lines."""
    for line in sys.stdin:
        request = json.loads(line)
        say("Starting up ...\n{]\n" + '{"jsonrpc": "2.0"}\n[1, 2]')
        params = request.get("params", {})
        page = int(params.get("cursor", 0))
        names = (f"page{page}",) if page else ("echo", "endless", "parrot")
        result: dict[str, Any] = {
            "tools": [{"name": name, "inputSchema": OBJECT} for name in names],
            "nextCursor": str(page + 1),
        }
        while params.get("name") == "endless":
            sys.stdout.write("x" * 65_536)
        while params.get("name") == "parrot":
            say('{"jsonrpc": "2.0", "id": 4711, "result": {}}')
        if request["method"] == "initialize":
            info = {"name": "garbage", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        if "id" in request and request["method"] != "tools/call":
            say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def resume(scope: Any, receive: Any, send: Any) -> None:
    """Answer over HTTP by hand. The tool `count` has one result: the number of all GET requests so far."""
    if scope["type"] != "http":
        return
    body = (await receive()).get("body") or b"{}"
    request = json.loads(body)
    status, kind, answer = 202, b"text/event-stream", b""
    if scope["method"] == "GET":
        gets.append(scope["path"])
        status, answer = 200, b"id: 1\nretry: 0\ndata:\n\n"
    elif request.get("method") == "tools/call" and request["params"]["name"] == "hang":
        status, answer = 200, b"id: 1\nretry: 0\ndata:\n\n"
    elif "id" in request:
        results: dict[str, dict[str, Any]] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "resume", "version": "1"},
            },
            "tools/list": {
                "tools": [{"name": name, "inputSchema": OBJECT} for name in ("hang", "count", "crash")]
            },
            "tools/call": {"content": [{"type": "text", "text": str(len(gets))}]},
        }
        status, kind = 500 if "crash" in str(request) else 200, b"application/json"
        answer = json.dumps(
            {"jsonrpc": "2.0", "id": request["id"], "result": results[request["method"]]}
        ).encode()
    headers = [(b"content-type", kind), (b"mcp-session-id", b"1")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def main() -> None:
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "1000"])
    if MODE == "silent" and not sys.argv[2:]:
        signal.pause()
    if MODE == "garbage":
        answer_garbage()
    elif sys.argv[2:]:
        app = resume if MODE == "resume" else server.streamable_http_app(json_response=MODE == "json")
        uvicorn.run(app, port=int(sys.argv[2]), log_level="critical")
    else:
        asyncio.run(serve_stdio())
    if MODE == "stubborn":
        signal.pause()


main()
