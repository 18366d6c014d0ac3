"""The MCP servers of a process: one connection for each, opened at the first need."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.agent.mcp_servers import McpServer
from bot.agent.tool import Tool
from bot.mcp.tools import McpStatus

if TYPE_CHECKING:
    from bot.mcp.connection import McpConnection


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
