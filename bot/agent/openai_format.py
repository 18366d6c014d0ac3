"""Request bodies, streamed replies and failures of Chat Completions, for all servers that we know (pure)."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, cast

from bot.agent.model import Image, JsonSchema, ModelReply, PromptMessage, ToolCall, ToolSpec, Usage
from bot.agent.refusals import is_filtered
from bot.errors import (
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from memory.characters import well_formed

_TEMPORARY_STATUSES = frozenset({408, 409, 425, 429})
_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_MISSING_CODES = ("model_not_found", "invalid_model")  # OpenAI, Mistral
_MISSING_PHRASES = (
    "not found",  # Ollama: model "x" not found
    "does not exist",  # vLLM
)
_MISSING_SENTENCES = (
    "is not a valid model id",  # OpenRouter
    "no endpoints found for",  # OpenRouter, of a model that no provider serves any more
    "model not exist",  # DeepSeek
    "model does not exist",  # SiliconFlow
    "invalid model name",  # LiteLLM
)
"""Sentences that name the model, also with a 400."""
_LENGTH_CODES = ("context_length_exceeded", "exceed_context_size_error", "ContextWindowExceededError")
_LENGTH_PHRASES = (
    "maximum context length",  # OpenAI, vLLM, OpenRouter
    "exceeds the available context size",  # llama.cpp
    "prompt is too long",  # Anthropic's compatible endpoint
    "exceeds the maximum number of tokens",  # Gemini's
    "context window",  # LiteLLM
)


def request_body(
    model: str, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, sees: bool = True
) -> dict[str, object]:
    """Return the body of a streamed request. A model that does not see gets a line in place of pictures."""
    contents = [
        _message_body(_without_images(message) if message.images and not sees else message)
        for message in messages
    ]
    body: dict[str, object] = {"model": model, "stream": True, "messages": contents}
    if tools:  # endpoints refuse an empty list
        body["tools"] = list(map(_tool_body, tools))
    return body


def json_forms(schema: JsonSchema) -> tuple[Mapping[str, object], ...]:
    """Return the ways to ask for JSON, the strictest first. The prompt asks for it too, for the last one."""
    strict = {"name": schema.name, "strict": True, "schema": dict(schema.schema)}
    return (
        {"response_format": {"type": "json_schema", "json_schema": strict}},
        {"response_format": {"type": "json_object"}},
        {},
    )


def _tool_body(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _without_images(message: PromptMessage) -> PromptMessage:
    count = len(message.images)
    what = "The picture of this message" if count == 1 else f"The {count} pictures of this message"
    return replace(message, text=f"{message.text}\n[{what} could not be shown to you: say so.]", images=())


def _message_body(message: PromptMessage) -> dict[str, object]:
    """Return one message. With pictures its content is a list: its text, then them."""
    text = well_formed(message.text)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
    if message.images:
        parts = [{"type": "text", "text": text}, *map(_image_part, message.images)]
        return {"role": message.role, "content": parts}
    if not message.tool_calls:
        return {"role": message.role, "content": text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": well_formed(call.arguments)},
        }
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": text or None, "tool_calls": calls}


def _image_part(image: Image) -> dict[str, object]:
    url = f"data:{image.mime_type};base64,{b64encode(image.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


EVENT_BYTES = 4 * 2**20
"""Largest event of a stream. Some servers send a whole answer in one: 128,000 tokens are half a megabyte."""


class EventStream:
    """Splits a stream of server-sent events. Only the data of the events is read."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._data_bytes = 0

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of the events that are complete now. Raises ValueError for one over EVENT_BYTES."""
        lines = (self._rest + received).splitlines(keepends=True)
        # A return may be the first half of a line break.
        self._rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
        complete: list[bytes] = []
        for line in lines:
            text = line.rstrip(b"\r\n")
            if text.startswith(b"data:"):
                self._data.append(text[5:].removeprefix(b" "))
                self._data_bytes += len(line)
            elif not text and self._data:
                complete.append(b"\n".join(self._data))
                self._data.clear()
                self._data_bytes = 0
        if self._data_bytes + len(self._rest) > EVENT_BYTES:
            raise ValueError("an event is too large")
        return complete


@dataclass(slots=True)
class _PartialCall:
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class StreamedReply:
    """A reply put together from chunks. The chunks are JSON objects; nothing in them is trusted."""

    _text: str = ""
    _has_halves: bool = False
    """True if a chunk divides a surrogate pair."""
    _calls: list[_PartialCall] = field(default_factory=list[_PartialCall])
    _usage: Usage | None = None
    _finish_reason: str | None = None

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Add one chunk. Return the whole text so far if it has grown, else "".

        Two chunks may hold the halves of one surrogate pair, which are joined here.
        """
        if usage := _mapping(chunk.get("usage")):
            prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self._usage = Usage(prompt_tokens=_count(prompt), completion_tokens=_count(completion))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return ""
        choice = _mapping(cast("list[object]", choices)[0])
        if reason := choice.get("finish_reason"):
            self._finish_reason = str(reason)
        delta = _mapping(choice.get("delta"))
        if parts := delta.get("tool_calls"):
            for part in _mappings(parts):
                self._add_call(part)
        content = delta.get("content", "")
        text = content if isinstance(content, str) else _text_of(content)
        if not text and (refusal := delta.get("refusal")):  # a model's answer in another field
            text = _text_of(refusal)
        self._text += text
        self._has_halves = self._has_halves or well_formed(text) != text
        return (well_formed(self._text) if self._has_halves else self._text) if text else ""

    def reply(self) -> ModelReply | None:
        """Return the reply, or None if the stream was cut off before the model ended it.

        A call without an id has ""; `parse_reply` gives it one.
        """
        if self._finish_reason is None and self._usage is None:
            return None
        return ModelReply(
            text=well_formed(self._text),
            tool_calls=tuple(map(_whole_call, self._calls)),
            usage=self._usage or Usage(),
            finish_reason=self._finish_reason,
        )

    def _add_call(self, part: Mapping[str, Any]) -> None:
        function = _mapping(part.get("function"))
        name, arguments = _text_of(function.get("name")), function.get("arguments")
        call = self._call_of(part, name)
        # A name comes once; some servers repeat it in every chunk.
        call.name += "" if name == call.name else name
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:  # the object itself, not its text
            call.arguments += json.dumps(arguments)

    def _call_of(self, part: Mapping[str, Any], name: str) -> _PartialCall:
        """Return the call that a chunk continues, or a new one.

        The index decides. Without an index, and if all parallel calls have the same index (as with Gemini), a new
        id begins a new call.
        """
        index = part.get("index") if isinstance(part.get("index"), int) else None
        call_id = _text_of(part.get("id"))
        call = self._latest_call(index)
        if call is None:
            is_new = True
        elif index is None:
            is_new = call_id != call.id if call_id else bool(name)
        else:
            is_new = bool(call_id and call.id) and call_id != call.id
        if call is None or is_new:
            call = _PartialCall(index, call_id)
            self._calls.append(call)
        call.id = call.id or call_id
        return call

    def _latest_call(self, index: int | None) -> _PartialCall | None:
        calls = reversed(self._calls)
        return next((call for call in calls if index is None or call.index == index), None)


def _whole_call(call: _PartialCall) -> ToolCall:
    return ToolCall(
        id=well_formed(call.id), name=well_formed(call.name), arguments=well_formed(call.arguments)
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text_of(value: object) -> str:
    """Return a text, or the joined text parts of a list (as Mistral sends it); "" for anything else."""
    if isinstance(value, str):
        return value
    if not value:
        return ""
    return "".join(_text_of(part.get("text")) for part in _mappings(value))


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return list(map(_mapping, cast("list[object]", value))) if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def failure_of(status: int | None, *, code: str, text: str) -> TellUser:
    """Return the error of a request that failed with an HTTP `status`, or None for a failure within the stream.

    `code` is the endpoint's error code and type, `text` its message. Neither gets into the error.
    """
    if status is None:
        status = next((int(word) for word in code.split() if word.isdecimal() and len(word) == 3), None)
    if status == 402 or any(word in code for word in _QUOTA_CODES):
        return ModelQuotaExhausted()
    if status == 401:
        return ModelBarred("The model endpoint refuses the key (HTTP 401)")
    if _is_model_missing(status, code, text):
        return ModelMissing(f"The model endpoint does not have the model (HTTP {status or 'none'})")
    if is_filtered(status, code, text):
        return ModelFiltered(f"The model endpoint's filter refused the prompt (HTTP {status or 'none'})")
    if status == 413 or _is_prompt_too_long(status, code, text):
        return PromptTooLong()
    if status is None:
        return ModelUnavailable("The model endpoint cannot be reached, or broke off")
    if status in _TEMPORARY_STATUSES or status >= 500:
        return ModelUnavailable(f"The model endpoint does not answer now (HTTP {status})")
    return ModelRefused(f"The model endpoint refused the request (HTTP {status})")


def retry_after_s(header: str | None, *, now: float) -> float | None:
    """Return the seconds of a Retry-After header (a number or a date), never negative; None if it is invalid."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _is_model_missing(status: int | None, code: str, text: str) -> bool:
    """Return True if the endpoint does not have the model.

    A 404 alone may be about one prompt: OpenRouter sends it if no route of a model takes pictures or tools.
    """
    if any(word in code for word in _MISSING_CODES):
        return True
    lower = text.lower()
    if status in (400, 404, None) and any(sentence in lower for sentence in _MISSING_SENTENCES):
        return True
    return status == 404 and "model" in lower and any(phrase in lower for phrase in _MISSING_PHRASES)


def _is_prompt_too_long(status: int | None, code: str, text: str) -> bool:
    if any(word in code for word in _LENGTH_CODES):
        return True
    return status in (400, 422, None) and any(phrase in text.lower() for phrase in _LENGTH_PHRASES)
