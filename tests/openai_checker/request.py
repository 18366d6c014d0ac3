"""Faults of a Chat Completions request: the first one, as OpenAI reports it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, cast

from tests.openai_checker import RequestFault, wrong_type
from tests.openai_checker.images import image_faults
from tests.openai_checker.schema import schema_faults

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NAME = re.compile(r"[^\s<|\\/>]{1,64}")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_TOOLS = 128
_MAX_CALL_ID = 40
_PARTS = {
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
}


def read_body(raw: bytes) -> dict[str, Any] | RequestFault:
    """Return the JSON object of a request's bytes, or the fault."""
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        return RequestFault(message="We could not parse the JSON body of your request.")
    if not isinstance(body, dict):
        return RequestFault(message="The body of your request must be a JSON object.")
    return cast("dict[str, Any]", body)


def find_fault(body: Mapping[str, Any]) -> RequestFault | None:
    """Return the first fault of a Chat Completions request, or None for a valid one."""
    return next(_faults(body), None)


def _faults(body: Mapping[str, Any]) -> Iterator[RequestFault]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield RequestFault(message="you must provide a model parameter")
    messages = body.get("messages")
    if messages is None:
        yield RequestFault(
            message="Missing required parameter: 'messages'.",
            param="messages",
            code="missing_required_parameter",
        )
    elif not isinstance(messages, list):
        yield wrong_type("messages", "an array of objects", messages)
    elif not messages:
        yield _empty_array("messages")
    else:
        yield from _messages_faults(cast("list[Any]", messages))
    yield from _tools_faults(body.get("tools"))
    yield from _option_faults(body)
    yield from _format_faults(body.get("response_format"), body.get("messages"))


def _messages_faults(messages: Sequence[Any]) -> Iterator[RequestFault]:
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            yield wrong_type(f"messages[{index}]", "an object", message)
            return
        yield from _message_faults(f"messages[{index}]", cast("dict[str, Any]", message))
    yield from _pairing_faults(messages)


def _message_faults(at: str, message: Mapping[str, Any]) -> Iterator[RequestFault]:
    role, name = message.get("role"), message.get("name")
    if role not in _ROLES:
        known = ", ".join(f"'{each}'" for each in _ROLES)
        yield RequestFault(
            message=f"Invalid value: {role!r}. Supported values are: {known}.",
            param=f"{at}.role",
            code="invalid_value",
        )
        return
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        yield _not_matching(f"{at}.name", r"^[^\s<|\\/>]+$")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield RequestFault(
            message=f"Missing required parameter: '{at}.tool_call_id'.",
            param=f"{at}.tool_call_id",
            code="missing_required_parameter",
        )
    if "tool_calls" in message:
        yield from _calls_faults(f"{at}.tool_calls", role, message["tool_calls"])
    if not (role == "assistant" and message.get("content") is None and message.get("tool_calls")):
        yield from _content_faults(f"{at}.content", str(role), message.get("content"))


def _content_faults(at: str, role: str, content: object) -> Iterator[RequestFault]:
    if content is None:
        yield RequestFault(message="Invalid value for 'content': expected a string, got null.", param=at)
    elif isinstance(content, list):
        parts = cast("list[Any]", content)
        if not parts:
            yield _empty_array(at)
        for index, part in enumerate(parts):
            yield from _part_faults(f"{at}[{index}]", role, part)
    elif not isinstance(content, str):
        yield wrong_type(at, "one of a string or array of objects", content)


def _part_faults(at: str, role: str, part: object) -> Iterator[RequestFault]:
    if not isinstance(part, dict):
        yield wrong_type(at, "an object", part)
        return
    fields = cast("dict[str, Any]", part)
    known = _PARTS.get(role, frozenset({"text"}))
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in known:
        supported = ", ".join(f"'{each}'" for each in sorted(known))
        yield RequestFault(
            message=f"Invalid value: {kind!r}. Supported values are: {supported}.",
            param=f"{at}.type",
            code="invalid_value",
        )
    elif kind == "text" and not isinstance(fields.get("text"), str):
        yield wrong_type(f"{at}.text", "a string", fields.get("text"))
    elif kind == "image_url":
        yield from image_faults(at, fields.get("image_url"))


def _calls_faults(at: str, role: object, calls: object) -> Iterator[RequestFault]:
    if role != "assistant":
        yield RequestFault(message=f"Unknown parameter: '{at}'.", param=at, code="unknown_parameter")
    elif not isinstance(calls, list):
        yield wrong_type(at, "an array of objects", calls)
    elif not calls:
        yield _empty_array(at)
    else:
        for index, call in enumerate(cast("list[Any]", calls)):
            yield from _call_faults(f"{at}[{index}]", call)


def _call_faults(at: str, call: object) -> Iterator[RequestFault]:
    fields = cast("dict[str, Any]", call) if isinstance(call, dict) else {}
    function = fields.get("function")
    named = cast("dict[str, Any]", function) if isinstance(function, dict) else {}
    call_id = fields.get("id")
    if not isinstance(call_id, str) or not call_id:
        yield wrong_type(f"{at}.id", "a string", call_id)
    elif len(call_id) > _MAX_CALL_ID:
        yield RequestFault(
            message=f"Invalid '{at}.id': string too long. Expected a string with maximum length {_MAX_CALL_ID},"
            f" but got a string with length {len(call_id)} instead.",
            param=f"{at}.id",
            code="string_above_max_length",
        )
    if fields.get("type") != "function":
        yield wrong_type(f"{at}.type", "'function'", fields.get("type"))
    name = named.get("name")
    if not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
        yield _not_matching(f"{at}.function.name", "^[a-zA-Z0-9_-]{1,64}$")
    if not isinstance(named.get("arguments"), str):
        yield wrong_type(f"{at}.function.arguments", "a string", named.get("arguments"))


def _pairing_faults(messages: Sequence[Mapping[str, Any]]) -> Iterator[RequestFault]:
    """Yield faults of pairing: each call needs exactly one tool message before any other message."""
    open_ids: list[str] = []
    asked_at = 0
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                yield _unasked(index)
                return
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            break
        elif message.get("tool_calls"):
            open_ids, asked_at = [call["id"] for call in message["tool_calls"]], index
            if len(set(open_ids)) != len(open_ids):
                param = f"messages.[{index}].tool_calls"
                yield RequestFault(message="Duplicate value for 'tool_call_id'.", param=param)
                return
    if open_ids:
        yield RequestFault(
            message="An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            f" 'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}",
            param=f"messages.[{asked_at}].role",
        )


def _unasked(index: int) -> RequestFault:
    # "preceeding" is OpenAI's own spelling.
    return RequestFault(
        message="Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
        " 'tool_calls'.",
        param=f"messages.[{index}].role",
    )


def _tools_faults(tools: object) -> Iterator[RequestFault]:
    if tools is None:
        return
    if not isinstance(tools, list):
        yield wrong_type("tools", "an array of objects", tools)
        return
    offered = cast("list[Any]", tools)
    if not offered:
        yield _empty_array("tools")
    if len(offered) > _MAX_TOOLS:
        yield RequestFault(
            message=f"Invalid 'tools': array too long. Expected an array with maximum length {_MAX_TOOLS},"
            f" but got an array with length {len(offered)} instead.",
            param="tools",
            code="array_above_max_length",
        )
    for index, tool in enumerate(offered):
        yield from _tool_faults(f"tools[{index}]", tool)


def _tool_faults(at: str, tool: object) -> Iterator[RequestFault]:
    fields = cast("dict[str, Any]", tool) if isinstance(tool, dict) else {}
    function: object = fields.get("function")
    if fields.get("type") != "function" or not isinstance(function, dict):
        yield wrong_type(at, "a function tool", cast("object", tool))
        return
    named = cast("dict[str, Any]", function)
    name, description = named.get("name"), named.get("description")
    if not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
        yield _not_matching(f"{at}.function.name", "^[a-zA-Z0-9_-]{1,64}$")
        return
    if description is not None and not isinstance(description, str):
        yield wrong_type(f"{at}.function.description", "a string", description)
    for fault in schema_faults(named.get("parameters"), strict=named.get("strict") is True):
        yield RequestFault(
            message=f"Invalid schema for function '{name}': {fault}",
            param=f"{at}.function.parameters",
            code="invalid_function_parameters",
        )


def _option_faults(body: Mapping[str, Any]) -> Iterator[RequestFault]:
    for option in ("tool_choice", "parallel_tool_calls"):
        if body.get(option) is not None and not body.get("tools"):
            yield RequestFault(
                message=f"'{option}' is only allowed when 'tools' are specified.", param=option
            )
    if body.get("tool_choice") is not None and not _is_choice(body["tool_choice"]):
        yield wrong_type(
            "tool_choice", "one of 'none', 'auto', 'required' or a function", body["tool_choice"]
        )
    options = body.get("stream_options")
    if options is not None and body.get("stream") is not True:
        yield RequestFault(
            message="The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    if options is not None and not isinstance(options, dict):
        yield wrong_type("stream_options", "an object", options)
    for option in ("max_tokens", "max_completion_tokens"):
        if body.get(option) is not None and not _is_within(body[option], int, 1, None):
            yield _bad_value(option, body[option])
    if body.get("temperature") is not None and not _is_within(body["temperature"], int | float, 0, 2):
        yield _bad_value("temperature", body["temperature"])


def _format_faults(wanted: object, messages: object) -> Iterator[RequestFault]:
    if wanted is None:
        return
    fields = cast("dict[str, Any]", wanted) if isinstance(wanted, dict) else {}
    kind = fields.get("type")
    if kind == "json_schema":
        yield from _schema_format_faults(fields.get("json_schema"))
    elif kind == "json_object" and "json" not in json.dumps(messages).lower():
        yield RequestFault(
            message="'messages' must contain the word 'json' in some form, to use 'response_format' of "
            "type 'json_object'.",
            param="messages",
        )
    elif kind not in ("text", "json_object"):
        yield wrong_type("response_format", "a text, json_object or json_schema format", kind)


def _schema_format_faults(described: object) -> Iterator[RequestFault]:
    fields = cast("dict[str, Any]", described) if isinstance(described, dict) else {}
    at = "response_format.json_schema"
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        yield RequestFault(
            message=f"Missing required parameter: '{at}.name'.",
            param=f"{at}.name",
            code="missing_required_parameter",
        )
        return
    if not _TOOL_NAME.fullmatch(name):
        yield _not_matching(f"{at}.name", "^[a-zA-Z0-9_-]+$")
        return
    for fault in schema_faults(fields.get("schema"), strict=fields.get("strict") is True):
        yield RequestFault(
            message=f"Invalid schema for response_format '{name}': {fault}", param="response_format"
        )


def _is_choice(choice: object) -> bool:
    if not isinstance(choice, dict):
        return choice in ("none", "auto", "required")
    function = cast("dict[str, Any]", choice).get("function")
    return isinstance(function, dict) and isinstance(cast("dict[str, Any]", function).get("name"), str)


def _is_within(value: object, kind: type[int] | UnionType, least: int, most: int | None) -> bool:
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    number = cast("float", value)
    return least <= number and (most is None or number <= most)


def _bad_value(at: str, value: object) -> RequestFault:
    return RequestFault(message=f"Invalid '{at}': {value!r}.", param=at, code="invalid_value")


def _empty_array(at: str) -> RequestFault:
    return RequestFault(
        message=f"Invalid '{at}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        param=at,
        code="empty_array",
    )


def _not_matching(at: str, pattern: str) -> RequestFault:
    return RequestFault(
        message=f"Invalid '{at}': string does not match pattern. "
        f"Expected a string that matches the pattern '{pattern}'.",
        param=at,
        code="invalid_value",
    )
