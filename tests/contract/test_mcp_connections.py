"""Connections to real MCP server processes that misbehave, over stdio and streamable HTTP."""

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from structlog.testing import capture_logs

from bot.agent.context import AgentContext
from bot.agent.mcp_servers import McpServer, McpServerTable, read_servers
from bot.agent.tool import Tool
from bot.agent.tool_output import Illustrated
from bot.errors import ToolFailed
from bot.mcp.connection import McpConnection
from bot.mcp.tools import McpServers

HOSTILE = str(Path(__file__).parent.parent / "hostile_mcp.py")
PYTHON = sys.executable
SECRET = "s3cret-value-of-the-operator"
CONTEXT = cast("AgentContext", None)

pytestmark = pytest.mark.slow

TRANSPORTS = ("stdio", "http")
WORKER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bot.mcp.tools import McpServers
from tests.contract.test_mcp_connections import stdio

async def work():
    async with McpServers.open({"bad": stdio("stubborn")}) as servers:
        while "echo" not in await servers.tools_of("bad"):
            await asyncio.sleep(0.1)
        Path(sys.argv[2]).touch()
        await asyncio.Event().wait()

asyncio.run(work())
"""


def read(**table: object) -> McpServer:
    """Return the server `bad` with this table."""
    values = {"timeout_s": 2.0, **table}
    servers, problems = read_servers({"bad": McpServerTable.model_validate(values)}, {"THE_KEY": SECRET})
    assert not problems
    return servers["bad"]


def stdio(mode: str, **table: object) -> McpServer:
    """Return the hostile server as a program."""
    return read(command=PYTHON, args=[HOSTILE, mode], env={"SERVICE_KEY": "env:THE_KEY"}, **table)


@contextmanager
def serving(mode: str) -> "Generator[str]":
    """Run the hostile server on a free port, and yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([PYTHON, HOSTILE, mode, str(port)])
    try:
        deadline = time.monotonic() + 30
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert time.monotonic() < deadline
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def plain_url() -> "Generator[str]":
    """The URL of a plain server that all tests share."""
    with serving("plain") as url:
        yield url


@asynccontextmanager
async def connected(server: McpServer) -> AsyncGenerator[Mapping[str, Tool]]:
    """Yield the tools of the server. Afterwards no task of the connection is left."""
    before = asyncio.all_tasks()
    async with McpServers.open({"bad": server}) as servers:
        yield await servers.tools_of("bad")
    left = asyncio.all_tasks() - before
    assert not left, left


def server_of(transport: str, url: str, **table: object) -> McpServer:
    """Return the plain server by this transport."""
    return stdio("plain", **table) if transport == "stdio" else read(url=url, **table)


def processes(pattern: str) -> list[str]:
    """Return the command lines of our descendants, zombies included, that match."""
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (each / "stat").read_text()
            line = (each / "cmdline").read_text().replace("\0", " ") or status
            if re.search(pattern, line) and each.name != str(os.getpid()):
                found.append(line)
    return found


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_tools_are_listed_and_called(transport: str, plain_url: str) -> None:
    async with connected(server_of(transport, plain_url)) as tools:
        assert tools["echo"].name == "bad__echo"
        assert tools["echo"].is_repeatable
        assert not tools["hang"].is_repeatable
        assert await tools["echo"].call('{"text": "hello"}', CONTEXT) == "hello"
        picture = await tools["picture"].call("{}", CONTEXT)
        assert isinstance(picture, Illustrated)
        assert (picture, len(picture.images)) == ("Look:\n[picture 1: image/png]", 1)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hang", "did not answer within 2 seconds"),
        ("flood", "ended before the answer|did not answer"),
        ("huge", "ended before the answer|refused|did not answer"),
        ("sample", "(?i)sampling|failed|refused"),
        ("fail", "no such record"),
        ("broken", "(?i)failed|refused"),
    ],
)
async def test_a_call_that_goes_wrong_ends_in_time_with_a_sentence(
    transport: str, name: str, reason: str, plain_url: str
) -> None:
    async with connected(server_of(transport, plain_url)) as tools:
        began = time.monotonic()
        with pytest.raises(ToolFailed, match=reason):
            await tools[name].call("{}", CONTEXT)
        assert time.monotonic() - began < 4


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_long_result_loses_its_middle(transport: str, plain_url: str) -> None:
    async with connected(server_of(transport, plain_url, timeout_s=10)) as tools:
        result = await tools["long"].call("{}", CONTEXT)
        assert len(result) < 5_001_000
        assert "characters left out" in result


async def test_a_server_that_dies_in_a_call_starts_again_after_a_pause() -> None:
    now = 0.0
    connection = McpConnection(stdio("plain", timeout_s=30), clock=lambda: now)
    tools = await connection.list_tools()
    with pytest.raises(ToolFailed, match=r"ended before the answer. The outcome of this call is unknown"):
        await tools["die"].call("{}", CONTEXT)
    await wait_until(lambda: bool(connection.status().error))
    assert connection.status().error == "It ended the connection."
    with pytest.raises(ToolFailed, match="not available now"):
        await tools["echo"].call('{"text": "hello"}', CONTEXT)
    assert await connection.list_tools() == {}
    now = 3.0
    assert await tools["echo"].call('{"text": "hello"}', CONTEXT) == "hello"
    assert not connection.status().error
    await connection.close()


async def test_a_cancelled_call_returns_at_once_and_leaves_no_task(plain_url: str) -> None:
    for server in (stdio("plain"), read(url=plain_url)):
        async with connected(server) as tools:
            call = asyncio.create_task(tools["hang"].call("{}", CONTEXT))
            assert await tools["echo"].call('{"text": "sent later"}', CONTEXT) == "sent later"
            began = time.monotonic()
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
            assert time.monotonic() - began < 0.1
            assert await tools["echo"].call('{"text": "after"}', CONTEXT) == "after"


async def test_over_http_a_call_that_hangs_or_returns_too_much_ends_no_other_call() -> None:
    with serving("json") as url:
        connection = McpConnection(read(url=url, timeout_s=3.0))
        tools = await connection.list_tools()
        with pytest.raises(ToolFailed, match="more than 8,388,608 bytes at once"):
            await tools["huge"].call("{}", CONTEXT)
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.1 seconds"):
            await replace(tools["hang"], timeout_s=0.1).call("{}", CONTEXT)
        last = asyncio.create_task(tools["hang"].call("{}", CONTEXT))  # the earlier request ends meanwhile
        with pytest.raises(ToolFailed, match="did not answer within 3 seconds"):
            await last
        await asyncio.sleep(1.5)  # its request ends a second after its time-out
        assert await tools["echo"].call('{"text": "still here"}', CONTEXT) == "still here"
        assert not connection.status().error
        await connection.close()


async def test_a_server_that_hangs_at_every_start_is_started_ever_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.mcp.connection.OPENING_S", 0.2)
    now = 0.0
    connection = McpConnection(stdio("silent"), clock=lambda: now)
    with capture_logs() as logs:
        for _ in range(3):
            opening = asyncio.create_task(connection.list_tools())
            await wait_until(lambda: any(each.get_name() == "mcp-bad" for each in asyncio.all_tasks()))
            now += 61.0  # a minute without an answer is no steady connection
            assert await opening == {}
            now += 300.0
    assert [each["retry_s"] for each in logs] == [2.0, 4.0, 8.0]


async def test_the_pause_after_failures_stays_bounded_for_ever() -> None:
    now = 0.0
    connection = McpConnection(read(command="/no/such/program"), clock=lambda: now)
    with capture_logs() as logs:
        for _ in range(1_100):
            assert await connection.list_tools() == {}
            now += 301.0
    assert {each["retry_s"] for each in logs[8:]} == {300.0}
    assert len(logs) == 1_100


async def test_a_server_that_never_answers_gives_no_tools_and_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.mcp.connection.FIRST_LIST_S", 0.3)
    async with connected(stdio("silent")) as tools:
        assert tools == {}
    assert not processes("hostile_mcp.py silent")


async def test_no_process_survives_the_end_of_the_connection() -> None:
    async with connected(stdio("stubborn")) as tools:
        assert "echo" in tools
        assert processes("sleep 1000")
    assert not processes("hostile_mcp.py stubborn|sleep 1000")


async def test_a_program_that_does_not_exist_is_a_failure_without_tools() -> None:
    server = read(command="/no/such/program")
    async with McpServers.open({"bad": server}) as servers:
        assert await servers.tools_of("bad") == {}
        (status,) = servers.status()
        assert status.error == "FileNotFoundError: No such file or directory"


async def test_a_program_that_ends_at_once_is_a_failure_that_says_so() -> None:
    async with McpServers.open({"bad": read(command="false")}) as servers:
        assert await servers.tools_of("bad") == {}
        assert servers.status()[0].error == "It ended the connection."


async def test_of_many_tools_the_first_are_taken_and_of_two_with_one_name_one() -> None:
    async with connected(stdio("many")) as tools:
        assert len(tools) == 128
    async with connected(stdio("lies")) as tools:
        assert len(tools) == 2
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool.name) for tool in tools.values())


async def test_only_allowed_tools_are_taken() -> None:
    async with connected(stdio("plain", tools=["echo"])) as tools:
        assert list(tools) == ["echo"]


async def test_lines_that_are_no_json_are_skipped_and_a_call_without_answer_times_out() -> None:
    async with connected(stdio("garbage")) as tools:
        with pytest.raises(ToolFailed, match="did not answer within 2 seconds"):
            await tools["echo"].call("{}", CONTEXT)


async def test_a_line_without_end_ends_the_connection() -> None:
    async with connected(stdio("garbage", timeout_s=20)) as tools:
        with pytest.raises(ToolFailed, match="ended before the answer"):
            await tools["endless"].call("{}", CONTEXT)
    assert not processes("hostile_mcp.py garbage")


async def test_responses_that_nobody_asked_for_are_a_flood() -> None:
    async with connected(stdio("garbage", timeout_s=20)) as tools:
        with pytest.raises(ToolFailed, match="ended before the answer"):
            await tools["parrot"].call("{}", CONTEXT)


async def test_of_pages_without_end_the_first_are_read() -> None:
    async with connected(stdio("garbage")) as tools:
        assert set(tools) == {"echo", "endless", "parrot", *(f"page{page}" for page in range(1, 20))}


async def test_over_http_the_status_500_ends_one_call_only() -> None:
    with serving("resume") as url:
        async with connected(read(url=url)) as tools:
            with pytest.raises(ToolFailed, match="refused the call"):
                await tools["crash"].call("{}", CONTEXT)
            assert (await tools["count"].call("{}", CONTEXT)).isdigit()


async def test_over_http_a_server_that_asks_to_be_called_again_gets_few_requests() -> None:
    with serving("resume") as url:
        async with connected(read(url=url, timeout_s=2.0)) as tools:
            with pytest.raises(ToolFailed, match="did not answer within 2 seconds"):
                await tools["hang"].call("{}", CONTEXT)
            assert int(await tools["count"].call("{}", CONTEXT)) < 10


async def test_a_killed_worker_leaves_no_stubborn_program(tmp_path: Path) -> None:
    root, ready = str(Path(__file__).parents[2]), tmp_path / "ready"
    worker = await asyncio.create_subprocess_exec(PYTHON, "-c", WORKER, root, str(ready))
    await wait_until(ready.exists)
    assert processes("hostile_mcp.py stubborn")
    worker.kill()
    await worker.wait()
    await wait_until(lambda: not processes("hostile_mcp.py stubborn|sleep 1000"))


async def test_a_changed_list_is_asked_for_again() -> None:
    connection = McpConnection(stdio("plain"))
    tools = await connection.list_tools()
    await tools["change"].call("{}", CONTEXT)
    await wait_until(lambda: "bad__new" in connection.status().tools)
    assert "new" in await connection.list_tools()
    await connection.close()


async def test_secrets_are_neither_in_errors_nor_in_logs_nor_in_the_description(
    capfd: pytest.CaptureFixture[str],
) -> None:
    server = stdio("plain")
    assert SECRET not in repr(server)
    async with connected(server) as tools:
        with pytest.raises(ToolFailed, match=r"wrong key \*\*\*"):
            await tools["leak"].call("{}", CONTEXT)
        with pytest.raises(ToolFailed):
            await tools["die"].call("{}", CONTEXT)
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err


async def test_of_secrets_the_longest_is_hidden_first_and_a_tiny_one_stays_readable() -> None:
    server = replace(stdio("plain"), secrets=(SECRET[:7], SECRET, "r"))
    async with connected(server) as tools:
        with pytest.raises(ToolFailed) as failed:
            await tools["leak"].call("{}", CONTEXT)
    assert str(failed.value) == "leak failed: wrong key ***"


async def test_more_calls_than_allowed_wait_for_each_other() -> None:
    async with connected(stdio("plain", max_at_once=1)) as tools:
        hanging = asyncio.create_task(tools["hang"].call("{}", CONTEXT))
        waiting = asyncio.create_task(tools["echo"].call('{"text": "late"}', CONTEXT))
        done, _ = await asyncio.wait([hanging, waiting], return_when=asyncio.ALL_COMPLETED)
        assert len(done) == 2
        assert isinstance(hanging.exception(), ToolFailed)


async def test_an_http_server_that_is_gone_or_refuses_is_a_failure(plain_url: str) -> None:
    for url, error in [("http://127.0.0.1:9/mcp", "Connect"), (plain_url + "/none", "HTTP status 404")]:
        async with McpServers.open({"bad": read(url=url)}) as servers:
            assert await servers.tools_of("bad") == {}
            assert error in servers.status()[0].error
