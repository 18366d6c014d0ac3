"""The loop of one run: decide, run tools, decide again, within exact limits, resumable from a journal."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import structlog

from bot.agent.actions import (
    Action,
    CompletedStep,
    Finish,
    ToolResult,
    UseTools,
    dump_action,
    parse_action,
)
from bot.agent.context import AgentContext
from bot.agent.delegation import Delegations
from bot.agent.model import ModelReply, Usage
from bot.agent.run_ledger import record_calls
from bot.agent.scope import permitted
from bot.agent.step_digest import StepCompression
from bot.agent.step_notes import StepNote, noted
from bot.agent.team import Agent, Team
from bot.agent.tool_run import Journal, plan_calls, run_calls
from bot.errors import ModelRepliedNothing
from bot.observe.tracing import trace_agent_end, traced

EndedBy = Literal["answer", "final_tool", "max_actions"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """`max_actions`: how many decisions a run may make, and each delegation in it; one may hold several tool calls."""

    max_actions: int = 5

    def __post_init__(self) -> None:
        if self.max_actions < 1:
            raise ValueError("a run needs at least one action")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended, and with which reply. `usage` sums up its model calls, replayed ones included, without
    those of the agents that it delegated to.
    """

    text: str
    ended_by: EndedBy
    actions: int
    usage: Usage


async def run_agent(
    team: Team, context: AgentContext, *, journal: Journal, limits: RunLimits | None = None
) -> RunResult:
    """Run the agent that has the chat on the prompt of `context` to its reply, and emit that.

    A transfer changes `context.agent_name`, and the run goes on with that agent over the same completed steps.
    Model calls and tool calls that the journal has are not made again. At the limit one more call, without
    tools, gives the answer. Raises the model's TellUser errors, and what the journal raises. It may be
    cancelled at any await: the deadline is the caller's.
    """
    context.completed_steps.clear()
    context.ledger.clear()
    context.usages.clear()
    context.notes.clear()
    context.recalled = context.digest = None
    _settle_name(team, context)
    with traced("agent_run", request_id=context.request_id):
        result = await _Run(team, limits or RunLimits()).to_reply(context, journal)
        trace_agent_end(result.text)
    await context.emit(result.text)
    return result


class _Run:
    """One run of a team: what its agents' loops share."""

    def __init__(self, team: Team, limits: RunLimits) -> None:
        self._team = team
        self._limits = limits
        self._delegations = Delegations(team, self._answer)
        self._compression = StepCompression(digester=team.digester)

    async def to_reply(self, context: AgentContext, journal: Journal) -> RunResult:
        usage = Usage()
        for number in range(1, self._limits.max_actions + 1):
            agent = self._team.agent_in(context)
            action = await self._decide(
                agent, context, journal, step=f"model:{number}", decide=agent.next_action
            )
            usage += action.reply.usage
            if isinstance(action, Finish):
                return RunResult(text=action.text, ended_by="answer", actions=number, usage=usage)
            step = await self._complete(action, agent, context, journal)
            final = next((result for result in step.results if result.is_final), None)
            if final is not None:
                return RunResult(text=final.output, ended_by="final_tool", actions=number, usage=usage)
        agent, limit = self._team.agent_in(context), self._limits.max_actions
        answer = partial(_last_answer, agent, limits=self._limits)
        last = await self._decide(agent, context, journal, step="model:last", decide=answer)
        usage += last.reply.usage
        text = last.text if isinstance(last, Finish) else _no_answer(self._limits)
        return RunResult(text=text, ended_by="max_actions", actions=limit, usage=usage)

    async def _answer(self, context: AgentContext, journal: Journal) -> str:
        """The reply of a delegated agent."""
        with traced("delegation", agent=context.agent_name):
            return (await self.to_reply(context, journal)).text

    async def _decide(
        self,
        agent: Agent,
        context: AgentContext,
        journal: Journal,
        *,
        step: str,
        decide: Callable[[AgentContext], Awaitable[Action]],
    ) -> Action:
        await self._compression.restore(context, journal)
        known = await journal.finished(step)
        if known is not None:
            action = parse_action(known)
            context.usages.append(action.reply.usage)
            self._note_replayed(context, action)
            return action
        await self._compression.relieve(agent, context, journal)
        with noted(context.notes, "model", self._team.name_of(context), depth=context.depth) as note:
            action = await decide(context)
            note.usage = action.reply.usage
        context.usages.append(action.reply.usage)
        await journal.record(step, dump_action(action))
        return action

    def _note_replayed(self, context: AgentContext, action: Action) -> None:
        name, depth = self._team.name_of(context), context.depth
        context.notes.append(
            StepNote(
                kind="model",
                name=name,
                outcome="replayed",
                seconds=0.0,
                usage=action.reply.usage,
                depth=depth,
            )
        )

    async def _complete(
        self, action: UseTools, agent: Agent, context: AgentContext, journal: Journal
    ) -> CompletedStep:
        name, is_delegated = self._team.name_of(context), bool(context.delegation_id)
        # Here too: an agent of somebody else's may pass on whatever its model asks for.
        tools = permitted(agent.tools, context.caller)
        planned = plan_calls(
            action.calls,
            tools,
            earlier=context.completed_steps,
            transfer_limit=0 if is_delegated else self._team.limits.transfers,
        )
        finished: dict[str, ToolResult] = {}
        try:
            results = await run_calls(
                planned,
                context,
                tools=tools,
                journal=journal,
                handovers=self._delegations,
                finished=finished,
            )
        finally:  # what was called before a stop or the deadline is told too
            known = [each for each in planned if each.step in finished]
            record_calls(
                context,
                known,
                [finished[each.step] for each in known],
                agent=name,
                opened=self._delegations.opened,
            )
        step = CompletedStep(reply=action.reply, results=results)
        context.completed_steps.append(step)
        for each, result in zip(planned, results, strict=True):
            if each.handover and each.handover.kind == "transfer" and not result.is_error:
                context.agent_name = each.handover.agent
                _settle_name(self._team, context)
        return step


def _settle_name(team: Team, context: AgentContext) -> None:
    """The main agent goes by "", also when a chat belongs to an agent that AGENTS_FILE has no more."""
    if context.agent_name not in ("", *team.agents):
        log.warning("agent_gone", agent=context.agent_name)
    if team.name_of(context) == team.main:
        context.agent_name = ""


async def _last_answer(agent: Agent, context: AgentContext, *, limits: RunLimits) -> Finish:
    try:
        return await agent.last_answer(context)
    except ModelRepliedNothing:
        return Finish(text=_no_answer(limits), reply=ModelReply())


def _no_answer(limits: RunLimits) -> str:
    spent = f"I ran out of steps ({limits.max_actions}) before I had a final answer."
    return f"{spent} Ask me to go on, or ask for less at once."
