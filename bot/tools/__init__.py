"""The built-in tools of no feature, by the names that an agents file may use."""

CORE_TOOLS = {
    "current_time": "bot.tools.current_time:current_time",
    "read_artifact": "bot.tools.read_artifact:read_artifact",
    "search_memory": "bot.tools.search_memory:search_memory",
}
"""Name → `module:function`, so that a name imports nothing. An agent without a list of tools has all of these."""
OPTIONAL_TOOLS = {"read_web_page": "bot.tools.read_web_page:read_web_page"}
"""Tools that an agent has only if it lists them, because they reach beyond the chat."""
