"""The checker of Chat Completions requests finds the faults that OpenAI refuses."""

import json
from typing import Any

import pytest

from tests.openai_checker import RequestFault
from tests.openai_checker.request import find_fault, read_body

pytestmark = pytest.mark.slow

ADD: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}


def form(name: str = "weather", **changes: Any) -> dict[str, Any]:
    """A response format."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
        **changes,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def chat(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **options}


def fault_of(body: Any) -> RequestFault | None:
    """Return the fault of a request, of its bytes or its JSON data."""
    read = read_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return read if isinstance(read, RequestFault) else find_fault(read)


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        (b"{not json", None, None),
        (b"[]", None, None),
        (b"[" * 100_000, None, None),
        ({"messages": [USER]}, None, None),
        ({"model": "m"}, "messages", "missing_required_parameter"),
        (chat(), "messages", "empty_array"),
        ({"model": "m", "messages": "hi"}, "messages", "invalid_type"),
        (chat("hi"), "messages[0]", "invalid_type"),
        (chat({"role": "robot", "content": "hi"}), "messages[0].role", "invalid_value"),
        (chat({"role": "user", "content": None}), "messages[0].content", None),
        (chat({"role": "user", "content": 7}), "messages[0].content", "invalid_type"),
        (chat({"role": "user", "content": []}), "messages[0].content", "empty_array"),
        (
            chat({"role": "system", "content": [{"type": "image_url"}]}),
            "messages[0].content[0].type",
            "invalid_value",
        ),
        (chat({"role": "user", "content": [{"type": []}]}), "messages[0].content[0].type", "invalid_value"),
        (chat({"role": "user", "name": "Ben Hart", "content": "hi"}), "messages[0].name", "invalid_value"),
        (chat(USER, {"role": "assistant", "content": None}), "messages[1].content", None),
        (
            chat(USER, {"role": "assistant", "content": "x", "tool_calls": []}),
            "messages[1].tool_calls",
            "empty_array",
        ),
        (chat({**USER, "tool_calls": [CALL]}), "messages[0].tool_calls", "unknown_parameter"),
        (
            chat(USER, {"role": "tool", "content": "5"}),
            "messages[1].tool_call_id",
            "missing_required_parameter",
        ),
        (chat(USER, {"role": "tool", "tool_call_id": "call_1", "content": "5"}), "messages.[1].role", None),
        (chat(USER, {"role": "assistant", "tool_calls": [CALL]}), "messages.[1].role", None),
        (chat(USER, {"role": "assistant", "tool_calls": [CALL]}, USER), "messages.[1].role", None),
        (chat(USER, {"role": "assistant", "tool_calls": [CALL, CALL]}), "messages.[1].tool_calls", None),
        (
            chat(
                USER,
                {"role": "assistant", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "call_1", "content": "5"},
                {"role": "tool", "tool_call_id": "call_1", "content": "5"},
            ),
            "messages.[3].role",
            None,
        ),
        (
            chat(USER, {"role": "assistant", "tool_calls": [{**CALL, "id": "x" * 41}]}),
            "messages[1].tool_calls[0].id",
            "string_above_max_length",
        ),
        (
            chat(
                USER,
                {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "add", "arguments": {}}}]},
            ),
            "messages[1].tool_calls[0].function.arguments",
            "invalid_type",
        ),
        (chat(USER, tools=[]), "tools", "empty_array"),
        (chat(USER, tools=[ADD] * 129), "tools", "array_above_max_length"),
        (chat(USER, tools=["add"]), "tools[0]", "invalid_type"),
        (
            chat(USER, tools=[{"type": "function", "function": {"name": "no spaces"}}]),
            "tools[0].function.name",
            "invalid_value",
        ),
        (
            chat(
                USER,
                tools=[{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}],
            ),
            "tools[0].function.parameters",
            "invalid_function_parameters",
        ),
        (chat(USER, tool_choice="auto"), "tool_choice", None),
        (chat(USER, tools=[ADD], tool_choice={"function": "add"}), "tool_choice", "invalid_type"),
        (chat(USER, stream_options={"include_usage": True}), "stream_options", None),
        (chat(USER, stream=True, stream_options=[1]), "stream_options", "invalid_type"),
        (chat(USER, max_tokens=0), "max_tokens", "invalid_value"),
        (chat(USER, temperature=3), "temperature", "invalid_value"),
        (chat(USER, response_format={"type": "json_object"}), "messages", None),
        (chat(USER, response_format={"type": "yaml"}), "response_format", "invalid_type"),
        (chat(USER, response_format="text"), "response_format", "invalid_type"),
        (
            chat(USER, response_format={"type": "json_schema"}),
            "response_format.json_schema.name",
            "missing_required_parameter",
        ),
        (chat(USER, response_format=form("a b")), "response_format.json_schema.name", "invalid_value"),
        (chat(USER, response_format=form(additionalProperties=True)), "response_format", None),
    ],
)
def test_a_bad_request_has_the_fault_that_openai_finds(
    body: Any, param: str | None, code: str | None
) -> None:
    fault = fault_of(body)

    assert fault is not None
    assert fault.message
    assert (fault.param, fault.code) == (param, code)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "text"}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "array", "items": {"type": 3}}]}}},
        {"type": "object", "properties": [], "required": []},
        {"type": "object", "properties": {}, "required": [1]},
        {"type": "object", "properties": {"a": {"enum": []}}},
        {"type": "object", "properties": {"a": 1}},
        {"type": "object", "$defs": {"D": {"type": "array"}}},
        [],
    ],
)
def test_a_fault_in_a_tools_schema_is_found(schema: Any) -> None:
    fault = fault_of(
        chat(USER, tools=[{"type": "function", "function": {"name": "a", "parameters": schema}}])
    )

    assert fault is not None
    assert fault.code == "invalid_function_parameters"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    ],
)
def test_a_strict_tool_must_close_its_schema(schema: dict[str, Any]) -> None:
    function = {"name": "a", "strict": True, "parameters": schema}

    fault = fault_of(chat(USER, tools=[{"type": "function", "function": function}]))

    assert fault is not None
    assert fault.code == "invalid_function_parameters"


def test_valid_requests_have_no_fault() -> None:
    answered = [
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "5"},
    ]

    assert fault_of(chat(USER, tools=[ADD], tool_choice="auto", temperature=1)) is None
    assert fault_of(chat(USER, *answered, response_format=form())) is None
