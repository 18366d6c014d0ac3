"""The loop of one run: decide, run tools, decide again, within exact limits, resumable from a journal."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.agent.actions import Action, CompletedStep, Finish, UseTools, dump_action, parse_action
from bot.agent.context import AgentContext
from bot.agent.model import ModelReply, Usage
from bot.agent.tool import Tool
from bot.agent.tool_run import Journal, plan_calls, run_calls
from bot.errors import ModelRepliedNothing
from bot.observe.tracing import trace_agent_end, traced

EndedBy = Literal["answer", "final_tool", "max_actions"]


class Agent(Protocol):
    """Decides the actions of a run."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by their names."""
        ...

    async def next_action(self, context: AgentContext) -> Action:
        """What to do next."""
        ...

    async def last_answer(self, context: AgentContext) -> Finish:
        """The answer when no action is left. Raises ModelRepliedNothing when there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """`max_actions`: how many decisions a run may make; one may hold several tool calls."""

    max_actions: int = 5

    def __post_init__(self) -> None:
        if self.max_actions < 1:
            raise ValueError("a run needs at least one action")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended, and with which reply. `usage` sums up its model calls, replayed ones included."""

    text: str
    ended_by: EndedBy
    actions: int
    usage: Usage


async def run_agent(
    agent: Agent, context: AgentContext, *, journal: Journal, limits: RunLimits | None = None
) -> RunResult:
    """Run the agent on the prompt of `context` to its reply, and emit that.

    Model calls and tool calls that the journal has are not made again. At the limit one more call, without
    tools, gives the answer. Raises the model's TellUser errors, and what the journal raises. It may be
    cancelled at any await: the deadline is the caller's.
    """
    context.completed_steps.clear()
    context.recalled = None
    with traced("agent_run", request_id=context.request_id):
        result = await _run(agent, context, journal, limits or RunLimits())
        trace_agent_end(result.text)
    await context.emit(result.text)
    return result


async def _run(agent: Agent, context: AgentContext, journal: Journal, limits: RunLimits) -> RunResult:
    usage = Usage()
    for number in range(1, limits.max_actions + 1):
        action = await _decide(journal, f"model:{number}", lambda: agent.next_action(context))
        usage += action.reply.usage
        if isinstance(action, Finish):
            return RunResult(text=action.text, ended_by="answer", actions=number, usage=usage)
        step = await _complete(action, agent, context, journal)
        context.completed_steps.append(step)
        final = next((result for result in step.results if result.is_final), None)
        if final is not None:
            return RunResult(text=final.output, ended_by="final_tool", actions=number, usage=usage)
    last = await _decide(journal, "model:last", lambda: _last_answer(agent, context, limits))
    usage += last.reply.usage
    text = last.text if isinstance(last, Finish) else _no_answer(limits)
    return RunResult(text=text, ended_by="max_actions", actions=limits.max_actions, usage=usage)


async def _decide(journal: Journal, step: str, decide: Callable[[], Awaitable[Action]]) -> Action:
    known = await journal.finished(step)
    if known is not None:
        return parse_action(known)
    action = await decide()
    await journal.record(step, dump_action(action))
    return action


async def _complete(action: UseTools, agent: Agent, context: AgentContext, journal: Journal) -> CompletedStep:
    planned = plan_calls(action.calls, agent.tools, earlier=context.completed_steps)
    results = await run_calls(planned, context, tools=agent.tools, journal=journal)
    return CompletedStep(reply=action.reply, results=results)


async def _last_answer(agent: Agent, context: AgentContext, limits: RunLimits) -> Finish:
    try:
        return await agent.last_answer(context)
    except ModelRepliedNothing:
        return Finish(text=_no_answer(limits), reply=ModelReply())


def _no_answer(limits: RunLimits) -> str:
    spent = f"I ran out of steps ({limits.max_actions}) before I had a final answer."
    return f"{spent} Ask me to go on, or ask for less at once."
