"""A team for tests:

a desk delegates to a researcher, who may ask a checker, and transfers to a support agent.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.model import ModelReply, OnText, PromptMessage, ToolSpec
from bot.agent.team import Digester, Team, TeamLimits, delegate_tool, is_transfer, transfer_tool
from bot.agent.tool import Tool
from tests.unit.agent.kit import ModelRequest, make_agent

Reply = ModelReply | Exception


class TeamModel:
    """A ChatModel for all agents of a team.

    It finds the asking agent in the system prompt ("You are the desk."), and a delegated agent's task.
    Each agent has its own replies; the next one follows its completed steps. It is stateless, as a model
    is: a resumed run gets the same replies.
    """

    name = "scripted"

    def __init__(self, replies: Mapping[str, Sequence[Reply]]) -> None:
        self._replies = replies
        self.requests: defaultdict[str, list[ModelRequest]] = defaultdict(list)

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        asking = _asking(messages)
        self.requests[asking].append(ModelRequest(tuple(messages), tuple(tools)))
        done = sum(bool(message.tool_calls) for message in messages)
        reply = self._replies[asking][done]
        if isinstance(reply, Exception):
            raise reply
        if on_text and reply.text:
            await on_text(reply.text)
        return reply

    def count(self) -> int:
        return sum(map(len, self.requests.values()))


def _asking(messages: Sequence[PromptMessage]) -> str:
    name = messages[0].text.split("You are the ")[1].split(".")[0]
    tasks = [message.text for message in messages if message.text.startswith("Task from")]
    return f"{name}: {tasks[0].splitlines()[1]}" if tasks else name


def make_team(
    model: TeamModel,
    *functions: Callable[..., object] | Tool,
    limits: TeamLimits | None = None,
    digester: Digester | None = None,
) -> Team:
    """Return a team whose agents all have the functions. The desk starts."""
    to_research = delegate_tool("researcher", "Finds things out.")
    to_check = delegate_tool("checker", "Checks what others say.")
    to_support, to_desk = transfer_tool("support", "Mends things."), transfer_tool("desk", "Knows the way.")
    handovers = {
        "desk": (to_research, to_check, to_support),
        "researcher": (to_check, delegate_tool("desk", "Knows the way."), to_support),
        "checker": (to_research,),
        "support": (to_desk, to_research),
    }
    agents = {name: _agent(name, model, [*functions, *tools]) for name, tools in handovers.items()}
    delegates = {
        name: _agent(name, model, [*functions, *(tool for tool in tools if not is_transfer(tool.name))])
        for name, tools in handovers.items()
    }
    return Team(
        agents=agents, main="desk", delegates=delegates, limits=limits or TeamLimits(), digester=digester
    )


def _agent(
    name: str, model: TeamModel, functions: Sequence[Callable[..., object] | Tool]
) -> FunctionsBasedAgent:
    agent = make_agent(model, *functions, name=name)
    agent.prompt = f"You are the {name}."
    return agent
