"""MCP servers over HTTP that lose their sessions, or are away for a short time."""

import asyncio
import json

import pytest

from bot.errors import ToolFailed
from bot.mcp.connection import McpConnection
from tests.contract.test_mcp_connections import CONTEXT, read, wait_until
from tests.odd_mcp import OddMcp, serving_odd

pytestmark = pytest.mark.slow


def rpc(code: int, message: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": None}


LOST = {
    "specification": (404, rpc(-32001, "Session not found")),
    "bare 404": (404, ""),
    "typescript example": (400, rpc(-32000, "Bad Request: No valid session ID provided")),
    "not an initialize request": (
        400,
        rpc(-32000, "Bad Request: No session ID, and this is no initialize request"),
    ),
    "required": (400, rpc(-32600, "Bad Request: Mcp-Session-Id header is required")),
    "missing": (400, rpc(-32600, "Bad Request: Missing session ID")),
    "server not initialized": (400, rpc(-32000, "Bad Request: Server not initialized")),
    "event stream": (400, "event: message\ndata: " + str(rpc(-32000, "Bad Request: Server not initialised"))),
    "text": (400, "Invalid session"),
    "object": (400, {"error": "Session expired"}),
    "rust": (401, "Unauthorized: Session not found"),
    "gone": (410, "This session has ended."),
    "unprocessable": (422, {"detail": "unknown session"}),
    "status 200 without an id": (200, rpc(-32002, "Server not initialized")),
    "status 200": (200, rpc(-32600, "Unknown session id 'ab12'; client should reinitialize") | {"id": 3}),
    "stream of status 200": (
        200,
        f"event: message\ndata: {json.dumps(rpc(-32005, 'Session not found or expired'))}\n\n",
    ),
    "status 500": (500, {"error": "HTTP 400: Bad Request: No valid session ID provided"}),
}


@pytest.mark.parametrize("refusal", LOST.values(), ids=LOST)
async def test_a_call_in_a_lost_session_is_made_again_in_a_new_one(refusal: tuple[int, object]) -> None:
    async with serving_odd(refusal) as odd:
        connection = McpConnection(read(url=odd.url))
        tools = await connection.list_tools()
        assert not tools["pay"].is_repeatable
        assert await tools["pay"].call("{}", CONTEXT) == "paid"
        odd.forget()
        paid = await asyncio.gather(*(tools["pay"].call("{}", CONTEXT) for _ in range(3)))
        assert paid == ["paid"] * 3
        assert (len(odd.calls), odd.openings) == (4, 2)
        assert "pay" in await connection.list_tools()
        assert not connection.status().error
        await connection.close()


async def test_a_server_that_loses_every_session_refuses_the_call() -> None:
    async with serving_odd(LOST["typescript example"]) as odd:
        connection = McpConnection(read(url=odd.url))
        tools = await connection.list_tools()
        odd.always_lost = True
        with pytest.raises(ToolFailed, match=r"refused the call: .*No valid session ID provided"):
            await tools["pay"].call("{}", CONTEXT)
        assert (odd.calls, odd.openings) == ([], 2)
        await connection.close()


async def test_a_session_among_the_arguments_is_no_lost_session() -> None:
    async with serving_odd((404, "")) as odd:
        connection = McpConnection(read(url=odd.url))
        tools = await connection.list_tools()
        with pytest.raises(ToolFailed, match="refused the call: no such session_id"):
            await tools["pay"].call('{"session_id": "wrong"}', CONTEXT)
        assert (len(odd.calls), odd.openings) == (1, 1)
        await connection.close()


@pytest.mark.parametrize("status", [200, 500])
async def test_a_session_of_the_tools_own_is_no_lost_session(status: int) -> None:
    async with serving_odd((404, "")) as odd:
        odd.own_error = (status, {"code": -32603, "message": "the session of the bank has expired"})
        connection = McpConnection(read(url=odd.url))
        tools = await connection.list_tools()
        with pytest.raises(ToolFailed, match="refused the call: the session of the bank has expired"):
            await tools["pay"].call('{"session_id": "wrong"}', CONTEXT)
        assert (len(odd.calls), odd.openings) == (1, 1)
        await connection.close()


async def fail(connection: McpConnection, odd: OddMcp) -> None:
    """Let a call find out that the server is away."""
    odd.is_down = True
    tools = await connection.list_tools()
    with pytest.raises(ToolFailed):
        await tools["pay"].call("{}", CONTEXT)
    await wait_until(lambda: bool(connection.status().error))


async def test_after_a_steady_connection_a_short_outage_costs_neither_tools_nor_a_pause() -> None:
    now = 0.0
    async with serving_odd((404, "")) as odd:
        connection = McpConnection(read(url=odd.url), clock=lambda: now)
        await connection.list_tools()
        now = 61.0
        await fail(connection, odd)
        assert "pay" in await connection.list_tools()
        odd.is_down = False
        assert await (await connection.list_tools())["pay"].call("{}", CONTEXT) == "paid"
        assert now == 61.0
        await connection.close()


async def test_in_a_longer_outage_the_tools_are_withdrawn_until_the_server_is_back() -> None:
    now = 0.0
    async with serving_odd((404, "")) as odd:
        connection = McpConnection(read(url=odd.url), clock=lambda: now)
        await connection.list_tools()
        now = 61.0
        await fail(connection, odd)
        offered: list[bool] = []
        for _ in range(4):
            offered.append("pay" in await connection.list_tools())
            await wait_until(lambda: not any(task.get_name() == "mcp-bad" for task in asyncio.all_tasks()))
            now += 5.0
        assert offered == [True, True, True, False]
        odd.is_down = False
        now += 60.0
        assert "pay" in await connection.list_tools()
        await connection.close()
