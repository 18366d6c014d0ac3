"""Chat Completions responses: whole, as chunks of a stream, and as errors."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

FinishReason = Literal["stop", "length", "tool_calls"]

DONE = b"data: [DONE]\n\n"

_PICTURE = re.compile(r"data:image/[^\"]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class WireToolCall:
    """A tool call; `arguments` is raw text that should be a JSON object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WireCompletion:
    """A completion. `pieces` are the content deltas of its stream; joined they are the content.

    Without pieces the content is null. `created` is in Unix seconds.
    """

    id: str
    created: int
    model: str
    pieces: tuple[str, ...] = ()
    tool_calls: tuple[WireToolCall, ...] = ()
    finish_reason: FinishReason = "stop"
    prompt_tokens: int = 0

    @property
    def content(self) -> str | None:
        return "".join(self.pieces) if self.pieces else None


def completion_body(completion: WireCompletion) -> dict[str, Any]:
    """Return the `chat.completion` object of a response that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.content, "refusal": None}
    if completion.tool_calls:
        message["tool_calls"] = [_call_body(call) for call in completion.tool_calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": completion.finish_reason}
    return {**_head(completion, "chat.completion"), "choices": [choice], "usage": usage_body(completion)}


def stream_chunks(completion: WireCompletion, *, include_usage: bool) -> Iterator[dict[str, Any]]:
    """Yield the `chat.completion.chunk` objects: role, content, tool calls, finish reason, usage."""
    head = _head(completion, "chat.completion.chunk") | ({"usage": None} if include_usage else {})
    first = {"role": "assistant", "content": "" if completion.pieces else None, "refusal": None}
    for delta in (
        first,
        *({"content": piece} for piece in completion.pieces),
        *_call_deltas(completion.tool_calls),
    ):
        yield {**head, "choices": [_chunk_choice(delta, None)]}
    yield {**head, "choices": [_chunk_choice({}, completion.finish_reason)]}
    if include_usage:
        yield {**head, "choices": [], "usage": usage_body(completion)}


def usage_body(completion: WireCompletion) -> dict[str, Any]:
    """Return token counts by the estimate of four characters a token."""
    calls = "".join(call.name + call.arguments for call in completion.tool_calls)
    written = rough_tokens((completion.content or "") + calls)
    return {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": written,
        "total_tokens": completion.prompt_tokens + written,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def error_body(
    message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """Return OpenAI's JSON object for a refused request."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def event(data: Mapping[str, Any]) -> bytes:
    """Return one server-sent event. It is ASCII, so that text with lone surrogates can be sent too."""
    return b"data: " + json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n\n"


def in_pieces(text: str, *, at_most: int) -> tuple[str, ...]:
    """Split `text` into at most `at_most` content deltas of one word or more."""
    words = re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)
    size = max(1, -(-len(words) // at_most))
    return tuple("".join(words[at : at + size]) for at in range(0, len(words), size)) or ("",)


def rough_tokens(text: str) -> int:
    """Estimate the tokens of `text`."""
    return -(-len(text) // 4)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of the messages and tools of a request; a picture has 765."""
    text = json.dumps([body.get("messages"), body.get("tools")], ensure_ascii=False)
    text, pictures = _PICTURE.subn("", text)
    return rough_tokens(text) + 765 * pictures


def _head(completion: WireCompletion, kind: str) -> dict[str, Any]:
    return {
        "id": completion.id,
        "object": kind,
        "created": completion.created,
        "model": completion.model,
        "service_tier": "default",
        "system_fingerprint": "fp_offline",
    }


def _call_body(call: WireToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _call_deltas(calls: Sequence[WireToolCall]) -> Iterator[dict[str, Any]]:
    """Yield for each call a delta with its id and name, then its arguments in pieces, as OpenAI does."""
    for index, call in enumerate(calls):
        opening = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": opening}]}
        for at in range(0, len(call.arguments), 8):
            piece = {"arguments": call.arguments[at : at + 8]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


def _chunk_choice(delta: Mapping[str, Any], finish_reason: FinishReason | None) -> dict[str, Any]:
    return {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
