"""The agents of a bot by their names, and the tools with which they hand over work: delegate and transfer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.agent.actions import Action, CompletedStep
from bot.agent.context import AgentContext, Role
from bot.agent.model import TOOL_NAME, Usage
from bot.agent.prompt.parts import PromptSize
from bot.agent.tool import Tool
from bot.errors import ToolFailed

_DELEGATE, _TRANSFER = "delegate_to_", "transfer_to_"
_DESCRIPTION_CHARACTERS = 600

NonBlank = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Agent(Protocol):
    """Decides the actions of a run."""

    @property
    def roles(self) -> Collection[Role]:
        """The roles in the scopes of its tools."""
        ...

    @property
    def context_window(self) -> int:
        """The window of its model in tokens, the answer included."""
        ...

    async def all_tools(self) -> Mapping[str, Tool]:
        """Return its present tools by their names. Those of MCP servers may change at any time."""
        ...

    async def next_action(self, context: AgentContext) -> Action:
        """Return the next action of this run."""
        ...

    async def last_answer(self, context: AgentContext) -> Action:
        """Return the answer, without tool calls, when no action is left. Raises ModelRepliedNothing."""
        ...

    async def prompt_size(self, context: AgentContext) -> PromptSize:
        """Return the size of its next request before anything is left out."""
        ...


class Digester(Protocol):
    """Compresses the steps of a long run."""

    async def digest(
        self, *, task: str, digest: str, steps: Sequence[CompletedStep], usages: list[Usage]
    ) -> str:
        """Return a text that replaces `digest` and the steps after it. Raises SummaryFailed.

        `usages` receives the usage of each model call, also if the digest fails.
        """
        ...


class TeamLimits(BaseModel):
    """The table `[limits]` of AGENTS_FILE: the limits of one run."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    # The deepest nesting of delegations.
    delegation_depth: int = Field(default=2, ge=0)
    # Delegations on all levels.
    delegations: int = Field(default=6, ge=0)
    transfers: int = Field(default=3, ge=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The agents of a bot."""

    agents: Mapping[str, Agent]
    # Has a chat until it is transferred.
    main: str
    # The agents for delegated tasks, without transfer tools; `agents` stand in for missing names.
    delegates: Mapping[str, Agent] = field(default_factory=dict[str, Agent])
    limits: TeamLimits = field(default_factory=TeamLimits)
    # Without it the prompts of long runs are cut instead of compressed.
    digester: Digester | None = None

    def __post_init__(self) -> None:
        if self.main not in self.agents:
            raise ValueError(f"the main agent {self.main!r} is not in the team")

    @classmethod
    def of(cls, agent: Agent, *, name: str = "Mnemogram", digester: Digester | None = None) -> "Team":
        """Return a team of one agent."""
        return cls(agents={name: agent}, main=name, digester=digester)

    def name_of(self, context: AgentContext) -> str:
        """Return the name of the agent in this context; the main agent's for "" and for unknown names."""
        return context.agent_name if context.agent_name in self.agents else self.main

    def owner_name(self, name: str) -> str:
        """Return the name under which an agent owns a chat: "" for the main agent and for unknown names."""
        return name if name in self.agents and name != self.main else ""

    def agent_named(self, name: str) -> Agent:
        """Return the agent that has a chat under this name; the main agent for "" and for unknown names."""
        return self.agents.get(name, self.agents[self.main])

    def agent_in(self, context: AgentContext) -> Agent:
        """Return the agent for this context: within a delegation the one without transfer tools."""
        name = self.name_of(context)
        return self.delegates.get(name, self.agents[name]) if context.delegation.path else self.agents[name]


def parse_handover(tool_name: str) -> tuple[Literal["delegation", "transfer"], str] | None:
    """Return the kind of a handover and its agent, None for any other tool. The two prefixes are reserved."""
    if tool_name.startswith(_DELEGATE):
        return "delegation", tool_name.removeprefix(_DELEGATE)
    if tool_name.startswith(_TRANSFER):
        return "transfer", tool_name.removeprefix(_TRANSFER)
    return None


def is_transfer(tool_name: str) -> bool:
    """Return True for the name of a transfer tool."""
    return tool_name.startswith(_TRANSFER)


def is_agent_name(name: str) -> bool:
    """Return True if tools can carry this agent's name."""
    return bool(name) and bool(TOOL_NAME.fullmatch(_DELEGATE + name))


def delegate_tool(agent: str, description: str) -> Tool:
    """Return the tool that delegates a task to an agent. Raises ValueError for a name that tools cannot carry."""
    text = (
        f"Have the agent {agent} do a task, and get its result: {_short(description)} It reads this conversation "
        "and uses its own tools; it knows of your plans only what the task says. Several run at the same time."
    )
    return _tool(_DELEGATE + agent, text, _delegate)


def transfer_tool(agent: str, description: str) -> Tool:
    """Return the tool that transfers the chat to an agent. Raises ValueError for a name that tools cannot carry."""
    text = (
        f"Give this chat to the agent {agent}: {_short(description)} It answers the user from now on, this message "
        "included, and knows what you have done so far."
    )
    return _tool(_TRANSFER + agent, text, _transfer)


def _tool(name: str, description: str, function: Callable[..., object]) -> Tool:
    tool = Tool.from_function(function, name=name)
    return replace(tool, spec=replace(tool.spec, description=description))


def _short(description: str) -> str:
    text = " ".join(description.split())
    short = text if len(text) <= _DESCRIPTION_CHARACTERS else text[:_DESCRIPTION_CHARACTERS] + "…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."


# These functions only describe the parameters. `CallRunner` opens the run of the other agent itself.
def _delegate(
    task: Annotated[
        NonBlank, Field(description="What to do, complete in itself: with all that it needs to know")
    ],
) -> str:
    raise ToolFailed("There is no other agent here.")


def _transfer(
    reason: Annotated[NonBlank, Field(description="Why, and what the user wants now, in a sentence")],
) -> str:
    raise ToolFailed("There is no other agent here.")
