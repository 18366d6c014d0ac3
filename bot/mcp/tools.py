"""The tools of one MCP server as Tools of ours, and the state of its connection."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import structlog

from bot.agent.argument_types import fit_arguments
from bot.agent.mcp_servers import McpServer
from bot.agent.model import ToolSpec
from bot.agent.tool import Tool
from bot.mcp.schemas import repair_schema, tool_name

MOST_TOOLS = 128
"""Tools of one server. OpenAI accepts as many in a request."""

_LONGEST_DESCRIPTION = 1_024
_MOST_WARNED = 20

Call = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Calls a tool by the server's name for it, with its arguments. Raises ToolFailed."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpStatus:
    """The state of a server for `mnemogram doctor`."""

    name: str
    # The names of its tools for the model.
    tools: tuple[str, ...] = ()
    # Seconds from the start of the connection to the list of tools; None before.
    latency_s: float | None = None
    # The reason of the last failure, "" without one.
    error: str = ""


@dataclass(frozen=True, slots=True)
class _SchemaArguments:
    """Passes the arguments in the types of the tool's schema. The server checks them."""

    schema: Mapping[str, Any]

    def check(self, sent: Mapping[str, object]) -> dict[str, Any]:
        return {"arguments": fit_arguments(sent, self.schema)}


def read_tools(server: McpServer, listed: Sequence[object], call: Call) -> dict[str, Tool]:
    """Return the allowed tools of a list, by the server's names. A warning names those that are left out."""
    tools: dict[str, Tool] = {}
    left_out: dict[str, str] = {}
    allowed = server.table.tools
    for each in listed:
        described = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        name = described.get("name")
        if not isinstance(name, str) or not name or (allowed is not None and name not in allowed):
            continue
        schema = repair_schema(described.get("inputSchema"))
        if name in tools:
            left_out[name] = "listed twice"
        elif schema is None:
            left_out[name] = "its schema is unusable or too large"
        elif len(tools) == MOST_TOOLS:
            left_out[name] = f"more than {MOST_TOOLS} tools"
        else:
            tools[name] = _read_tool(server, described, schema=schema, call=partial(call, name))
    if left_out:
        shown = {tool_name(server.name, name): why for name, why in list(left_out.items())[:_MOST_WARNED]}
        log.warning("mcp_tools_left_out", server=server.name, count=len(left_out), tools=shown)
    return tools


def _read_tool(
    server: McpServer,
    described: Mapping[str, Any],
    *,
    schema: Mapping[str, Any],
    call: Callable[..., Awaitable[str]],
) -> Tool:
    name, description, hints = described["name"], described.get("description"), described.get("annotations")
    claims = cast("dict[str, object]", hints) if isinstance(hints, dict) else {}
    text = description if isinstance(description, str) and description else name
    return Tool(
        spec=ToolSpec(
            name=tool_name(server.name, name), description=text[:_LONGEST_DESCRIPTION], parameters=schema
        ),
        function=call,
        arguments=_SchemaArguments(schema),
        takes_context=False,
        timeout_s=server.table.timeout_s,
        is_repeatable=claims.get("readOnlyHint") is True or claims.get("idempotentHint") is True,
        scope=server.table.scope,
    )
