"""Request bodies of Chat Completions, also for endpoints that lack an ability (pure)."""

import json
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast

from bot.agent.abilities import Ability
from bot.agent.model import Image, JsonSchema, PromptMessage, ToolCall, ToolSpec
from memory.characters import well_formed

_GO_ON = "(The conversation goes on.)"
"""Stands between two messages that a chat template does not accept in a row."""


def request_body(
    model: str,
    messages: Sequence[PromptMessage],
    tools: Sequence[ToolSpec],
    *,
    lacking: Collection[Ability] = (),
    schema: JsonSchema | None = None,
) -> dict[str, object]:
    """Return the body of a request that does without the abilities that are lacking."""
    if lacking:
        messages = _adapted(messages, lacking)
    body: dict[str, object] = {
        "model": model,
        "messages": [_message_body(message, to=model) for message in messages],
    }
    if "stream" not in lacking:
        body["stream"] = True
        if "stream_options" not in lacking:
            body["stream_options"] = {"include_usage": True}
    if tools and "tools" not in lacking:  # endpoints refuse an empty list
        body["tools"] = list(map(_tool_body, tools))
    if schema is not None:
        body |= _json_form(schema, lacking)
    return body


def used_abilities(
    messages: Sequence[PromptMessage], body: Mapping[str, object], *, to: str
) -> frozenset[Ability]:
    """Return the abilities that a request with this body needs."""
    calls = [message.tool_calls for message in messages if message.tool_calls]
    form = cast("dict[str, object]", body.get("response_format") or {}).get("type")
    uses: dict[Ability, bool] = {
        "tools": "tools" in body or bool(calls),
        "parallel_calls": any(len(each) > 1 for each in calls),
        "bare_calls": bool(calls),
        "stream": "stream" in body,
        "stream_options": "stream_options" in body,
        "system": any(message.role == "system" for message in messages),
        "turns": True,  # also one that begins with the assistant
        "images": any(message.images for message in messages),
        "json_schema": form == "json_schema",
        "json_object": form == "json_object",
        "opaque": bool(opaque_names(messages, to=to)),
    }
    return frozenset(ability for ability, is_used in uses.items() if is_used)


def opaque_names(messages: Iterable[PromptMessage], *, to: str) -> frozenset[str]:
    """Return the names of the endpoint's own fields that a request sends back."""
    return frozenset(name for message in messages for name in _opaque_fields(message, to=to))


def _json_form(schema: JsonSchema, lacking: Collection[Ability]) -> Mapping[str, object]:
    """Return the strictest way to ask for JSON. The prompt asks for it too, for an endpoint that has none."""
    if "json_schema" not in lacking:
        strict = {"name": schema.name, "strict": True, "schema": dict(schema.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": strict}}
    return {} if "json_object" in lacking else {"response_format": {"type": "json_object"}}


def _tool_body(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _adapted(messages: Sequence[PromptMessage], lacking: Collection[Ability]) -> Sequence[PromptMessage]:
    """Return the messages in a form that needs none of these abilities."""
    adapted: list[PromptMessage] = list(messages)
    if "images" in lacking:
        adapted = [_without_images(message) if message.images else message for message in adapted]
    if "opaque" in lacking:
        adapted = [_without_opaque(message) for message in adapted]
    if "tools" in lacking:
        adapted = list(map(_without_calls, adapted))
    elif "parallel_calls" in lacking:
        adapted = list(_with_single_calls(adapted))
    if "bare_calls" in lacking:
        adapted = list(map(_with_dressed_calls, adapted))
    if "system" in lacking:
        adapted = [
            replace(message, role="user") if message.role == "system" else message for message in adapted
        ]
    if "turns" in lacking or "system" in lacking:
        adapted = list(_alternating(adapted))
    return adapted


def _without_images(message: PromptMessage) -> PromptMessage:
    count = len(message.images)
    what = "The picture of this message" if count == 1 else f"The {count} pictures of this message"
    return replace(message, text=f"{message.text}\n[{what} could not be shown to you: say so.]", images=())


def _without_opaque(message: PromptMessage) -> PromptMessage:
    calls = tuple(replace(call, opaque="") for call in message.tool_calls)
    return replace(message, opaque="", tool_calls=calls)


def _without_calls(message: PromptMessage) -> PromptMessage:
    """Return a call or a result as plain text."""
    if message.role == "tool":
        return PromptMessage(role="user", text=f"[Result of a tool:]\n{message.text}")
    if not message.tool_calls:
        return message
    calls = (f"[Called {call.name} with {call.arguments}]" for call in message.tool_calls)
    return replace(message, text="\n".join(filter(None, [message.text, *calls])), tool_calls=(), opaque="")


def _with_dressed_calls(message: PromptMessage) -> PromptMessage:
    """Return a call with a text beside it, and calls and results with ids of nine letters and digits."""
    calls = tuple(replace(call, id=_short_id(call.id)) for call in message.tool_calls)
    answered = _short_id(message.tool_call_id) if message.tool_call_id else None
    return replace(message, text=message.text or "…", tool_calls=calls, tool_call_id=answered)


def _short_id(call_id: str) -> str:
    return sha256(call_id.encode()).hexdigest()[:9]


def _with_single_calls(messages: Sequence[PromptMessage]) -> Iterator[PromptMessage]:
    """Yield each call in a message of its own, followed by its result."""
    results = {message.tool_call_id: message for message in messages if message.role == "tool"}
    split: set[str] = set()
    for message in messages:
        if len(message.tool_calls) > 1:
            for number, call in enumerate(message.tool_calls):
                split.add(call.id)
                yield replace(message, tool_calls=(call,), text="" if number else message.text)
                if call.id in results:
                    yield results[call.id]
        elif message.role != "tool" or message.tool_call_id not in split:
            yield message


def _alternating(messages: Sequence[PromptMessage]) -> Iterator[PromptMessage]:
    """Yield the messages so that users and the assistant take turns, beginning with a user.

    Neighbours of one role are joined. A call and its results are one turn of the assistant, which ends with text.
    """
    before: PromptMessage | None = None
    for message in messages:
        if before is not None and before.role == message.role and _is_plain(before) and _is_plain(message):
            before = replace(
                before, text=f"{before.text}\n\n{message.text}", images=(*before.images, *message.images)
            )
            continue
        if before is not None:
            yield before
        if message.role == "assistant" and (before is None or before.role == "system"):
            yield PromptMessage(role="user", text=_GO_ON)
        if message.role == "user" and before is not None and before.role == "tool":
            yield PromptMessage(role="assistant", text=_GO_ON)
        before = message
    if before is not None:
        yield before


def _is_plain(message: PromptMessage) -> bool:
    return message.role in ("system", "user", "assistant") and not message.tool_calls


def _opaque_fields(message: PromptMessage, *, to: str) -> dict[str, Any]:
    """Return the opaque fields of a message and of its calls by name; {} for another model."""
    if not message.tool_calls or message.model != to:
        return {}
    texts = [message.opaque, *(call.opaque for call in message.tool_calls)]
    return {name: value for text in texts for name, value in _parse(text).items()}


def _message_body(message: PromptMessage, *, to: str) -> dict[str, object]:
    """Return one message. With pictures its content is a list: its text, then them."""
    text = well_formed(message.text)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
    if message.images:
        parts = [{"type": "text", "text": text}, *map(_image_part, message.images)]
        return {"role": message.role, "content": parts}
    if not message.tool_calls:
        return {"role": message.role, "content": text}
    is_own = message.model == to
    calls = [_call_body(call, with_opaque=is_own) for call in message.tool_calls]
    opaque = _parse(message.opaque) if is_own else {}
    return {**opaque, "role": message.role, "content": text or None, "tool_calls": calls}


def _call_body(call: ToolCall, *, with_opaque: bool) -> dict[str, object]:
    opaque = _parse(call.opaque) if with_opaque else {}
    inner: dict[str, Any] = opaque.pop("function", {})
    function = {**inner, "name": call.name, "arguments": well_formed(call.arguments)}
    return {**opaque, "id": call.id, "type": "function", "function": function}


def _parse(opaque: str) -> dict[str, Any]:
    return json.loads(opaque) if opaque else {}


def _image_part(image: Image) -> dict[str, object]:
    url = f"data:{image.mime_type};base64,{b64encode(image.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}
