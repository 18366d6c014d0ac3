"""The tools by which one agent gives work, or the whole chat, to another: `delegate_to_X` and `transfer_to_X`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from bot.agent.tool import TOOL_NAME, Tool
from bot.errors import ToolFailed

_DELEGATE, _TRANSFER = "delegate_to_", "transfer_to_"
_DESCRIPTION_CHARACTERS = 600

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """Who gets what: a task, or the chat from then on."""

    kind: Literal["delegation", "transfer"]
    agent: str


def read_handover(tool_name: str) -> Handover | None:
    """What a tool of this name hands over, None for any other tool: the two prefixes are reserved."""
    if tool_name.startswith(_DELEGATE):
        return Handover(kind="delegation", agent=tool_name.removeprefix(_DELEGATE))
    if tool_name.startswith(_TRANSFER):
        return Handover(kind="transfer", agent=tool_name.removeprefix(_TRANSFER))
    return None


def can_be_named(agent: str) -> bool:
    """Whether tools can carry this agent's name."""
    return bool(agent) and bool(TOOL_NAME.fullmatch(_DELEGATE + agent))


def delegate_tool(agent: str, description: str) -> Tool:
    """The tool that has another agent do a task. Raises ValueError for a name that makes no tool name."""
    told = (
        f"Have the agent {agent} do a task, and get its result: {_short(description)} It reads this conversation "
        "and uses its own tools; it knows of your plans only what the task says. Several run at the same time."
    )
    return _tool(_DELEGATE + agent, told, _delegate)


def transfer_tool(agent: str, description: str) -> Tool:
    """The tool that gives the chat to another agent. Raises ValueError for a name that makes no tool name."""
    told = (
        f"Give this chat to the agent {agent}: {_short(description)} It answers the user from now on, this message "
        "included, and knows what you have done so far."
    )
    return _tool(_TRANSFER + agent, told, _transfer)


def _tool(name: str, description: str, function: Callable[..., object]) -> Tool:
    tool = Tool.from_function(function, name=name)
    return replace(tool, spec=replace(tool.spec, description=description))


def _short(description: str) -> str:
    text = " ".join(description.split())
    shown = text if len(text) <= _DESCRIPTION_CHARACTERS else text[:_DESCRIPTION_CHARACTERS] + "…"
    return shown if shown.endswith((".", "!", "?", "…")) else f"{shown}."


# A run of a team carries them out itself: they open a run within the run, which a function cannot.
def _delegate(
    task: Annotated[
        Words, Field(description="What to do, complete in itself: with all that it needs to know")
    ],
) -> str:
    raise ToolFailed("There is no other agent here.")


def _transfer(
    reason: Annotated[Words, Field(description="Why, and what the user wants now, in a sentence")],
) -> str:
    raise ToolFailed("There is no other agent here.")
