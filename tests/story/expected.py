"""Builders for expected prompts: messages as a request has them."""

from bot.features import CONTROLS
from bot.transport import texts
from bot.transport.words import Words, words_for
from tests.story.harness import Json

english = words_for("en")
"""The English sentences of the bot, by key."""


def help_text(words: Words = english, *, is_group: bool = False) -> str:
    """Return the answer to /help for a person who is no operator."""
    return texts.help_text(words, CONTROLS.commands, is_group=is_group, is_operator=False)


ADDED = """\
## Tool: add

**Input:**
{
  "a": 2,
  "b": 3
}

**Output:**
"5\""""
"""The record of the call add(a=2, b=3)."""


def system(content: str) -> Json:
    """Return a system message."""
    return {"role": "system", "content": content}


def user(content: str) -> Json:
    """Return a user message, also one that contains text of ours."""
    return {"role": "user", "content": content}


def assistant(content: str) -> Json:
    """Return an assistant message."""
    return {"role": "assistant", "content": content}


def asks(*calls: tuple[str, str, str]) -> Json:
    """Return a message of tool calls with ids, names and arguments."""
    asked = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def gave(call_id: str, content: str) -> Json:
    """Return the message of a tool's result."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}
