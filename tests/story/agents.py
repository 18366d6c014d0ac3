"""A team of agents for stories: its file with tools, and a scripted model that knows the asking agent."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from bot.agent.prompt.text import TASK_HEADING
from tests.scripted_replies import Reply, text
from tests.scripted_script import ChatRequest
from tests.story.harness import Json

DESK = "You are the desk."
RESEARCHER = "You are the researcher."
CHECKER = "You are the checker."
SUPPORT = "You are the support."

_TEAM = """
[agent]
name = "desk"
prompt = "You are the desk."
tools = ["{tools}:open_days"]
delegates_to = ["researcher", "checker"]
transfers_to = ["support"]

[agents.researcher]
description = "Finds things."
prompt = "You are the researcher."
tools = ["{tools}:look_up"]
delegates_to = ["checker"]

[agents.checker]
description = "Checks what others say."
prompt = "You are the checker."
tools = ["{tools}:look_up"]

[agents.support]
description = "Mends things."
prompt = "You are the support."
tools = ["{tools}:mend"]
transfers_to = ["desk"]

[limits]
"""
_TOOLS = '''
def open_days() -> list[str]:
    """The days on which the shop is open."""
    return ["Monday", "Tuesday"]


def look_up(thing: str) -> dict[str, object]:
    """Where a thing stands."""
    return {"thing": thing, "shelf": len(thing)}


def mend(thing: str) -> str:
    """Mend a thing."""
    return f"{thing} is mended"
'''


def keep_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the folders of agents files in sys.path until the test ends."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def write_agents(folder: Path, described: str, tools: str) -> Path:
    """Write an agents file into this folder, with a unique module of these tools for `{tools}`."""
    module = f"tools_{uuid4().hex}"
    (folder / f"{module}.py").write_text(tools)
    path = folder / "agents.toml"
    path.write_text(described.replace("{tools}", module))
    return path


def write_team(folder: Path, *, limits: str = "") -> Path:
    """Write the file of a desk that delegates to the researcher and the checker and transfers to the support.

    `limits` are lines of that table.
    """
    return write_agents(folder, _TEAM + limits, _TOOLS)


class TeamScript:
    """A scripted model for a team.

    It finds the asking agent in the system prompt, and the words in the task or the last user message:
    `desk: hello`. Each agent has its own replies; the next one follows its completed steps.
    """

    def __init__(self, replies: Mapping[str, Sequence[Reply | str]]) -> None:
        self.prompts: defaultdict[str, list[list[Json]]] = defaultdict(list)
        self._replies = replies

    def __call__(self, request: ChatRequest) -> Reply:
        messages: list[Json] = request["messages"]
        asking = _asking(messages)
        self.prompts[asking].append(messages)
        done = sum("tool_calls" in message for message in messages)
        reply = self._replies[asking][done]
        return text(reply) if isinstance(reply, str) else reply


def _asking(messages: Sequence[Json]) -> str:
    name = messages[0]["content"].removeprefix("You are the ").partition(".")[0]
    users = [message["content"] for message in messages if message["role"] == "user"]
    tasks = [told for told in users if told.startswith(TASK_HEADING)]
    if tasks:
        return f"{name}: {tasks[0].splitlines()[1]}"
    return f"{name}: {[told for told in users if not told.startswith('From the ')][-1]}"
