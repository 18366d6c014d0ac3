"""Runs the tool calls of one action at the same time, each to exactly one result, remembered as it finishes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.agent.actions import CompletedStep, ToolResult, dump_result, parse_result
from bot.agent.context import AgentContext
from bot.agent.model import ToolCall
from bot.agent.tool import Tool
from bot.errors import ToolFailed
from bot.observe.metrics import TOOL_CALLS
from bot.observe.tracing import trace_tool_result, traced

AT_ONCE = 8
"""How many calls of one action run at the same time."""


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


def plan_calls(
    calls: Sequence[ToolCall], tools: Mapping[str, Tool], *, earlier: Sequence[CompletedStep]
) -> list[PlannedCall]:
    """What to do with each call, in order. A tool's `max_calls` counts the calls of this run that could run."""
    used: dict[str, int] = {}
    for step in earlier:
        for call in step.reply.tool_calls:
            used[call.name] = used.get(call.name, 0) + (call.problem is None)
    planned: list[PlannedCall] = []
    for position, call in enumerate(calls):
        refusal = call.problem or _refusal(call.name, tools.get(call.name), used.get(call.name, 0))
        used[call.name] = used.get(call.name, 0) + (call.problem is None)
        planned.append(PlannedCall(step=f"tool:{len(earlier) + 1}:{position}", call=call, refusal=refusal))
    return planned


async def run_calls(
    planned: Sequence[PlannedCall], context: AgentContext, *, tools: Mapping[str, Tool], journal: Journal
) -> tuple[ToolResult, ...]:
    """One result for each call, in their order; at most AT_ONCE run at a time.

    What ends the turn (TurnEnded, MemoryFailure) is raised as it is, after the other calls were cancelled.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def finish(each: PlannedCall) -> ToolResult:
        async with places:
            return await _finish_call(each, context, tools=tools, journal=journal)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(finish(each), name=each.step) for each in planned]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _finish_call(
    planned: PlannedCall, context: AgentContext, *, tools: Mapping[str, Tool], journal: Journal
) -> ToolResult:
    known = await journal.finished(planned.step)
    if known is not None:
        return parse_result(known)
    result = await _run_call(planned, context, tools)
    await journal.record(planned.step, dump_result(result))
    TOOL_CALLS.labels("error" if result.is_error else "ok").inc()
    call = planned.call
    trace_tool_result(call.name, call.arguments, result.output, is_error=result.is_error)
    return result


async def _run_call(planned: PlannedCall, context: AgentContext, tools: Mapping[str, Tool]) -> ToolResult:
    call = planned.call
    if planned.refusal is not None:
        return ToolResult(call_id=call.id, name=call.name, output=planned.refusal, is_error=True)
    tool = tools[call.name]
    await context.tell_status(f"Running tool {call.name}")
    try:
        with traced("tool", tool=call.name):
            output = await tool.call(call.arguments, context)
    except ToolFailed as error:
        return ToolResult(call_id=call.id, name=call.name, output=str(error), is_error=True)
    # A reply cannot be blank: the model then goes on from the empty result.
    is_final = tool.is_final and bool(output.strip())
    return ToolResult(call_id=call.id, name=call.name, output=output, is_final=is_final)


def _refusal(name: str, tool: Tool | None, used: int) -> str | None:
    if tool is None:  # a replayed call, and the tool is gone since
        return f"{name} is not available any more."
    if tool.max_calls is None or used < tool.max_calls:
        return None
    return f"{name} has reached its limit of {tool.max_calls} calls for one message."
