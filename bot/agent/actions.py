"""What an agent decides and what came of it, as facts, and their form in the journal."""

import json
from dataclasses import dataclass
from typing import Any, cast

from bot.agent.model import ModelReply, PromptMessage, ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTools:
    """Run these tool calls, then decide again.

    The output parser has made the calls fit to be sent back: distinct ids, names that endpoints take, and
    arguments that are JSON objects.
    """

    reply: ModelReply

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which the model made them."""
        return self.reply.tool_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Answer with `text`; `reply` is what the model said, for its usage."""

    text: str
    reply: ModelReply


Action = UseTools | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one tool call gave. `is_final`: the output is the answer of the whole run.

    With an `artifact_id` the output is that artifact's reference, and the whole of it is kept. `quotes` are the
    ids, with spaces, of the messages and artifacts that it quotes.
    """

    call_id: str
    name: str
    output: str
    is_error: bool = False
    is_final: bool = False
    artifact_id: str = ""
    quotes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedStep:
    """One action whose tools have run: a reply with calls and, in the same order, one result for each."""

    reply: ModelReply
    results: tuple[ToolResult, ...]

    def to_chat_messages(self) -> tuple[PromptMessage, ...]:
        """The step as the next request tells it: the calls, then exactly one tool message for each."""
        results = (
            PromptMessage(role="tool", text=result.output, tool_call_id=result.call_id)
            for result in self.results
        )
        asked = PromptMessage(role="assistant", text=self.reply.text, tool_calls=self.reply.tool_calls)
        return (asked, *results)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDigest:
    """The first `covers` completed steps of a run, compressed into `text`; they are told by it from then on."""

    covers: int
    text: str


def dump_action(action: Action) -> str:
    """The action as one line of ASCII JSON."""
    fields: dict[str, Any] = {"reply": _reply_fields(action.reply)}
    if isinstance(action, Finish):
        fields["finish"] = action.text
    return json.dumps(fields, separators=(",", ":"))


def parse_action(line: str) -> Action:
    """The inverse of `dump_action`; raises ValueError, KeyError or TypeError on a line that is not one."""
    fields = cast("dict[str, Any]", json.loads(line))
    reply = _parse_reply(fields["reply"])
    return Finish(text=fields["finish"], reply=reply) if "finish" in fields else UseTools(reply=reply)


def dump_result(result: ToolResult) -> str:
    """The result as one line of ASCII JSON."""
    fields = {
        "call_id": result.call_id,
        "name": result.name,
        "output": result.output,
        "is_error": result.is_error,
        "is_final": result.is_final,
    }
    # Only where there are any: a worker of the version before them, beside us while we are deployed, knows neither.
    if result.artifact_id:
        fields["artifact_id"] = result.artifact_id
    if result.quotes:
        fields["quotes"] = result.quotes
    return json.dumps(fields, separators=(",", ":"))


def parse_result(line: str) -> ToolResult:
    """The inverse of `dump_result`; raises ValueError or TypeError on a line that is not one."""
    return ToolResult(**cast("dict[str, Any]", json.loads(line)))


def dump_digest(digest: StepDigest) -> str:
    """The digest as one line of ASCII JSON."""
    return json.dumps({"covers": digest.covers, "text": digest.text}, separators=(",", ":"))


def parse_digest(line: str) -> StepDigest:
    """The inverse of `dump_digest`; raises ValueError or TypeError on a line that is not one."""
    return StepDigest(**cast("dict[str, Any]", json.loads(line)))


def _reply_fields(reply: ModelReply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "calls": [[call.id, call.name, call.arguments, call.problem] for call in reply.tool_calls],
        "usage": [reply.usage.prompt_tokens, reply.usage.completion_tokens],
        "finish_reason": reply.finish_reason,
    }


def _parse_reply(fields: dict[str, Any]) -> ModelReply:
    calls = (
        ToolCall(id=call_id, name=name, arguments=arguments, problem=problem)
        for call_id, name, arguments, problem in fields["calls"]
    )
    prompt_tokens, completion_tokens = fields["usage"]
    return ModelReply(
        text=fields["text"],
        tool_calls=tuple(calls),
        usage=Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens),
        finish_reason=fields["finish_reason"],
    )
