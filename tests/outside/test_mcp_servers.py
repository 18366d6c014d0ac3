"""MCP servers of other people by stdio and streamable HTTP, and one of the SDK that demands a secret."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.agent.mcp_servers import McpServerTable, read_servers
from bot.agent.model import ToolSpec
from bot.agent.tool import Tool
from bot.agent.tool_output import Illustrated
from bot.errors import ToolFailed
from bot.mcp import connection
from bot.mcp.tools import McpServers
from chaos.rig.system import free_port
from tests.mcp_server import PASSWORD, PIXEL
from tests.openai_checker.request import find_fault
from tests.unit.agent.kit import make_context

SERVER = Path(__file__).parents[1] / "mcp_server.py"
STARTS_WITHIN_S = 60.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give servers time to start on a busy machine."""
    monkeypatch.setattr(connection, "FIRST_LIST_S", STARTS_WITHIN_S)


@asynccontextmanager
async def tools_of(**table: Any) -> AsyncGenerator[Mapping[str, Tool]]:
    """Yield the tools of a server. Its table is validated as that of an agents file."""
    servers, problems = read_servers({"it": McpServerTable.model_validate(table)}, {"MCP_PASSWORD": PASSWORD})
    assert problems == []
    async with McpServers.open(servers) as opened:
        tools = await opened.tools_of("it")
        (status,) = opened.status()
        assert (status.error, len(status.tools)) == ("", len(tools))
        yield tools


async def ask(tool: Tool, **arguments: object) -> str:
    return await tool.call(json.dumps(arguments), await make_context())


def fault_of(tools: Mapping[str, Tool]) -> object:
    """Return what OpenAI would refuse in a request with these tools."""
    described = [{"type": "function", "function": _function(tool.spec)} for tool in tools.values()]
    return find_fault({"model": "gpt", "messages": [{"role": "user", "content": "hi"}], "tools": described})


def _function(spec: ToolSpec) -> dict[str, object]:
    return {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}


@asynccontextmanager
async def running(*command: str, port: int) -> AsyncGenerator[str]:
    """Run a program that listens on this port, and yield its address."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "NO_PROXY": "127.0.0.1"}, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def tools_by(
    transport: str, module: str, maker: str, *options: str, **table: Any
) -> AsyncGenerator[Mapping[str, Tool]]:
    """Yield the tools of a package: by stdio its program, over HTTP the server that `maker` builds."""
    if transport == "stdio":
        async with tools_of(command=sys.executable, args=["-m", module, *options], **table) as tools:
            yield tools
        return
    port = free_port()
    code = f"from {module}.server import create_server as c; {maker}.run('streamable-http', port={port})"
    async with (
        running(sys.executable, "-c", code, port=port) as address,
        tools_of(url=f"{address}/mcp", **table) as tools,
    ):
        yield tools


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_time_server_tells_the_time_and_converts_it(transport: str) -> None:
    async with tools_by(transport, "mcp_server_time", "c('UTC')") as tools:
        assert {"get_current_time", "convert_time"} <= tools.keys()
        assert fault_of(tools) is None
        now = json.loads(await ask(tools["get_current_time"], timezone="Europe/Berlin"))
        there = json.loads(
            await ask(
                tools["convert_time"],
                source_timezone="Europe/Berlin",
                time="12:00",
                target_timezone="Asia/Tokyo",
            )
        )
        with pytest.raises(ToolFailed, match="Atlantis"):
            await ask(tools["get_current_time"], timezone="Atlantis/Here")

    assert now["timezone"] == "Europe/Berlin"
    assert there["target"]["datetime"][11:16] in ("19:00", "20:00")


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_fetch_server_reads_a_page_of_ours(transport: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<html><body><article><p>The quokka smiles.</p></article></body></html>"
    )
    port = free_port()
    web = ("http.server", str(port), "--bind", "127.0.0.1", "--directory", str(tmp_path))
    options = ("--ignore-robots-txt", "--allow-private-ips")
    maker = "c(ignore_robots_txt=True, allow_private_ips=True)"
    table = {"env": {"NO_PROXY": "127.0.0.1"}} if transport == "stdio" else {}
    async with (
        running(sys.executable, "-m", *web, port=port) as address,
        tools_by(transport, "mcp_server_fetch", maker, *options, timeout_s=120.0, **table) as tools,
    ):
        assert fault_of(tools) is None
        assert "quokka smiles" in await ask(tools["fetch"], url=f"{address}/page.html")


async def test_a_server_over_streamable_http_gets_the_secret_of_its_header(tmp_path: Path) -> None:
    port, headers = free_port(), {"Authorization": "Bearer env:MCP_PASSWORD"}
    command = (sys.executable, str(SERVER), "shop", str(tmp_path / "calls"), "http", str(port))
    async with running(*command, port=port) as address:
        url = f"{address}/mcp"
        async with tools_of(url=url, headers=headers, tools=["add", "draw", "pay"]) as tools:
            assert sorted(tools) == ["add", "draw", "pay"]
            assert fault_of(tools) is None
            sums = await asyncio.gather(*(ask(tools["add"], a=number, b=1) for number in range(8)))
            drawn = await ask(tools["draw"])
            assert [tools[name].is_repeatable for name in ("add", "draw", "pay")] == [True, True, False]
        async with McpServers.open(
            read_servers({"it": McpServerTable.model_validate({"url": url})}, {})[0]
        ) as opened:
            refused = (await opened.tools_of("it"), opened.status()[0].error)

    assert sums == [f"shop: {number + 1}" for number in range(8)]
    assert isinstance(drawn, Illustrated)
    assert [image.data for image in drawn.images] == [PIXEL]
    assert refused == ({}, "It answered with the HTTP status 401.")


async def _wait_for(port: int) -> None:
    async with asyncio.timeout(STARTS_WITHIN_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            await writer.wait_closed()
            return
