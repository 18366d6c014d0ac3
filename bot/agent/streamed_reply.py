"""A model's reply put together from the chunks of a stream, by every server's habits that we know of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from bot.agent.model import ModelReply, ToolCall, Usage
from memory.characters import well_formed


@dataclass(slots=True)
class _PartialCall:
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""


class StreamedReply:
    """What the chunks so far amount to. Chunks are JSON objects of Chat Completions; nothing in them is trusted."""

    def __init__(self) -> None:
        self._said = ""
        self._calls: list[_PartialCall] = []
        self._usage: Usage | None = None
        self._finish_reason: str | None = None

    def add(self, chunk: Mapping[str, Any]) -> bool:
        """Take one chunk; whether the text has grown."""
        self._usage = _usage_of(chunk) or self._usage
        before = len(self._said)
        choice = _first_mapping(chunk.get("choices"))
        delta = _mapping(choice.get("delta"))
        # A refusal is what the model says in place of an answer.
        self._said += _text_of(delta.get("content")) or _text_of(delta.get("refusal"))
        for part in _mappings(delta.get("tool_calls")):
            self._add_call(part)
        reason = choice.get("finish_reason")
        self._finish_reason = str(reason) if reason else self._finish_reason
        return len(self._said) > before

    @property
    def text(self) -> str:
        """The text so far. Two chunks may hold the halves of one surrogate pair: it is joined here."""
        return well_formed(self._said)

    def is_whole(self) -> bool:
        """Whether the model has ended its reply; without this a stream that ends was cut."""
        return self._finish_reason is not None or self._usage is not None

    def reply(self) -> ModelReply:
        """The reply. Calls have "" for an id that the server did not give; the output parser makes one up."""
        calls = (
            ToolCall(
                id=well_formed(call.id), name=well_formed(call.name), arguments=well_formed(call.arguments)
            )
            for call in self._calls
        )
        return ModelReply(
            text=self.text,
            tool_calls=tuple(calls),
            usage=self._usage or Usage(),
            finish_reason=self._finish_reason,
        )

    def _add_call(self, part: Mapping[str, Any]) -> None:
        function = _mapping(part.get("function"))
        name, arguments = _text_of(function.get("name")), function.get("arguments")
        call = self._call_of(part, name)
        # A name comes once; some servers repeat it whole in every chunk.
        call.name += "" if name == call.name else name
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:  # the object itself, not its text
            call.arguments += json.dumps(arguments)

    def _call_of(self, part: Mapping[str, Any], name: str) -> _PartialCall:
        """The call that a chunk goes on with, or a new one.

        By its index; where that is missing, or where parallel calls all have the same (a Gemini habit), another
        id begins another call.
        """
        index = part.get("index") if isinstance(part.get("index"), int) else None
        call_id = _text_of(part.get("id"))
        call = self._latest_call(index)
        if call is None:
            begins = True
        elif index is None:
            begins = call_id != call.id if call_id else bool(name)
        else:
            begins = bool(call_id and call.id) and call_id != call.id
        if call is None or begins:
            call = _PartialCall(index, call_id)
            self._calls.append(call)
        call.id = call.id or call_id
        return call

    def _latest_call(self, index: int | None) -> _PartialCall | None:
        calls = reversed(self._calls)
        return next((call for call in calls if index is None or call.index == index), None)


def _usage_of(chunk: Mapping[str, Any]) -> Usage | None:
    usage = _mapping(chunk.get("usage"))
    if not usage:
        return None
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text_of(value: object) -> str:
    """A text, or the text parts of a list joined (Mistral sends such content); "" for anything else."""
    if isinstance(value, str):
        return value
    return "".join(_text_of(part.get("text")) for part in _mappings(value))


def _first_mapping(value: object) -> Mapping[str, Any]:
    mappings = _mappings(value)
    return mappings[0] if mappings else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [_mapping(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
