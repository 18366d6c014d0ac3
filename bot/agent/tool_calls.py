"""Runs the tool calls of one action at the same time: tools, delegations to other agents, transfers of the chat."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from bot.agent.actions import Action, CompletedStep, ToolResult
from bot.agent.context import UNKNOWN, AgentContext, Delegation, Journal, Thinking, note_step
from bot.agent.files import MOST_FILES, CheckedFile, file_id
from bot.agent.loose_json import parse_object
from bot.agent.model import ToolCall
from bot.agent.team import Agent, Team, is_transfer, parse_handover
from bot.agent.tool import Tool, permitted
from bot.agent.tool_output import Attached, Illustrated, Quoting, cut_middle, keep_if_large
from bot.errors import TellUser, ToolFailed
from bot.observe.metrics import DELEGATIONS, TOOL_CALLS
from bot.observe.tracing import trace_tool_result, traced
from memory.codec import dump_json, parse_json
from memory.errors import StoreFull
from memory.history.ledger import EntryKind, LedgerEntry, LedgerFile, is_within

AT_ONCE = 8
"""Calls of one action that run at the same time."""
LONGEST_REPLY = 100_000
"""Characters of a final tool's output, which is sent to the chat. A longer output loses its middle."""

OUTCOME_UNKNOWN = (
    "The outcome of this call is unknown, because the service stopped while it ran. Do not assume either."
)

Answer = Callable[[AgentContext, Journal], Awaitable[str]]
"""Returns the answer of a delegated agent to its task. Raises the TellUser errors of the model."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call with the name of its step."""

    step: str
    call: ToolCall
    kind: EntryKind
    # The agent that gets the task or the chat; "" for a tool.
    agent: str
    # None if the caller may not use the tool, or if there is no such tool.
    tool: Tool | None
    # The text of the result if the call must not run.
    refusal: str | None = None

    @property
    def safe_name(self) -> str:
        """The name of the tool for logs and notes."""
        return self.call.name if self.tool else UNKNOWN


def plan_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    *,
    earlier: Sequence[CompletedStep],
    transfer_limit: int = 0,
) -> list[PlannedCall]:
    """Return the calls in order, each with a refusal if it must not run.

    `max_calls` of a tool counts the calls of this run without a `problem`. Only the first transfer of an
    action takes place.
    """
    used: dict[str, int] = {}
    for step in earlier:
        for call in step.reply.tool_calls:
            used[call.name] = used.get(call.name, 0) + (call.problem is None)
    planned: list[PlannedCall] = []
    for position, call in enumerate(calls):
        tool = tools.get(call.name)
        refusal = call.problem or _refusal(call.name, tool, used.get(call.name, 0))
        if refusal is None and is_transfer(call.name):
            refusal = _transfer_refusal(planned, earlier, transfer_limit)
        used[call.name] = used.get(call.name, 0) + (call.problem is None)
        kind, agent = parse_handover(call.name) or ("tool", "")
        step_name = f"tool:{len(earlier) + 1}:{position}"
        planned.append(
            PlannedCall(step=step_name, call=call, kind=kind, agent=agent, tool=tool, refusal=refusal)
        )
    return planned


@dataclass(frozen=True, slots=True)
class CallRunner:
    """Runs the tool calls of one run, on all levels of its delegations."""

    _team: Team
    _answer: Answer
    # The paths of all delegations of this run, also of those before a crash: the limit counts them.
    _opened: set[str] = field(default_factory=set[str])

    async def run(
        self, action: Action, agent: Agent, context: AgentContext, journal: Journal
    ) -> tuple[ToolResult, ...]:
        """Run the calls and complete the step: results, ledger entries, and the new agent after a transfer.

        There is one result for each call, in call order. The errors that end the turn (TurnEnded,
        MemoryFailure) are raised as they are, after the other calls have been cancelled.
        """
        planned = plan_calls(
            action.tool_calls,
            # Checked here too: an agent of somebody else may return any call of its model.
            permitted(await agent.all_tools(), context.caller),
            earlier=context.thinking.completed_steps,
            transfer_limit=0 if context.delegation.path else self._team.limits.transfers,
        )
        finished: dict[str, ToolResult] = {}
        slots = asyncio.Semaphore(AT_ONCE)

        async def finish(each: PlannedCall) -> None:
            async with slots:
                await self._finish(each, context, journal, finished)

        try:
            async with asyncio.TaskGroup() as group:
                for each in planned:
                    group.create_task(finish(each), name=each.step)
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        finally:  # the ledger also has the calls before a stop or the deadline
            agent_name = self._team.name_of(context)
            for each in planned:
                if each.step in finished:
                    self._record(each, finished[each.step], context, agent_name)
        results = tuple(finished[each.step] for each in planned)
        context.thinking.completed_steps.append(CompletedStep(reply=action, results=results))
        for each, result in zip(planned, results, strict=True):
            if each.kind == "transfer" and not result.is_error:
                context.agent_name = self._team.owner_name(each.agent)
        return results

    async def _finish(
        self, planned: PlannedCall, context: AgentContext, journal: Journal, finished: dict[str, ToolResult]
    ) -> None:
        """Put the result into `finished`: from the journal, or of the call, which is then journaled."""
        line = await journal.finished(planned.step)
        if line is not None:
            if planned.kind == "delegation":
                await self._restore(planned, context, journal)
            with note_step(context, planned.kind, planned.safe_name) as note:
                note.outcome = "replayed"
            result = finished[planned.step] = parse_json(ToolResult, line)
            context.record.file_count += len(result.files)
            return
        with note_step(context, planned.kind, planned.safe_name) as note:
            result = await self._run_call(planned, context, journal)
            note.outcome = "error" if result.is_error else "ok"
        finished[planned.step] = result
        await journal.record(planned.step, dump_json(ToolResult, result.without_images()))
        TOOL_CALLS.labels("error" if result.is_error else "ok").inc()
        trace_tool_result(planned.safe_name, planned.call.arguments, result.output, is_error=result.is_error)

    async def _run_call(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> ToolResult:
        call, tool, is_error = planned.call, planned.tool, False
        key, files = call_key(context, planned.step), tuple[LedgerFile, ...]()
        if await journal.finished(_begun_step(planned)) is not None:
            return ToolResult(call_id=call.id, name=call.name, output=OUTCOME_UNKNOWN, is_error=True)
        if planned.refusal is not None or tool is None:
            return ToolResult(call_id=call.id, name=call.name, output=planned.refusal or "", is_error=True)
        try:
            with traced("tool", tool=call.name):
                output = await self._output(planned, tool, context, journal)
            if isinstance(output, Attached):
                files = await _keep_files(output.files, context, key=key)
        except ToolFailed as error:
            output, is_error = str(error), True
        # A blank text cannot be a reply, and neither can a file. The model then goes on from the result.
        if tool.is_final and not is_error and not files and output.strip():
            reply = cut_middle(output, at_most=LONGEST_REPLY)
            return ToolResult(call_id=call.id, name=call.name, output=reply, is_final=True)
        text, artifact_id = await keep_if_large(output, context.artifacts, tool=call.name, key=key)
        return ToolResult(
            call_id=call.id,
            name=call.name,
            output=text,
            is_error=is_error,
            artifact_id=artifact_id,
            quotes=output.ids if isinstance(output, Quoting) else "",
            images=output.images if isinstance(output, Illustrated) else (),
            files=files,
        )

    async def _output(self, planned: PlannedCall, tool: Tool, context: AgentContext, journal: Journal) -> str:
        if planned.kind == "delegation":
            return await self._delegate(planned, context, journal)
        await context.show_status(f"Running tool {planned.call.name}")
        if planned.kind == "transfer":
            return f"{self._agent_of(planned)} has this chat now and answers from here on."
        if not tool.is_repeatable:
            await journal.record(_begun_step(planned), "")
        own = {**context.metadata, "call": call_key(context, planned.step)}
        return await tool.call(planned.call.arguments, replace(context, metadata=own))

    async def _delegate(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> str:
        """Return the answer of the other agent. Raises ToolFailed beyond the limits, and if its model fails.

        The other agent has a thinking area and journal steps of its own. After a crash it resumes from them.
        """
        try:
            inner = self._open(planned, context)
        except ToolFailed:
            DELEGATIONS.labels("refused").inc()
            raise
        await context.show_status(f"Running tool {planned.call.name}")
        answer, failure = "", None
        try:
            answer = await self._answer(inner, _StepsWithin(journal, planned.step))
        except TellUser as error:
            DELEGATIONS.labels("failed").inc()
            log.warning("delegation_failed", agent=inner.agent_name, failure=type(error).__name__)
            # The error's own text may quote the endpoint.
            failure = ToolFailed(f"{inner.agent_name} could not do it. {type(error).__doc__}")
        inside = [entry for entry in context.record.ledger if is_within(entry, inner.delegation.path)]
        await journal.record(_ledger_step(planned), dump_json(list[LedgerEntry], inside))
        if failure:
            raise failure
        DELEGATIONS.labels("answered").inc()
        return answer

    async def _restore(self, planned: PlannedCall, context: AgentContext, journal: Journal) -> None:
        """Restore the ledger entries of a finished delegation, and its share of the limit."""
        line = await journal.finished(_ledger_step(planned))
        if line is None:  # it was refused
            return
        inside = parse_json(list[LedgerEntry], line)
        self._opened.update(
            [call_key(context, planned.step), *(each.opened for each in inside if each.opened)]
        )
        context.record.ledger += inside
        context.record.file_count += sum(len(each.files) for each in inside)

    def _open(self, planned: PlannedCall, context: AgentContext) -> AgentContext:
        """Return the context of a delegated agent: the same conversation and record, but no voice in the chat."""
        limits = self._team.limits
        agent = self._agent_of(planned)
        if context.delegation.depth >= limits.delegation_depth:
            raise ToolFailed(
                f"Delegations may be {limits.delegation_depth} deep, and this would be one more. Do it yourself."
            )
        if len(self._opened) >= limits.delegations:
            raise ToolFailed(f"The limit of {limits.delegations} delegations for one message is reached.")
        path = call_key(context, planned.step)
        self._opened.add(path)
        task = str(parse_object(planned.call.arguments).get("task", "")).strip()
        return replace(
            context,
            agent_name=agent,
            delegation=Delegation(path=path, task=task, depth=context.delegation.depth + 1),
            thinking=Thinking(recalled=context.thinking.recalled),
            listeners=[],
            on_text=None,
        )

    def _agent_of(self, planned: PlannedCall) -> str:
        if planned.agent not in self._team.agents:
            raise ToolFailed(f"There is no agent {planned.agent} here.")
        return planned.agent

    def _record(self, planned: PlannedCall, result: ToolResult, context: AgentContext, agent: str) -> None:
        """Append the ledger entry of a call, after the entries of the delegation that it opened.

        Agents that work at the same time append to one ledger: there is no await in between.
        """
        path, ledger = call_key(context, planned.step), context.record.ledger
        if path in self._opened:
            inside = [entry for entry in ledger if is_within(entry, path)]
            ledger[:] = [entry for entry in ledger if not is_within(entry, path)] + inside
        ledger.append(
            LedgerEntry(
                id=path,
                kind=planned.kind,
                agent=agent,
                name=planned.agent or planned.call.name,
                input=planned.call.arguments,
                output=result.output,
                is_error=result.is_error,
                delegation_id=context.delegation.path,
                opened=path if path in self._opened else "",
                artifact_id=result.artifact_id,
                quotes=result.quotes,
                files=result.files,
            )
        )


def call_key(context: AgentContext, step: str) -> str:
    """Return the unique key of a call in its conversation. For a delegation it is the path of the new run."""
    return f"{context.delegation.path}/{step}" if context.delegation.path else f"{context.request_id}:{step}"


async def _keep_files(
    files: Sequence[CheckedFile], context: AgentContext, *, key: str
) -> tuple[LedgerFile, ...]:
    """Keep the files of a call until the answer is sent. The same call replaces its own. Raises ToolFailed."""
    if context.conversation.files is None:
        raise ToolFailed("No file can be sent from here.")
    if context.record.file_count + len(files) > MOST_FILES:
        raise ToolFailed(f"One answer may have {MOST_FILES} files. This one was not sent.")
    context.record.file_count += len(files)
    kept: list[LedgerFile] = []
    for number, file in enumerate(files):
        kept.append(
            LedgerFile(
                id=file_id(key, number), name=file.name, is_picture=file.is_picture, prompt=file.prompt
            )
        )
        try:
            await context.conversation.files.keep(file.content, file_id=kept[-1].id)
        except StoreFull as error:
            raise ToolFailed(f"There is no room for the file {file.name} now.") from error
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _StepsWithin:
    """The journal of a delegation. Its steps follow the step of the call: `tool:1:0/model:1`."""

    journal: Journal
    step: str

    async def finished(self, step: str) -> str | None:
        return await self.journal.finished(f"{self.step}/{step}")

    async def record(self, step: str, value: str) -> None:
        await self.journal.record(f"{self.step}/{step}", value)


def _ledger_step(planned: PlannedCall) -> str:
    return f"{planned.step}/ledger"


def _begun_step(planned: PlannedCall) -> str:
    return f"{planned.step}/begun"


def _refusal(name: str, tool: Tool | None, used: int) -> str | None:
    if tool is None:  # a replayed call of a tool that has been removed since
        return f"{name} is not available any more."
    if tool.max_calls is None or used < tool.max_calls:
        return None
    return f"{name} has reached its limit of {tool.max_calls} calls in this run."


def _transfer_refusal(
    planned: Sequence[PlannedCall], earlier: Sequence[CompletedStep], limit: int
) -> str | None:
    if limit == 0:
        return "This chat cannot be transferred from here."
    if any(is_transfer(each.call.name) and each.refusal is None for each in planned):
        return "This chat goes to one agent at a time, and another call of this action has transferred it."
    done = sum(is_transfer(each.name) and not each.is_error for step in earlier for each in step.results)
    return None if done < limit else f"This chat has reached its limit of {limit} transfers for one message."
