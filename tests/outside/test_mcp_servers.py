"""MCP servers of other people by stdio, and one of the SDK over streamable HTTP with a secret."""

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
from bot.mcp.servers import McpServers
from tests.mcp_server import PASSWORD, PIXEL
from tests.openai_checker.request import find_fault
from tests.story.harness import free_port
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


async def test_the_time_server_tells_the_time_and_converts_it() -> None:
    async with tools_of(command=sys.executable, args=["-m", "mcp_server_time"]) as tools:
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


async def test_the_fetch_server_reads_a_page_of_ours(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<html><body><article><p>The quokka smiles.</p></article></body></html>"
    )
    port = free_port()
    web = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "http.server",
            str(port),
            "--bind",
            "127.0.0.1",
            "--directory",
            str(tmp_path),
        ),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await _wait_for(port)
        args = ["-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"]
        env = {"NO_PROXY": "127.0.0.1"}
        async with tools_of(command=sys.executable, args=args, env=env, timeout_s=120.0) as tools:
            assert fault_of(tools) is None
            page = await ask(tools["fetch"], url=f"http://127.0.0.1:{port}/page.html")
    finally:
        web.terminate()
        await web.wait()

    assert "quokka smiles" in page


async def test_a_server_over_streamable_http_gets_the_secret_of_its_header(tmp_path: Path) -> None:
    port = free_port()
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SERVER), "shop", str(tmp_path / "calls"), "http", str(port)),
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    url, headers = f"http://127.0.0.1:{port}/mcp", {"Authorization": "Bearer env:MCP_PASSWORD"}
    try:
        await _wait_for(port)
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
    finally:
        server.terminate()
        await server.wait()

    assert sums == [f"shop: {number + 1}" for number in range(8)]
    assert isinstance(drawn, Illustrated)
    assert [image.data for image in drawn.images] == [PIXEL]
    assert refused[0] == {}
    assert refused[1] != ""


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
