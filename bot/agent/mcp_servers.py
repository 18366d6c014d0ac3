"""The table `[mcp.servers.NAME]` of AGENTS_FILE, and the references of agents to the tools of MCP servers."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.agent.context import Place, Role
from bot.agent.tool import Scope, Tool

SERVER_NAME = re.compile(r"(?=.{1,32}$)[A-Za-z0-9]+([_-][A-Za-z0-9]+)*")
"""The names of servers. Without `__`, so that `server__tool` has one meaning."""

_ADDRESS = re.compile(r"https?://[^/\s]+", re.IGNORECASE)
_NAMES = r"(key|apikey|accesskey|token|secret|password|authorization|cookie)"
_SECRET_NAME = re.compile(rf"(?i)[._-]{_NAMES}$")
_SECRET_IN_URL = re.compile(rf"(?i)://[^/?#@]*:[^/?#@]+@|^https?://[^#]*[?&_-]{_NAMES}=")
_REFERENCE = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]*)")


class ScopeTable(BaseModel):
    """The keys of a table of AGENTS_FILE that limit callers and chats."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    who: Role = "anyone"
    where: list[Place] | None = Field(None, min_length=1)
    chats: list[int] | None = Field(None, min_length=1)

    @property
    def scope(self) -> Scope:
        """The scope that these keys describe."""
        where = Scope().where if self.where is None else frozenset(self.where)
        return Scope(who=self.who, where=where, chats=None if self.chats is None else frozenset(self.chats))


class McpServerTable(ScopeTable):
    """The table `[mcp.servers.NAME]`: a program that is started, or an address."""

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    # The tools that agents may use, by the server's names; None allows all.
    tools: list[str] | None = None
    timeout_s: float = Field(30.0, gt=0, le=600)
    # Calls that run at the same time in one worker.
    max_at_once: int = Field(4, ge=1, le=100)

    @property
    def fault(self) -> str:
        """The reason why this names no server, or "". It quotes no value."""
        if bool(self.command) == bool(self.url):
            return "name either a command or a url"
        if self.url and (self.args or self.env):
            return "args and env belong to a command"
        return "headers belong to a url" if self.command and self.headers else ""


class McpTable(BaseModel):
    """The table `[mcp]`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    servers: dict[str, McpServerTable] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server with the values of its secrets, which `repr` leaves out."""

    name: str
    table: McpServerTable = field(repr=False)
    url: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    # The values of all `env:` names.
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpReference:
    """An entry `mcp:SERVER/TOOL` of an agent's tools. `tool` is "*" for all."""

    server: str
    tool: str

    @classmethod
    def parse(cls, text: str) -> "McpReference | None":
        """Return the reference, or None for a text that does not begin with `mcp:`. Raises ValueError."""
        kind, colon, rest = text.partition(":")
        if kind != "mcp" or not colon:
            return None
        server, slash, tool = rest.partition("/")
        if not (server and slash and tool):
            raise ValueError("it is not mcp:SERVER/TOOL or mcp:SERVER/*")
        return cls(server=server, tool=tool)

    def select(self, tools: Mapping[str, Tool]) -> Iterator[Tool]:
        """Return the tools that it names of those of its server."""
        return (tool for name, tool in tools.items() if self.tool in ("*", name))


class McpTools(Protocol):
    """The tools of MCP servers, as an agent gets them."""

    async def tools_of(self, server: str) -> Mapping[str, Tool]:
        """Return the tools of a server by its own names for them. The keys are not the names for the model.

        Waits up to 10 seconds for the first list. Empty while the server cannot be reached.
        """
        ...


def read_servers(
    tables: Mapping[str, McpServerTable], environ: Mapping[str, str]
) -> tuple[dict[str, McpServer], list[tuple[str, str]]]:
    """Return the servers with the values that `env:NAME` refers to, and the problems as key and reason.

    Problems name variables and never quote a value, which may be a secret.
    """
    servers: dict[str, McpServer] = {}
    problems: list[tuple[str, str]] = []
    for name, table in tables.items():
        key = f"mcp.servers.{name}"
        if not SERVER_NAME.fullmatch(name):
            why = "a server's name is 1 to 32 of A-Z a-z 0-9, with single _ or - between them"
            problems.append((key, why))
        if table.fault:
            problems.append((key, table.fault))
        values = {"url": table.url}
        values |= {f"env.{each}": value for each, value in table.env.items()}
        values |= {f"headers.{each}": value for each, value in table.headers.items()}
        named = {place: _REFERENCE.findall(text) for place, text in values.items()}
        for place, names in named.items():
            if not names and (_SECRET_NAME.search(place) or _SECRET_IN_URL.search(values[place])):
                why = 'secrets do not belong into this file: use "env:NAME" and set the variable NAME'
                problems.append((f"{key}.{place}", why))
            missing = (each for each in names if not environ.get(each))
            problems += (
                (f"{key}.{place}", f"the environment variable {each} is not set") for each in missing
            )
        url = _resolve(table.url, environ)
        if url and not _ADDRESS.match(url):
            problems.append((f"{key}.url", "it must begin with https:// or http:// and a host"))
        servers[name] = McpServer(
            name=name,
            table=table,
            url=url,
            env={each: _resolve(value, environ) for each, value in table.env.items()},
            headers={each: _resolve(value, environ) for each, value in table.headers.items()},
            secrets=tuple(environ[each] for names in named.values() for each in names if environ.get(each)),
        )
    return servers, problems


def _resolve(text: str, environ: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: environ.get(found[1], ""), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolset:
    """The tools of MCP servers that an agent lists. Only the servers know which ones there are."""

    references: tuple[McpReference, ...]
    # Applies the table `[tools.NAME]` of AGENTS_FILE.
    limit: Callable[[Tool], Tool]
    # The roles of all scopes that the file gives these tools.
    roles: frozenset[Role] = frozenset()

    async def load(self, servers: McpTools) -> dict[str, Tool]:
        """Return the present tools by their names for the model. A server that is down has none."""
        names = list(dict.fromkeys(each.server for each in self.references))
        lists = dict(zip(names, await asyncio.gather(*map(servers.tools_of, names)), strict=True))
        chosen = (tool for each in self.references for tool in each.select(lists[each.server]))
        return {tool.name: self._limited(tool) for tool in chosen}

    def _limited(self, tool: Tool) -> Tool:
        """Return the tool within the limits of the file. The server's time-out also ends its requests."""
        limited = self.limit(tool)
        return replace(limited, timeout_s=min(limited.timeout_s, tool.timeout_s))


def fit_tools(
    tools: Mapping[str, Tool], *, room: int, at_most: int, size: Callable[[Tool], int]
) -> dict[str, Tool]:
    """Return at most so many tools, of `room` tokens together. The largest are left out."""
    fitting: set[str] = set()
    for name in sorted(tools, key=lambda each: size(tools[each]))[: max(0, at_most)]:
        room -= size(tools[name])
        if room < 0:
            break
        fitting.add(name)
    return {name: tool for name, tool in tools.items() if name in fitting}
