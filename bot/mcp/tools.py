"""MCP servers of a process, one connection for each, and their tools as Tools of ours."""

import asyncio
import importlib
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import structlog
from pydantic import AfterValidator, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from bot.agent.mcp_servers import McpServer
from bot.agent.model import ToolSpec
from bot.agent.tool import Tool, fit_arguments

if TYPE_CHECKING:
    from bot.mcp.connection import McpConnection

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


class McpServers:
    """All connections of a process. Nothing is imported or started before a server's first use."""

    def __init__(self, servers: Mapping[str, McpServer]) -> None:
        self._servers = servers
        self._connections: dict[str, McpConnection] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, servers: Mapping[str, McpServer]) -> "AsyncGenerator[McpServers]":
        """Yield the servers, and close every connection at the end."""
        opened = cls(servers)
        try:
            yield opened
        finally:
            await asyncio.gather(*(each.close() for each in opened._connections.values()))

    async def tools_of(self, server: str) -> Mapping[str, Tool]:
        """Return the tools of a server by its own names for them; see McpTools."""
        if server not in self._servers:
            return {}
        return await (await self._connection(server)).list_tools()

    def status(self) -> Sequence[McpStatus]:
        """Return the state of each server, also of those that nobody has used yet."""
        known = {name: connection.status() for name, connection in self._connections.items()}
        return [known.get(name) or McpStatus(name=name) for name in self._servers]

    async def _connection(self, server: str) -> "McpConnection":
        if server not in self._connections:
            # The SDK takes a second to import, so other chats go on meanwhile.
            module = await asyncio.to_thread(importlib.import_module, "bot.mcp.connection")
            if server not in self._connections:
                self._connections[server] = module.McpConnection(self._servers[server])
        return self._connections[server]


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


LARGEST = 16_000
"""Characters of a schema."""

_DEEPEST = 48
_MOST_NODES = 5_000
_LONGEST_TEXT = 1_024
_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NOT_AT_THE_TOP = frozenset(["anyOf", "allOf", "enum", "default"])


def tool_name(server: str, tool: str) -> str:
    """Return `server__tool` as endpoints accept names. A name that had to change ends with a hash of the tool's own.

    Tools with different names get different names, whatever else the server lists.
    """
    name = _NOT_IN_NAMES.sub("_", f"{server}__{tool}")
    if name == f"{server}__{tool}" and len(name) <= _LONGEST_NAME:
        return name
    digest = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - 9]}_{digest}"


def repair_schema(schema: object) -> dict[str, Any] | None:
    """Return the schema of a tool's arguments as OpenAI and Gemini accept it; None if it is no object or too large.

    References are replaced by their targets. Malformed keywords are dropped, and those that Gemini does not know
    (n8n-io/n8n#15553, zed-industries/zed#44875). The server checks the arguments all the same.
    """
    given = cast("dict[str, Any]", schema)
    if not isinstance(schema, dict) or given.get("type", "object") not in ("object", ["object"]):
        return None
    try:
        plain = {key: value for key, value in given.items() if key not in ("$defs", "definitions")}
        root = _clean(_References(given).replace(plain, ("#",), 0))
        properties, required = root.get("properties", {}), root.get("required", [])
        for key in ("anyOf", "allOf"):
            for option in root.get(key, ()):
                properties = {**option.get("properties", {}), **properties}
                required = [*required, *(option.get("required", ()) if key == "allOf" else ())]
        whole = {key: value for key, value in root.items() if key not in _NOT_AT_THE_TOP}
        repaired = {**whole, "type": "object", "properties": properties}
        if required:
            repaired["required"] = list(dict.fromkeys(required))
        return repaired if len(json.dumps(repaired, allow_nan=False)) <= LARGEST else None
    except (ValueError, RecursionError):
        return None


@dataclass(slots=True)
class _References:
    """The references of a document, and the number of nodes that their replacement has made."""

    document: Mapping[str, Any]
    nodes: int = 0

    def replace(self, value: Any, within: tuple[str, ...], depth: int) -> Any:
        """Return the value with targets for references. Raises ValueError if it becomes too large.

        Deep parts, and the places where a schema refers to itself, accept anything.
        """
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            raise ValueError("the schema is too large")
        if isinstance(value, list):
            return [self.replace(each, within, depth + 1) for each in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        if depth > _DEEPEST:
            return {}
        found = cast("dict[str, Any]", value)
        reference = found.get("$ref")
        if isinstance(reference, str):
            target = {} if reference in within else self._target(reference)
            merged = {**target, **{key: each for key, each in found.items() if key != "$ref"}}
            return self.replace(merged, (*within, reference), depth + 1)
        return {key: self.replace(each, within, depth + 1) for key, each in found.items()}

    def _target(self, reference: str) -> dict[str, Any]:
        """Return the schema at a reference into this document, {} for any other."""
        at: Any = self.document if reference.startswith("#") else None
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            at = cast("dict[str, Any]", at).get(name) if isinstance(at, dict) else None
        return cast("dict[str, Any]", at) if isinstance(at, dict) else {}


def _clean(schema: object) -> dict[str, Any]:
    """Return the keywords that endpoints know. Malformed ones are dropped; only known properties are required.

    What may be null is what may be left out: its schema is that of its values.
    """
    given = dict(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else {}
    if isinstance(given.get("const"), str):
        given["enum"] = [given["const"]]
    if isinstance(form := given.get("format"), str) and form != "date-time":
        given["description"] = f"{given.get('description', '')} (format: {form})".strip()
    clean: dict[str, Any] = {}
    for key, kind in _KEYWORDS.items():
        with suppress(ValidationError):
            if given.get(key) is not None:
                clean[key] = kind.validate_python(given[key])
    either = [*clean.pop("anyOf", ()), *clean.pop("oneOf", ())]
    if options := [each for each in either if each != {"type": "null"}]:
        clean = {**options[0], **clean} if len(options) == 1 else {**clean, "anyOf": options}
    if clean.get("type") == "array":
        clean.setdefault("items", {})
    known = clean.get("properties", {})
    if required := [name for name in dict.fromkeys(clean.pop("required", ())) if name in known]:
        clean["required"] = required
    return clean


_Kind = Literal["object", "array", "string", "number", "integer", "boolean", "null"]
_Nested = Annotated[object, AfterValidator(_clean)]
_KEYWORDS: Mapping[str, TypeAdapter[Any]] = {
    key: TypeAdapter(kind, config=ConfigDict(strict=True))
    for kind, keys in cast(
        "tuple[tuple[Any, tuple[str, ...]], ...]",
        (
            (_Kind | Annotated[list[_Kind], AfterValidator(partial(min, key="null".__eq__))], ("type",)),
            (Annotated[str, AfterValidator(lambda text: text[:_LONGEST_TEXT])], ("description", "pattern")),
            (Literal["date-time"], ("format",)),
            (int | FiniteFloat, ("minimum", "maximum")),
            (int, ("minLength", "maxLength", "minItems", "maxItems")),
            (Annotated[list[Any], Field(min_length=1)], ("enum",)),
            (Any, ("default",)),
            (dict[str, _Nested], ("properties",)),
            (list[str], ("required",)),
            (_Nested, ("items",)),
            (Annotated[list[_Nested], Field(min_length=1)], ("anyOf", "oneOf", "allOf")),
        ),
    )
    for key in keys
}
