"""A team: the agents that can have a chat or be given a task, by name, and the limits of what they hand over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.agent.actions import Action, CompletedStep, Finish
from bot.agent.context import AgentContext
from bot.agent.model import Usage
from bot.agent.prompt.parts import PromptSize
from bot.agent.tool import Tool


class HasWindow(Protocol):
    """What tells how much an agent's model takes."""

    @property
    def context_window(self) -> int:
        """Tokens, the answer included."""
        ...


class Agent(Protocol):
    """Decides the actions of a run."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by their names."""
        ...

    @property
    def limits(self) -> HasWindow:
        """Those of its model."""
        ...

    async def next_action(self, context: AgentContext) -> Action:
        """What to do next."""
        ...

    async def last_answer(self, context: AgentContext) -> Finish:
        """The answer when no action is left. Raises ModelRepliedNothing when there is none."""
        ...

    async def prompt_size(self, context: AgentContext) -> PromptSize:
        """What its next request would take before anything is left out."""
        ...


class Digester(Protocol):
    """Compresses the steps of a long run."""

    async def digest(
        self, *, task: str, digest: str, steps: Sequence[CompletedStep], usages: list[Usage]
    ) -> str:
        """What the steps did and found, and what `digest` says of those before. Raises SummaryFailed.

        `usages` gets what its calls of a model used, whatever comes of them.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamLimits:
    """Of one run: how deep delegations may nest, how many there may be on all levels, and how many transfers."""

    delegation_depth: int = 2
    delegations: int = 6
    transfers: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The agents by their names; `main` has a chat until it is transferred.

    `delegates` are the agents as they work on a delegated task, without transfer tools; where a name is missing,
    that of `agents` works. Without a `digester` long runs are cut instead of compressed.
    """

    agents: Mapping[str, Agent]
    main: str
    delegates: Mapping[str, Agent] = field(default_factory=dict[str, Agent])
    limits: TeamLimits = TeamLimits()
    digester: Digester | None = None

    def __post_init__(self) -> None:
        if self.main not in self.agents:
            raise ValueError(f"the main agent {self.main!r} is not in the team")

    @classmethod
    def of(cls, agent: Agent, *, name: str = "Mnemogram", digester: Digester | None = None) -> "Team":
        """The team of one."""
        return cls(agents={name: agent}, main=name, digester=digester)

    def name_of(self, context: AgentContext) -> str:
        """Who works in this context: the main agent where its name says nobody, or nobody that the team has."""
        return context.agent_name if context.agent_name in self.agents else self.main

    def agent_named(self, name: str) -> Agent:
        """The agent that has a chat under this name; the main agent for "" and for a name that the team has not."""
        return self.agents.get(name, self.agents[self.main])

    def agent_in(self, context: AgentContext) -> Agent:
        """The agent that works in this context, as it works there."""
        name = self.name_of(context)
        return self.delegates.get(name, self.agents[name]) if context.delegation_id else self.agents[name]
