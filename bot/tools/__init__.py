"""The built-in tools by the names that an agents file may use."""

BUILT_IN_TOOLS = {
    "cancel_reminder": "bot.features.reminders.tools:cancel_reminder",
    "current_time": "bot.tools.current_time:current_time",
    "forget_fact": "bot.features.facts.tools:forget_fact",
    "list_reminders": "bot.features.reminders.tools:list_reminders",
    "read_artifact": "bot.tools.read_artifact:read_artifact",
    "search_memory": "bot.tools.search_memory:search_memory",
    "set_reminder": "bot.features.reminders.tools:set_reminder",
}
"""Name → `module:function`, so that a name imports nothing. An agent without a list of tools has all of these."""
PICTURE_TOOLS = {"draw": "bot.features.pictures.tools:draw", "edit": "bot.features.pictures.tools:edit"}
"""Tools that exist only with OPENAI_IMAGE_MODEL. Without it an agent that lists them does not have them."""
OPTIONAL_TOOLS = {"read_web_page": "bot.tools.read_web_page:read_web_page"}
"""Tools that an agent has only if it lists them, because they reach beyond the chat."""
