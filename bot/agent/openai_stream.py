"""Streamed replies of Chat Completions, put together from server-sent events of all servers that we know (pure)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from bot.agent.loose_json import read_calls
from bot.agent.model import ModelReply, ToolCall, Usage
from bot.agent.openai_failures import Refusal, is_filter_reason
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

_LENGTH = re.compile(r"length|max_?(?:output_)?tokens?|token_?limit|context_window|incomplete")
"""In reasons for an answer that reached a limit: OpenAI, Gemini, Anthropic, Mistral, and gateways."""
_BROKEN = re.compile(
    r"error|abort|cancel|interrupt|time_?out|overload|fail|terminat|malformed|network|insufficient|rate_limit"
    r"|unexpected_tool|missing_thought|^other$|unspecified"
)
"""In reasons for a reply that broke off: OpenRouter, vLLM and SGLang, DeepSeek, Zhipu, Gemini, and gateways."""

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
            else:
                self._take_bare(text)
        if self._data_bytes + len(self._rest) > EVENT_BYTES:
            raise ValueError("an event is too large")
        return complete

    def end(self) -> list[bytes]:
        """Return the data of a last event without the empty line behind it, and of a body of JSON."""
        last = self._rest.rstrip(b"\r\n")
        self._rest = b""
        if last.startswith(b"data:"):
            self._data.append(last[5:].removeprefix(b" "))
        else:
            self._take_bare(last)
        return self._take()

    def _take_bare(self, text: bytes) -> None:
        """Take an error that came without `data:` (ggml-org/llama.cpp#16109)."""
        if text.startswith((b"{", b"error:")):
            self._data.append(b'{"error": %s}' % text[6:] if text.startswith(b"e") else text)

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
    # True if the stream ended with [DONE].
    is_done: bool = False
    # True if nothing more of the stream counts, because the reply has reached one of our limits.
    is_full: bool = False
    # The first half of a surrogate pair that two chunks divide.
    _half: str = ""
    _calls: list[_PartialCall] = field(default_factory=list[_PartialCall])
    _argument_characters: int = 0
    _opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    _room: "_Room" = field(default_factory=lambda: _Room())
    _usage: Usage | None = None
    _finish_reason: str | None = None
    # True if more came behind a finish reason: some gateways have one in each chunk (QuantumNous/new-api#378).
    _goes_on: bool = False

    def add(self, chunk: Mapping[str, Any]) -> bool:
        """Add one chunk. Return True if the text may have grown."""
        if usage := _mapping(chunk.get("usage")):
            prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self._usage = Usage(prompt_tokens=_count(prompt), completion_tokens=_count(completion))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return False
        choice = _mapping(cast("list[object]", choices)[0])
        delta = _mapping(choice["delta"] if "delta" in choice else choice.get("message"))
        self._goes_on |= bool(self._finish_reason) and any(delta[name] for name in delta if name != "role")
        reason = choice.get("finish_reason") or choice.get("finishReason")  # Gemini (jakobdylanc/llmcord#84)
        if isinstance(reason, str) and reason and reason != "null":
            self._finish_reason = reason
        if parts := delta.get("tool_calls"):
            for part in _mappings([alone] if (alone := _mapping(parts)) else parts):
                self._add_call(part)
        if only_call := delta.get("function_call"):
            self._add_call({"function": only_call})
        if not _KNOWN_FIELDS.issuperset(delta):
            unknown = {name: value for name, value in delta.items() if name not in _KNOWN_FIELDS}
            self._add_opaque(self._opaque, unknown)
        content = delta.get("content", "")
        if "extra_content" in delta and _is_thought(delta["extra_content"]):
            content = ""
        text = content if isinstance(content, str) else _text_of(content)
        if not text and (refusal := delta.get("refusal")):  # a model's answer in another field
            text = _text_of(refusal)
        return self._add_text(text) if text else False

    def shown(self) -> str:
        """Return the text so far, "" while it may still be a call that is written as text."""
        text = self.text.text()
        return "" if self.offered and text.lstrip().startswith(_JSON_STARTS) else text

    @property
    def has_ended(self) -> bool:
        """True if the model has ended the reply. Only its usage may follow."""
        reason = self._finish_reason
        return reason is not None and not self._goes_on and not _BROKEN.search(reason.lower())

    def end(self) -> None:
        """Decide about the rest of the text: the stream has ended."""
        self.text.add(well_formed(self._half))
        self.text.finish()

    def reply(self) -> ModelReply | None:
        """Return the reply, or None if the stream was cut off before the model ended it.

        A finish reason or [DONE] ends a reply, and so does one of our limits. A call without an id has "";
        `parse_reply` gives it one. A model without calls may have written them as text.
        """
        reason = _common_word(self._finish_reason)
        if not (self.is_full or self.is_done or reason) or (reason and _BROKEN.search(reason)):
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
        if name not in ("", call.name) and not (call.name and name == "null"):
            call.name = name if call.name == "null" else call.name + name
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
        if inner := {field: value for field, value in function.items() if field not in ("name", "arguments")}:
            unknown["function"] = inner
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
        if call is None and not name:  # a rest with another index than its beginning (agno-agi/agno#8880)
            call = next((each for each in reversed(self._calls) if call_id in ("", each.id)), None)
        arguments = "".join(call.arguments) if call and name else ""
        if call is None:
            is_new = True
        elif call_id and call.id:
            goes_on = name == call.name and arguments and not _is_object(arguments)
            is_new = call_id != call.id and bool(name) and not goes_on
        else:
            is_new = bool(name) and (index is None or _is_object(arguments))
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
        """Merge a chunk's unknown fields as far as there is room. Texts that grow leave half of it to signatures."""
        for name, value in added.items():
            _merge(fields, name, value, self._room)


@dataclass(slots=True)
class _Room:
    """The room for opaque fields, in characters of what is kept."""

    all: int = OPAQUE_BYTES
    texts: int = OPAQUE_BYTES // 2

    def take_text(self, text: str) -> str:
        """Return as much of a growing text as there is room for."""
        text = text[: max(0, min(self.texts, self.all))]
        self.texts -= len(text)
        self.all -= len(text)
        return text

    def take(self, value: object) -> bool:
        """Return True if there is room for a whole value."""
        size = len(json.dumps(value))
        if size > self.all:
            return False
        self.all -= size
        return True


def _whole_call(call: _PartialCall) -> ToolCall:
    return ToolCall(
        id=well_formed(call.id),
        name=well_formed(call.name),
        arguments=well_formed("".join(call.arguments)),
        opaque=json.dumps(call.opaque) if call.opaque else "",
    )


def _is_object(text: str) -> bool:
    return text.endswith("}") and parse_object(text) is not None


def _merge(fields: dict[str, Any], name: str, value: Any, room: _Room) -> None:
    """Merge a field of a chunk into those of the chunks before it.

    Texts that grow are joined, lists by the `index` of their items, objects by their names. All else is taken as it
    is. A null changes nothing.
    """
    before = fields.get(name)
    if isinstance(value, str) and name in _GROWING:
        fields[name] = (before if isinstance(before, str) else "") + room.take_text(value)
    elif isinstance(value, dict):
        inner = fields[name] = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
        for key, each in cast("dict[str, Any]", value).items():
            _merge(inner, key, each, room)
    elif isinstance(value, list):
        items = fields[name] = cast("list[Any]", before) if isinstance(before, list) else []
        for item in cast("list[Any]", value):
            _merge_item(items, item, room)
    elif value is not None and (before is None or value not in ("", before)) and room.take(value):
        fields[name] = value


def _merge_item(items: list[Any], item: object, room: _Room) -> None:
    """Add an item of a list, or go on with the last one. LiteLLM's blocks have no index, and end with a signature."""
    last, new = _mapping(items[-1] if items else None), _mapping(item)
    if not new:
        if room.take(item):
            items.append(item)
        return
    is_same = (last.get("index"), last.get("type")) == (new.get("index"), new.get("type"))
    if not last or not is_same or (last.get("index") is None and "signature" in last):
        items.append({})
    for name, value in new.items():
        _merge(items[-1], name, value, room)


def _common_word(reason: str | None) -> str | None:
    """Return the reason in OpenAI's word for a limit and for a filter, else in lower case."""
    lower = (reason or "").lower()
    if _LENGTH.search(lower):
        return "length"
    return "content_filter" if is_filter_reason(reason) else lower or None


def _is_thought(extra: object) -> bool:
    """Return True for Gemini's mark of a piece that is a thought."""
    return _mapping(_mapping(extra).get("google")).get("thought") is True


def error_in(chunk: Mapping[str, Any]) -> Refusal | None:
    """Return the error that a chunk is, in all forms of servers that we know, or None.

    OpenAI: `error` as an object; Ollama: as a text; SGLang and vLLM: `object` is "error"; Anthropic: `type` is "error";
    FastAPI: `detail`; MiniMax: `base_resp` with a code.
    """
    error = chunk.get("error")
    if not error and chunk.get("choices"):
        return None
    names = () if "choices" in chunk else _ERROR_FIELDS  # Spark says "Success" beside its choices
    said = error or next((chunk[name] for name in names if chunk.get(name)), None)
    if not error and (base := _mapping(chunk.get("base_resp"))).get("status_code"):
        said = base
    if said is None and "error" not in (chunk.get("object"), chunk.get("type")):
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
    parts = (part for part in _mappings(value) if part.get("type") in (None, "text", "output_text"))
    return "".join(_text_of(part.get("text")) for part in parts)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return list(map(_mapping, cast("list[object]", value))) if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
