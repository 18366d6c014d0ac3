"""From what a model replied to the action it means, with every call made fit to be answered and sent back."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from bot.agent.actions import Action, CompletedStep, Finish, UseTools
from bot.agent.model import ModelReply, ToolCall
from bot.agent.tool import TOOL_NAME, Tool
from bot.agent.tool_arguments import parse_object
from bot.errors import ModelRepliedNothing, ToolFailed

_PREFIX = "functions."


def parse_reply(
    reply: ModelReply, tools: Mapping[str, Tool], *, earlier: Sequence[CompletedStep] = ()
) -> Action:
    """The action that `reply` asks for; `earlier` are the steps of this run, whose call ids are taken.

    A reply with calls uses tools, whatever text stands beside them. Nothing is dropped: a call that cannot be
    run (an unknown tool, arguments that do not fit) keeps its place with its `problem`, so that each call
    gets exactly one result. Raises ModelRepliedNothing for a reply without a word or a call.
    """
    if reply.is_empty():
        raise ModelRepliedNothing
    if not reply.tool_calls:
        return Finish(text=reply.text, reply=reply)
    taken = {call.id for step in earlier for call in step.reply.tool_calls}
    calls: list[ToolCall] = []
    for position, call in enumerate(reply.tool_calls):
        spare = f"call{len(earlier):02d}{position:03d}"  # nine letters and digits: what Mistral asks for
        name = call.name.strip().removeprefix(_PREFIX)
        calls.append(_checked(replace(call, id=_free_id(call.id, spare, taken), name=name), tools))
        taken.add(calls[-1].id)
    return UseTools(reply=replace(reply, tool_calls=tuple(calls)))


def _free_id(wanted: str, spare: str, taken: Collection[str]) -> str:
    candidate = wanted.strip() or spare
    number = 0
    while candidate in taken:
        candidate, number = (spare if number == 0 else f"{spare}x{number}"), number + 1
    return candidate


def _checked(call: ToolCall, tools: Mapping[str, Tool]) -> ToolCall:
    return replace(
        call,
        name=_sendable_name(call.name),
        arguments=_sendable_arguments(call.arguments),
        problem=_problem(call, tools),
    )


def _problem(call: ToolCall, tools: Mapping[str, Tool]) -> str | None:
    tool = tools.get(call.name)
    if tool is None:
        return _unknown(call.name, tools)
    try:
        tool.bind(call.arguments)
    except ToolFailed as error:
        return str(error)
    return None


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    offered = ", ".join(sorted(tools)) or "none"
    return f"There is no tool named {name[:64]!r}. The tools are: {offered}."


def _sendable_name(name: str) -> str:
    """The name, in letters that an endpoint takes back in the history of a request."""
    return name if TOOL_NAME.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def _sendable_arguments(arguments: str) -> str:
    """The arguments when they are a JSON object: some servers parse those of earlier calls and refuse others."""
    try:
        return arguments if parse_object(arguments) else "{}"
    except ToolFailed:
        return "{}"
