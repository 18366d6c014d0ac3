"""What the calls of a completed step leave in the ledger of the turn."""

from collections.abc import Collection, Sequence

from bot.agent.actions import ToolResult
from bot.agent.context import AgentContext
from bot.agent.tool_run import PlannedCall, call_key
from memory.history.ledger import LedgerEntry, is_within


def record_calls(
    context: AgentContext,
    planned: Sequence[PlannedCall],
    results: Sequence[ToolResult],
    *,
    agent: str,
    opened: Collection[str],
) -> None:
    """Append one entry for each call, in call order. What a delegation called is moved before its own entry.

    `opened` are the paths of the delegations that took place. Agents that work at the same time append to one
    ledger: there is no await in between.
    """
    for each, result in zip(planned, results, strict=True):
        path = call_key(context, each.step)
        if path in opened:
            within = [entry for entry in context.ledger if is_within(entry, path)]
            context.ledger[:] = [entry for entry in context.ledger if not is_within(entry, path)] + within
        context.ledger.append(
            LedgerEntry(
                id=path,
                kind=each.handover.kind if each.handover else "tool",
                agent=agent,
                name=each.handover.agent if each.handover else each.call.name,
                input=each.call.arguments,
                output=result.output,
                is_error=result.is_error,
                delegation_id=context.delegation_id,
                opened=path if path in opened else "",
                artifact_id=result.artifact_id,
                quotes=result.quotes,
            )
        )
