"""Makes the tool calls and results of a request pair up, which every endpoint demands (row I13)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from bot.agent.model import PromptMessage, ToolCall

NO_RESULT = "(no result of this call was kept)"

_LONGEST_ID = 40
"""OpenAI refuses longer ids of calls."""


def repair_pairs(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The messages as a valid request; repairing it again changes nothing.

    A result counts if it stands behind the message with its call, only other results between them; all others
    are dropped, as is a second result of one call, and an assistant's message with neither text nor calls. A call
    without a result gets one that says so. Results stand in the order of their calls. A call whose id is
    empty, too long or taken by an earlier one gets a new id; the n-th call with an id takes its n-th result.
    """
    reserved = {call.id for message in messages for call in message.tool_calls}
    taken: set[str] = set()
    repaired: list[PromptMessage] = []
    for message, *results in exchanges(messages):
        if message.role != "assistant" or not message.tool_calls:
            if message.role != "assistant" or message.text.strip():
                repaired.append(replace(message, tool_calls=(), tool_call_id=None))
            continue
        calls: list[ToolCall] = []
        answers: list[PromptMessage] = []
        for call in message.tool_calls:
            known = replace(call, id=_free_id(call.id, taken, reserved))
            taken.add(known.id)
            calls.append(known)
            answers.append(_take_result(results, call.id, known.id))
        repaired += [replace(message, tool_calls=tuple(calls), tool_call_id=None), *answers]
    return tuple(repaired)


def exchanges(messages: Sequence[PromptMessage]) -> Iterator[Sequence[PromptMessage]]:
    """Each message that is no result, with the results directly behind it."""
    starts = [number for number, message in enumerate(messages) if message.role != "tool"]
    for start, end in pairwise([*starts, len(messages)]):
        yield messages[start:end]


def _free_id(wanted: str, taken: Collection[str], reserved: Collection[str]) -> str:
    if wanted.strip() and len(wanted) <= _LONGEST_ID and wanted not in taken:
        return wanted
    number = 0
    # Nine letters and digits: what Mistral asks for.
    while (candidate := f"fixed{number:04d}") in taken or candidate in reserved:
        number += 1
    return candidate


def _take_result(results: list[PromptMessage], asked: str, known: str) -> PromptMessage:
    """The first result of the call `asked`, taken out of `results` and given the id `known`."""
    for place, result in enumerate(results):
        if result.tool_call_id == asked:
            return replace(results.pop(place), tool_call_id=known, tool_calls=())
    return PromptMessage(role="tool", text=NO_RESULT, tool_call_id=known)
