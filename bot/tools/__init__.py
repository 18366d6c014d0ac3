"""The built-in tools, one per file, by the names that an agents file may give them, and what they stand on."""

BUILT_IN_TOOLS = {
    "add": "bot.tools.add:add",
    "current_time": "bot.tools.current_time:current_time",
    "read_artifact": "bot.tools.read_artifact:read_artifact",
    "search_memory": "bot.tools.search_memory:search_memory",
    "upper": "bot.tools.upper:upper",
}
"""Name → `module:function`, so that naming them imports none of them. An agent that lists no tools has these."""
OPTIONAL_TOOLS = {"read_web_page": "bot.tools.read_web_page:read_web_page"}
"""The same of those that an agent has only if it lists them: they reach beyond the chat."""
