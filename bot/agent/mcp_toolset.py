"""The tools of MCP servers that one agent has, and those of them that fit its prompts."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.agent.context import Role
from bot.agent.mcp_servers import McpReference, McpTools
from bot.agent.tool import Tool


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
