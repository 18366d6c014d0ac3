"""Tools of MCP servers for agents, and one chat's memory as an MCP server."""
