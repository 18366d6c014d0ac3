"""Streamed replies of Chat Completions, put together from server-sent events of all servers that we know (pure)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from bot.agent.loose_json import read_calls
from bot.agent.model import ModelReply, ToolCall, Usage
from bot.agent.openai_failures import Refusal
from bot.agent.refusals import is_filter_reason
from bot.agent.thoughts import AnswerText
from memory.characters import well_formed
from memory.codec import parse_object

EVENT_BYTES = 4 * 2**20
"""Largest event of a stream. Some servers send a whole answer in one: 128,000 tokens are half a megabyte."""
ARGUMENT_CHARACTERS = 256 * 1024
"""The most that the arguments of one reply may have together."""
CALLS = 128
"""The most calls of one reply; endpoints accept as many tools."""
OPAQUE_BYTES = 64 * 1024
"""The most that the opaque fields of one reply may have."""

_LENGTH = frozenset(
    ["length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"]
)
"""Reasons for an answer that reached a limit: OpenAI, Gemini and Anthropic, OpenAI's Responses, Mistral, Anthropic."""
_BROKEN = frozenset(
    [
        *("error", "abort", "aborted", "cancelled", "canceled", "interrupted", "timeout", "network_error"),
        *("insufficient_system_resource", "malformed_function_call", "malformed_response", "model_error"),
        *("engine_error", "engine_overloaded", "upstream_error", "internal_error", "server_error", "failed"),
        *("unexpected_tool_call", "missing_thought_signature"),
    ]
)
"""Reasons for a reply that broke off: OpenRouter, vLLM and SGLang, DeepSeek, Zhipu, Gemini, and gateways."""

_WHOLE_LINE = re.compile(rb"\{.*\}\s*\Z|\[DONE\]", re.DOTALL)

_ERROR_FIELDS = ("detail", "errors", "message", "error_message", "msg")
"""Fields of a chunk without choices that make it an error."""

_KNOWN_FIELDS = frozenset(["role", "content", "tool_calls", "function_call", "refusal", "name"])
_KNOWN_CALL_FIELDS = frozenset(["id", "type", "index", "function"])
_GROWING = frozenset(
    ["reasoning_content", "reasoning", "reasoning_text", "thinking", "text", "summary", "data"]
)
"""Opaque texts that come in pieces. Others come whole, or again with each chunk."""

_JSON_STARTS = ("{", "[{", "```json\n{", "```\n{")


class EventStream:
    """Splits a stream of server-sent events. Only the data of the events is read."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._is_new = True
        # True if the body is no stream, but one object.
        self.is_json = False

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of the events that are complete now. Raises ValueError for one over EVENT_BYTES.

        A body that begins like JSON is one event: some servers ignore that a stream was asked for.
        """
        if self._is_new:
            received = received.removeprefix(b"\xef\xbb\xbf").lstrip()
            self._is_new = not received
            self.is_json = received.startswith((b"{", b"[{"))
        if self.is_json:
            self._data.append(received)
            self._data_bytes += len(received)
            if self._data_bytes > EVENT_BYTES:
                raise ValueError("the response is too large")
            return []
        lines = (self._rest + received).splitlines(keepends=True)
        # A return may be the first half of a line break.
        self._rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
        complete: list[bytes] = []
        for line in lines:
            text = line.rstrip(b"\r\n")
            if text.startswith(b"data:"):
                self._data.append(text[5:].removeprefix(b" "))
                self._data_bytes += len(line)
            elif not text:
                if self._data:
                    complete += self._take()
            elif text.startswith((b"{", b"error:")):  # without its field (ggml-org/llama.cpp#16109)
                self._data.append(b'{"error": %s}' % text[6:] if text.startswith(b"e") else text)
        if self._data_bytes + len(self._rest) > EVENT_BYTES:
            raise ValueError("an event is too large")
        return complete

    def end(self) -> list[bytes]:
        """Return the data of a last event without the empty line behind it, and of a body of JSON."""
        last = self._rest.rstrip(b"\r\n")
        self._rest = b""
        if last.startswith(b"data:"):
            self._data.append(last[5:].removeprefix(b" "))
        return self._take()

    def _take(self) -> list[bytes]:
        """Return the event that ends here, or several if only line breaks are between them."""
        lines = [line for line in self._data if line.strip()]
        self._data.clear()
        self._data_bytes = 0
        if self.is_json:
            return [b"".join(lines).partition(b"\ndata:")[0]]
        if len(lines) > 1 and all(map(_WHOLE_LINE.match, lines)):
            return lines
        return [b"\n".join(lines)] if lines else []


@dataclass(slots=True)
class _PartialCall:
    index: int | None
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True, kw_only=True)
class StreamedReply:
    """A reply put together from chunks. The chunks are JSON objects; nothing in them is trusted."""

    # The most characters of text.
    longest_text: int = 1_000_000
    text: AnswerText = field(default_factory=AnswerText)
    # The tools that may be called in the text.
    offered: frozenset[str] = frozenset()
    # Characters received, thoughts included.
    characters: int = 0
    # True if nothing more of the stream counts, because the reply has reached one of our limits.
    is_full: bool = False
    # The first half of a surrogate pair that two chunks divide.
    _half: str = ""
    _calls: list[_PartialCall] = field(default_factory=list[_PartialCall])
    _argument_characters: int = 0
    _opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    _opaque_bytes: int = 0
    _usage: Usage | None = None
    _finish_reason: str | None = None
    _is_done: bool = False

    def add(self, chunk: Mapping[str, Any]) -> bool:
        """Add one chunk. Return True if the text may have grown."""
        if usage := _mapping(chunk.get("usage")):
            prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self._usage = Usage(prompt_tokens=_count(prompt), completion_tokens=_count(completion))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return False
        choice = _mapping(cast("list[object]", choices)[0])
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and reason != "null":
            self._finish_reason = reason
        delta = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        if parts := delta.get("tool_calls"):
            for part in _mappings([alone] if (alone := _mapping(parts)) else parts):
                self._add_call(part)
        if only_call := delta.get("function_call"):
            self._add_call({"function": only_call})
        if not _KNOWN_FIELDS.issuperset(delta):
            unknown = {name: value for name, value in delta.items() if name not in _KNOWN_FIELDS}
            self._add_opaque(self._opaque, unknown)
        content = delta.get("content", "")
        text = content if isinstance(content, str) else _text_of(content)
        if not text and (refusal := delta.get("refusal")):  # a model's answer in another field
            text = _text_of(refusal)
        return self._add_text(text) if text else False

    def shown(self) -> str:
        """Return the text so far, "" while it may still be a call that is written as text."""
        text = self.text.text()
        return "" if self.offered and text.lstrip().startswith(_JSON_STARTS) else text

    def end(self, *, is_done: bool) -> None:
        """Note the end of the stream; `is_done` if it ended with [DONE]."""
        self._is_done = is_done
        self.text.add(well_formed(self._half))
        self.text.finish()

    def reply(self) -> ModelReply | None:
        """Return the reply, or None if the stream was cut off before the model ended it.

        A finish reason or [DONE] ends a reply, and so does one of our limits. A call without an id has "";
        `parse_reply` gives it one. A model without calls may have written them as text.
        """
        reason = _common_word(self._finish_reason)
        if not (self.is_full or self._is_done or reason) or reason in _BROKEN:
            return None
        text, calls = self.text.text(), tuple(map(_whole_call, self._calls))
        if not calls and self.offered:
            text, calls = self._written_calls(text)
        return ModelReply(
            text=text,
            tool_calls=calls,
            usage=self._usage or Usage(),
            finish_reason="length" if self.is_full else reason,
            opaque=json.dumps(self._opaque) if self._opaque else "",
        )

    def _written_calls(self, text: str) -> tuple[str, tuple[ToolCall, ...]]:
        """Return the text without the calls in it, and the calls of tools that were offered."""
        written = self.text.calls()
        is_bare = not written and text.lstrip().startswith(_JSON_STARTS)
        found = [call for part in ([text] if is_bare else written) for call in read_calls(part)]
        calls = [
            ToolCall(id="", name=name, arguments=arguments)
            for name, arguments in found
            if name in self.offered
        ]
        return "" if is_bare and calls else text, tuple(calls)

    def _add_text(self, text: str) -> bool:
        text = text[: self.longest_text - self.characters]
        self.characters += len(text)
        self.is_full = self.is_full or self.characters >= self.longest_text
        if not text.isascii() or self._half:
            text = self._half + text
            self._half = ""
            if "\ud800" <= text[-1] <= "\udbff":
                text, self._half = text[:-1], text[-1]
            text = well_formed(text)
        self.text.add(text)
        return True

    def _add_call(self, part: Mapping[str, Any]) -> None:
        function = _mapping(part.get("function"))
        name, arguments = _text_of(function.get("name")), function.get("arguments")
        call = self._call_of(part, name)
        if call is None:
            self.is_full = True
            return
        # A name comes once; some servers repeat it in every chunk, or send a null as text (BerriAI/litellm#12513).
        call.name += "" if name in (call.name, "null") else name
        if arguments is not None and not isinstance(arguments, str):  # the object itself, not its text
            arguments = json.dumps(arguments)
        if arguments and not (
            arguments[-1] == "}" and arguments == "".join(call.arguments)
        ):  # the whole again
            room = ARGUMENT_CHARACTERS - self._argument_characters
            call.arguments.append(arguments[:room])
            self._argument_characters += len(arguments)
            self.is_full = self.is_full or len(arguments) > room
        unknown = {field: value for field, value in part.items() if field not in _KNOWN_CALL_FIELDS}
        if unknown:
            self._add_opaque(call.opaque, unknown)

    def _call_of(self, part: Mapping[str, Any], name: str) -> _PartialCall | None:
        """Return the call that a chunk continues, or a new one; None beyond CALLS.

        A new index begins a new call, and so does a new id with a name, or a name behind whole arguments. Gemini gives
        all parallel calls the same index, and some servers give each piece a new id (cubist38/mlx-openai-server#216).
        """
        index = part.get("index") if isinstance(part.get("index"), int) else None
        call_id = _text_of(part.get("id"))
        call = self._latest_call(index)
        if call is None:
            is_new = True
        elif call_id and call.id:
            is_new = call_id != call.id and bool(name)
        else:
            is_new = bool(name) and (index is None or _is_object("".join(call.arguments)))
        if call is None or is_new:
            if len(self._calls) == CALLS:
                return None
            call = _PartialCall(index, call_id)
            self._calls.append(call)
        call.id = call.id or call_id
        return call

    def _latest_call(self, index: int | None) -> _PartialCall | None:
        calls = reversed(self._calls)
        return next((call for call in calls if index is None or call.index == index), None)

    def _add_opaque(self, fields: dict[str, Any], added: Mapping[str, Any]) -> None:
        """Merge a chunk's unknown fields, as far as there is room: later ones are dropped, texts are cut."""
        size = len(json.dumps(added))
        if self._opaque_bytes + size <= OPAQUE_BYTES:
            self._opaque_bytes += size
            _merge(fields, added)


def _whole_call(call: _PartialCall) -> ToolCall:
    return ToolCall(
        id=well_formed(call.id),
        name=well_formed(call.name),
        arguments=well_formed("".join(call.arguments)),
        opaque=json.dumps(call.opaque) if call.opaque else "",
    )


def _is_object(text: str) -> bool:
    return text.endswith("}") and parse_object(text) is not None


def _merge(fields: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Merge the fields of a chunk into those of the chunks before it.

    Texts that grow are joined, lists by the `index` of their items, objects by their names. All else is taken as it
    is. A null changes nothing.
    """
    for name, value in added.items():
        before = fields.get(name)
        if value is None:
            continue
        if isinstance(value, str) and isinstance(before, str) and name in _GROWING:
            fields[name] = before + value
        elif isinstance(value, dict) and isinstance(before, dict):
            _merge(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        elif isinstance(value, list) and isinstance(before, list):
            _merge_items(cast("list[Any]", before), cast("list[Any]", value))
        elif value != "" or before is None:
            fields[name] = value


def _merge_items(items: list[Any], added: list[Any]) -> None:
    for item in added:
        last = _mapping(items[-1] if items else None)
        is_same = last.get("index") is not None and last.get("index") == _mapping(item).get("index")
        if is_same and last.get("type") == _mapping(item).get("type"):
            _merge(items[-1], item)
        else:
            items.append(item)


def _common_word(reason: str | None) -> str | None:
    """Return the reason in OpenAI's word for a limit and for a filter, in lower case for a broken reply."""
    lower = (reason or "").lower()
    if lower in _LENGTH:
        return "length"
    if is_filter_reason(reason):
        return "content_filter"
    return lower if lower in _BROKEN else reason


def error_in(chunk: Mapping[str, Any]) -> Refusal | None:
    """Return the error that a chunk is, in all forms of servers that we know, or None.

    OpenAI: `error` as an object; Ollama: as a text; SGLang and vLLM: `object` is "error"; Anthropic: `type` is "error";
    FastAPI: `detail`; MiniMax: `base_resp` with a code.
    """
    error = chunk.get("error")
    if not error and chunk.get("choices"):
        return None
    said = error or next((chunk[name] for name in _ERROR_FIELDS if chunk.get(name)), None)
    if not error and (base := _mapping(chunk.get("base_resp"))).get("status_code"):
        said = base
    is_error = said is not None or chunk.get("object") == "error" or chunk.get("type") == "error"
    if not is_error:
        return None
    fields = _mapping(said) or chunk
    codes = [fields.get("code"), fields.get("type"), fields.get("status"), fields.get("status_code")]
    message = said if isinstance(said, str) else fields.get("message") or fields.get("status_msg")
    return Refusal(
        status=None,
        code=" ".join(str(code) for code in codes if code),
        message=message if isinstance(message, str) else "",
        body=json.dumps(chunk, ensure_ascii=False),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text_of(value: object) -> str:
    """Return a text, or the joined text parts of a list (as Mistral sends it); "" for anything else.

    A part that is a thought has another type, and its text in another field.
    """
    if isinstance(value, str):
        return value
    if not value:
        return ""
    return "".join(_text_of(part.get("text")) for part in _mappings(value))


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return list(map(_mapping, cast("list[object]", value))) if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
