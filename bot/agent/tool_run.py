"""Runs the tool calls of one action at the same time, each to exactly one result, remembered as it finishes."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from bot.agent.actions import CompletedStep, ToolResult, dump_result, parse_result
from bot.agent.artifact_reference import cut_middle, keep_if_large
from bot.agent.context import AgentContext
from bot.agent.handover_tools import Handover, read_handover
from bot.agent.model import ToolCall
from bot.agent.step_notes import UNKNOWN, Noting, StepKind, StepNote, noted
from bot.agent.tool import Tool
from bot.agent.tool_output import Quoting
from bot.errors import ToolFailed
from bot.observe.metrics import TOOL_CALLS
from bot.observe.tracing import trace_tool_result, traced

AT_ONCE = 8
"""How many calls of one action run at the same time."""
LONGEST_REPLY = 100_000
"""Characters of a final tool's output: it is sent to the chat, and loses its middle beyond that."""


class Journal(Protocol):
    """Remembers the finished steps of one turn ("model:1", "tool:1:0"), so that a resumed run replays them."""

    async def finished(self, step: str) -> str | None:
        """What was recorded for this step, or None."""
        ...

    async def record(self, step: str, value: str) -> None:
        """Keep the value of a step that has finished. Raises Fenced, Forgotten or TurnStopped."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call with the name of its step; `refusal` is its result's text where it must not run."""

    step: str
    call: ToolCall
    refusal: str | None = None

    @property
    def handover(self) -> Handover | None:
        """What it hands to another agent."""
        return read_handover(self.call.name)

    @property
    def is_delegation(self) -> bool:
        """Whether another agent works on it."""
        return self.handover is not None and self.handover.kind == "delegation"


class Handovers(Protocol):
    """Carries out the calls that hand something to another agent."""

    async def delegate(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> str:
        """The answer of the agent that it is delegated to. Raises ToolFailed in words for the model."""
        ...

    async def restore(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> None:
        """What a delegation left beside its result, which an interrupted run has recorded."""
        ...

    def transfer(self, planned: PlannedCall) -> str:
        """What the model reads of a transfer that takes place. Raises ToolFailed when nobody can take the chat."""
        ...


def call_key(context: AgentContext, step: str) -> str:
    """What tells this call from all others of the conversation; of a delegation it is the path that it opens."""
    return f"{context.delegation_id}/{step}" if context.delegation_id else f"{context.request_id}:{step}"


def plan_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    *,
    earlier: Sequence[CompletedStep],
    transfer_limit: int = 0,
) -> list[PlannedCall]:
    """What to do with each call, in order. A tool's `max_calls` counts the calls of this run that could run.

    One action transfers the chat once: the first such call counts.
    """
    used: dict[str, int] = {}
    for step in earlier:
        for call in step.reply.tool_calls:
            used[call.name] = used.get(call.name, 0) + (call.problem is None)
    planned: list[PlannedCall] = []
    for position, call in enumerate(calls):
        refusal = call.problem or _refusal(call.name, tools.get(call.name), used.get(call.name, 0))
        if refusal is None and _is_transfer(call.name):
            refusal = _transfer_refusal(planned, earlier, transfer_limit)
        used[call.name] = used.get(call.name, 0) + (call.problem is None)
        planned.append(PlannedCall(step=f"tool:{len(earlier) + 1}:{position}", call=call, refusal=refusal))
    return planned


async def run_calls(
    planned: Sequence[PlannedCall],
    context: AgentContext,
    *,
    tools: Mapping[str, Tool],
    journal: Journal,
    handovers: Handovers,
    finished: dict[str, ToolResult],
) -> tuple[ToolResult, ...]:
    """One result for each call, in their order; at most AT_ONCE run at a time.

    Each result is put into `finished` under its step as soon as it is there. What ends the turn (TurnEnded,
    MemoryFailure) is raised as it is, after the other calls were cancelled.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def finish(each: PlannedCall) -> ToolResult:
        async with places:
            known = await journal.finished(each.step)
            if known is None:
                with _noted(each, context, tools) as note:
                    result = await _run_call(each, context, tools=tools, journal=journal, handovers=handovers)
                    note.outcome = "error" if result.is_error else "ok"
                finished[each.step] = result
                await journal.record(each.step, dump_result(result))
                _tell_finished(each.call, result, name=_told_name(each, tools))
                return result
            if each.is_delegation:
                await handovers.restore(each, context, journal)
            context.notes.append(_replayed(each, context, tools))
            finished[each.step] = parse_result(known)
            return finished[each.step]

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(finish(each), name=each.step) for each in planned]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _run_call(
    planned: PlannedCall,
    context: AgentContext,
    *,
    tools: Mapping[str, Tool],
    journal: Journal,
    handovers: Handovers,
) -> ToolResult:
    call = planned.call
    if planned.refusal is not None:
        return ToolResult(call_id=call.id, name=call.name, output=planned.refusal, is_error=True)
    tool, is_error = tools[call.name], False
    try:
        with traced("tool", tool=call.name):
            output = await _output_of(planned, context, tool=tool, journal=journal, handovers=handovers)
    except ToolFailed as error:
        output, is_error = str(error), True
    # A reply cannot be blank: the model then goes on from the empty result.
    if tool.is_final and not is_error and output.strip():
        return ToolResult(
            call_id=call.id, name=call.name, output=cut_middle(output, at_most=LONGEST_REPLY), is_final=True
        )
    key = call_key(context, planned.step)
    text, artifact_id = await keep_if_large(output, context.artifacts, tool=call.name, key=key)
    return ToolResult(
        call_id=call.id,
        name=call.name,
        output=text,
        is_error=is_error,
        artifact_id=artifact_id,
        quotes=output.ids if isinstance(output, Quoting) else "",
    )


async def _output_of(
    planned: PlannedCall, context: AgentContext, *, tool: Tool, journal: Journal, handovers: Handovers
) -> str:
    call = planned.call
    if planned.is_delegation:
        return await handovers.delegate(planned, context, journal)
    await context.tell_status(f"Running tool {call.name}")
    return handovers.transfer(planned) if planned.handover else await tool.call(call.arguments, context)


def _noted(
    planned: PlannedCall, context: AgentContext, tools: Mapping[str, Tool]
) -> AbstractContextManager[Noting]:
    return noted(context.notes, _kind_of(planned), _told_name(planned, tools), depth=context.depth)


def _replayed(planned: PlannedCall, context: AgentContext, tools: Mapping[str, Tool]) -> StepNote:
    name = _told_name(planned, tools)
    return StepNote(kind=_kind_of(planned), name=name, outcome="replayed", seconds=0.0, depth=context.depth)


def _kind_of(planned: PlannedCall) -> StepKind:
    return planned.handover.kind if planned.handover else "tool"


def _told_name(planned: PlannedCall, tools: Mapping[str, Tool]) -> str:
    """The tool's name; one that there is none of was made up by the model."""
    return planned.call.name if planned.call.name in tools else UNKNOWN


def _tell_finished(call: ToolCall, result: ToolResult, *, name: str) -> None:
    TOOL_CALLS.labels("error" if result.is_error else "ok").inc()
    trace_tool_result(name, call.arguments, result.output, is_error=result.is_error)


def _refusal(name: str, tool: Tool | None, used: int) -> str | None:
    if tool is None:  # a replayed call, and the tool is gone since
        return f"{name} is not available any more."
    if tool.max_calls is None or used < tool.max_calls:
        return None
    return f"{name} has reached its limit of {tool.max_calls} calls in this run."


def _transfer_refusal(
    planned: Sequence[PlannedCall], earlier: Sequence[CompletedStep], limit: int
) -> str | None:
    if limit == 0:
        return "This chat cannot be transferred from here."
    if any(_is_transfer(each.call.name) and each.refusal is None for each in planned):
        return "This chat goes to one agent at a time, and another call of this action has transferred it."
    done = sum(_is_transfer(each.name) and not each.is_error for step in earlier for each in step.results)
    return None if done < limit else f"This chat has reached its limit of {limit} transfers for one message."


def _is_transfer(name: str) -> bool:
    handover = read_handover(name)
    return handover is not None and handover.kind == "transfer"
