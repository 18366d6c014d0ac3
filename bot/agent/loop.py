"""The loop of a run: decide, run tools, decide again, within exact limits and resumable from a journal."""

import structlog

from bot.agent.actions import Action
from bot.agent.context import AgentContext, Journal, RunRecord, Thinking, note_step
from bot.agent.digest import STEPS_AT_LEAST, StepDigests
from bot.agent.model import ModelReply
from bot.agent.team import Agent, Team
from bot.agent.tool_calls import CallRunner
from bot.errors import ModelRepliedNothing
from bot.observe.tracing import trace_agent_end, traced
from memory.codec import dump_json, parse_json

CUT_REASONS = ("length", "content_filter")
"""Finish reasons of a reply that is not whole."""
CUT_NOTE = "(This answer was cut off.)"

LAST = "model:last"
"""The step of the answer when no action is left. Only a delegation journals it."""

log = structlog.get_logger()


async def run_agent(team: Team, context: AgentContext, *, journal: Journal, max_actions: int = 5) -> str:
    """Return the reply of the agent that has the chat, and pass it to the context's emit functions.

    The run, and each delegation in it, has `max_actions`. One action may hold several tool calls.
    A transfer changes `context.agent_name`, and the run continues with that agent and the same completed
    steps. Model calls and tool calls that the journal has are not repeated. Raises the TellUser errors of
    the model and the errors of the journal, and ValueError without actions. The caller sets the deadline: a
    run may be cancelled at any await.
    """
    if max_actions < 1:
        raise ValueError("a run needs at least one action")
    pictures = context.conversation.pictures
    context.thinking, context.record = Thinking(), RunRecord(usages=pictures.paid() if pictures else [])
    if context.agent_name:
        if context.agent_name not in team.agents:
            log.warning("agent_gone", agent=context.agent_name)
        context.agent_name = team.owner_name(context.agent_name)
    with traced("agent_run", request_id=context.request_id):
        reply = await _Run(team, max_actions).reply(context, journal)
        trace_agent_end(reply)
    for listen in context.listeners:
        await listen(reply)
    return reply


class _Run:
    """One run of a team, with the state that the loops of all its agents share."""

    def __init__(self, team: Team, max_actions: int) -> None:
        self._team = team
        self._max_actions = max_actions
        self._calls = CallRunner(team, self._answer_task)
        self._digests = StepDigests(team.digester)

    async def reply(self, context: AgentContext, journal: Journal) -> str:
        """Return the text of the first action without calls, or the output of a final tool.

        After `max_actions` actions one more model call, without tools, gives the answer.
        """
        for number in range(1, self._max_actions + 1):
            agent = self._team.agent_in(context)
            action = await self._decide(agent, context, journal, step=f"model:{number}")
            if not action.tool_calls:
                return _end(context, action)
            results = await self._calls.run(action, agent, context, journal)
            for result in results:
                if result.is_final:
                    return _end(context, ModelReply(text=result.output))
        log.info("run_limit_reached", max_actions=self._max_actions)
        last = await self._decide(self._team.agent_in(context), context, journal, step=LAST)
        return _end(context, last)

    async def _decide(self, agent: Agent, context: AgentContext, journal: Journal, *, step: str) -> Action:
        """Return the action that the journal has for this step, or ask the agent and journal its action.

        The reply to the chat is not journaled: the turn's commit follows at once.
        """
        can_digest = len(context.thinking.completed_steps) >= STEPS_AT_LEAST
        if can_digest:
            await self._digests.restore(context, journal)
        line = await journal.finished(step)
        if line is not None:
            replayed = parse_json(ModelReply, line)
            with note_step(context, "model", context.agent_name or self._team.main) as note:
                note.outcome, note.usage = "replayed", replayed.usage
            context.record.usages.append(replayed.usage)
            return replayed
        if can_digest:
            await self._digests.relieve(agent, context, journal)
        with note_step(context, "model", context.agent_name or self._team.main) as note:
            action = await (self._last_answer(agent, context) if step == LAST else agent.next_action(context))
            note.usage = action.usage
        context.record.usages.append(action.usage)
        if action.tool_calls or context.delegation.depth:
            await journal.record(step, dump_json(ModelReply, action))
        return action

    async def _last_answer(self, agent: Agent, context: AgentContext) -> Action:
        try:
            return await agent.last_answer(context)
        except ModelRepliedNothing:
            spent = f"I ran out of steps ({self._max_actions}) before I had a final answer."
            return ModelReply(text=f"{spent} Ask me to go on, or ask for less at once.")

    async def _answer_task(self, context: AgentContext, journal: Journal) -> str:
        """Return the reply of a delegated agent."""
        with traced("delegation", agent=context.agent_name):
            reply = await self.reply(context, journal)
        return f"{reply}\n\n{CUT_NOTE}" if context.record.finish_reason in CUT_REASONS else reply


def _end(context: AgentContext, reply: ModelReply) -> str:
    """Return the text of the reply that ends a run, and note the reason for its end."""
    context.record.finish_reason = reply.finish_reason or ""
    return reply.text
