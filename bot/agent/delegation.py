"""Delegations: a run within a run, by another agent, with a context and journal steps of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import structlog

from bot.agent.context import AgentContext
from bot.agent.team import Team
from bot.agent.tool_arguments import parse_object
from bot.agent.tool_run import Journal, PlannedCall, call_key
from bot.errors import TellUser, ToolFailed
from bot.observe.metrics import DELEGATIONS
from memory.codec import dump_json, parse_json
from memory.history.ledger import LedgerEntry, is_within

Work = Callable[[AgentContext, Journal], Awaitable[str]]
"""Answers the task of a context that a delegation opened. Raises the TellUser errors of the model."""

log = structlog.get_logger()


class Delegations:
    """The delegations of one run, on all its levels, and the words of its transfers."""

    def __init__(self, team: Team, work: Work) -> None:
        self._team = team
        self._work = work
        self.opened: set[str] = set()
        """The paths of all that were opened in this run, before a crash too: what the limit counts."""

    async def delegate(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> str:
        """The answer of the agent. Raises ToolFailed beyond the limits, and when the agent's model fails.

        Only a crash inside makes the agent work again, from its own finished steps.
        """
        try:
            inner = self._open(planned, context)
        except ToolFailed:
            DELEGATIONS.labels("refused").inc()
            raise
        await context.tell_status(f"Running tool {planned.call.name}")
        answer, failure = "", None
        try:
            answer = await self._work(inner, StepsWithin(journal, planned.step))
        except TellUser as error:
            DELEGATIONS.labels("failed").inc()
            log.warning("delegation_failed", agent=inner.agent_name, failure=type(error).__name__)
            # The error's own text may quote the endpoint.
            failure = ToolFailed(f"{inner.agent_name} could not do it. {type(error).__doc__}")
        within = [entry for entry in context.ledger if is_within(entry, inner.delegation_id)]
        await journal.record(_ledger_step(planned), dump_json(tuple[LedgerEntry, ...], tuple(within)))
        if failure:
            raise failure
        DELEGATIONS.labels("answered").inc()
        return answer

    async def restore(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> None:
        """The ledger entries of a delegation that has its result already, and its share of the limit."""
        line = await journal.finished(_ledger_step(planned))
        if line is None:  # it was refused
            return
        within = parse_json(tuple[LedgerEntry, ...], line)
        self.opened |= {call_key(context, planned.step), *(each.opened for each in within if each.opened)}
        context.ledger += within

    def transfer(self, planned: PlannedCall) -> str:
        """What the model reads of a transfer that takes place. Raises ToolFailed for an agent that is not there."""
        agent = self._named(planned)
        return f"{agent} has this chat now and answers from here on."

    def _open(self, planned: PlannedCall, context: AgentContext) -> AgentContext:
        agent, limits = self._named(planned), self._team.limits
        if context.depth >= limits.delegation_depth:
            raise ToolFailed(
                f"Delegations may be {limits.delegation_depth} deep, and this would be one more. Do it yourself."
            )
        if len(self.opened) >= limits.delegations:
            raise ToolFailed(f"The limit of {limits.delegations} delegations for one message is reached.")
        path = call_key(context, planned.step)
        self.opened.add(path)
        return open_context(context, agent=agent, path=path, task=_task_of(planned))

    def _named(self, planned: PlannedCall) -> str:
        agent = planned.handover.agent if planned.handover else ""
        if agent not in self._team.agents:
            raise ToolFailed(f"There is no agent {agent} here.")
        return agent


def open_context(context: AgentContext, *, agent: str, path: str, task: str) -> AgentContext:
    """What a delegated agent works in: the same conversation, a thinking area of its own, and no voice in the chat.

    The ledger and the receipts are those of the whole run; what of the ledger it sees is decided by its path.
    """
    return replace(
        context,
        agent_name=agent,
        delegation_id=path,
        task=task,
        completed_steps=[],
        digest=None,
        emit_functions=[],
        on_text=None,
    )


@dataclass(frozen=True, slots=True)
class StepsWithin:
    """The journal of a delegation: its steps stand behind the step that opened it, as in `tool:1:0/model:1`."""

    journal: Journal
    step: str

    async def finished(self, step: str) -> str | None:
        """What was recorded for this step, or None."""
        return await self.journal.finished(f"{self.step}/{step}")

    async def record(self, step: str, value: str) -> None:
        """Keep the value of a step that has finished."""
        await self.journal.record(f"{self.step}/{step}", value)


def _ledger_step(planned: PlannedCall) -> str:
    return f"{planned.step}/ledger"


def _task_of(planned: PlannedCall) -> str:
    return str(parse_object(planned.call.arguments).get("task", "")).strip()
