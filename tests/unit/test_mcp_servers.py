"""Tables, schemas and results of MCP servers."""

import json
from base64 import b64encode
from typing import Any

import pytest

from bot.agent.mcp_servers import McpReference, McpServerTable, read_servers
from bot.mcp.connection import MOST_IMAGES, read_result
from bot.mcp.tools import repair_schema, tool_name
from tests.mcp_server import PIXEL


def problems_of(name: str = "web", **table: object) -> list[str]:
    """Return the problems of one server as lines."""
    _, problems = read_servers({name: McpServerTable.model_validate(table)}, {"KEY": "s3cret"})
    return [f"{key}: {why}" for key, why in problems]


def test_values_come_from_the_environment_by_their_names() -> None:
    headers = {"Authorization": "Bearer env:KEY", "X-Team": "red"}
    table = McpServerTable.model_validate({"url": "https://host/mcp", "headers": headers})
    servers, problems = read_servers({"web": table}, {"KEY": "s3cret"})
    assert not problems
    assert servers["web"].headers == {"Authorization": "Bearer s3cret", "X-Team": "red"}
    assert servers["web"].secrets == ("s3cret",)
    assert "s3cret" not in repr(servers["web"])


def test_an_unset_variable_is_named_with_its_key() -> None:
    assert problems_of(command="x", env={"A": "env:NONE"}) == [
        "mcp.servers.web.env.A: the environment variable NONE is not set"
    ]


@pytest.mark.parametrize("key", ["Authorization", "X-Api-Key", "api_token", "Cookie"])
def test_a_secret_in_the_file_is_refused_without_quoting_it(key: str) -> None:
    (problem,) = problems_of(url="https://host/mcp", headers={key: "plain-text"})
    assert "env:NAME" in problem
    assert "plain-text" not in problem


@pytest.mark.parametrize("url", ["https://me:plain-text@host/mcp", "https://host/mcp?a=1&api_key=plain-text"])
def test_a_secret_in_an_address_is_refused_without_quoting_it(url: str) -> None:
    (problem,) = problems_of(url=url)
    assert problem.startswith("mcp.servers.web.url: secrets do not belong into this file")
    assert "plain-text" not in problem
    assert not problems_of(url=url.replace("plain-text", "env:KEY"))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "either a command or a url"),
        ({"command": "x", "url": "https://h"}, "either a command or a url"),
        ({"command": "x", "headers": {"A": "b"}}, "headers belong to a url"),
        ({"url": "https://h", "args": ["a"]}, "args and env belong to a command"),
    ],
)
def test_a_table_that_names_no_server_is_a_problem(table: dict[str, Any], reason: str) -> None:
    assert any(reason in problem for problem in problems_of(**table))


@pytest.mark.parametrize("name", ["", "a__b", "a_", "ü", "x" * 33])
def test_a_name_that_could_mean_two_tools_is_a_problem(name: str) -> None:
    assert len(problems_of(name, command="x")) == 1


def test_references_name_one_tool_or_all() -> None:
    assert McpReference.parse("mcp:web/*") == McpReference(server="web", tool="*")
    assert McpReference.parse("mcp:web/a/b") == McpReference(server="web", tool="a/b")
    assert McpReference.parse("module:function") is None
    for wrong in ("mcp:web", "mcp:/x", "mcp:web/"):
        with pytest.raises(ValueError, match="mcp:SERVER/TOOL"):
            McpReference.parse(wrong)


def test_a_short_plain_name_stays_and_any_other_gets_a_hash() -> None:
    assert tool_name("web", "fetch") == "web__fetch"
    assert tool_name("web", "a.b") != tool_name("web", "a_b")
    assert len(tool_name("web", "x" * 100)) == 64


@pytest.mark.parametrize(
    ("schema", "repaired"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "string"}, None),
        ("object", None),
        (
            {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": ["string", "money"]}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}, "b": {}}},
        ),
        (
            {
                "$defs": {"day": {"$ref": "#/$defs/name"}, "name": {"enum": ["Mon"]}},
                "properties": {"d": {"$ref": "#/$defs/day", "description": "D"}},
            },
            {"type": "object", "properties": {"d": {"enum": ["Mon"], "description": "D"}}},
        ),
        (
            {
                "properties": {"a": {"type": "string", "required": True, "minLength": "2"}},
                "required": ["a", "b"],
            },
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        (
            {
                "anyOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]},
                ]
            },
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        ),
        # gptel#806, n8n#15553, zed#44875, zabbix-mcp-server#6, zenflow#14: what Gemini refuses
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "additionalProperties": False,
                "properties": {
                    "url": {"type": "string", "format": "uri", "description": "The page."},
                    "at": {"type": "string", "format": "date-time"},
                    "most": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "multipleOf": 1},
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                    "kind": {"type": ["string", "null"], "const": "a"},
                    "tags": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "propertyNames": {},
                    },
                    "one": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
                },
                "required": ["url"],
            },
            {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "The page. (format: uri)"},
                    "at": {"type": "string", "format": "date-time"},
                    "most": {"type": "integer", "maximum": 9},
                    "note": {"type": "string"},
                    "kind": {"type": "string", "enum": ["a"]},
                    "tags": {"type": "object"},
                    "one": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                },
                "required": ["url"],
            },
        ),
    ],
)
def test_schemas_are_repaired(schema: object, repaired: dict[str, Any] | None) -> None:
    assert repair_schema(schema) == repaired


def test_a_schema_that_refers_to_itself_accepts_anything_there() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "name": {"type": "string"}}}
    assert repair_schema(node) == {"type": "object", "properties": {"next": {}, "name": {"type": "string"}}}


def test_a_schema_whose_references_multiply_is_left_out() -> None:
    both = [{"$ref": f"#/$defs/{level + 1}"} for level in range(12)]
    levels = {str(level): {"anyOf": [each, each]} for level, each in enumerate(both)}
    assert repair_schema({"$defs": levels, "properties": {"a": {"$ref": "#/$defs/0"}}}) is None


def test_a_result_has_texts_lines_for_files_and_pictures() -> None:
    picture = {"type": "image", "data": b64encode(PIXEL).decode(), "mimeType": "image/png"}
    parts: list[object] = [
        {"type": "text", "text": "one"},
        *[picture] * (MOST_IMAGES + 1),
        {"type": "image", "data": "no base64!", "mimeType": "image/png"},
        {"type": "image", "data": b64encode(PIXEL[:16]).decode(), "mimeType": "image/png"},
        {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AA=="}},
        {"type": "resource_link", "uri": "https://h/x", "name": "x"},
        "nonsense",
    ]
    result = read_result({"content": parts, "structuredContent": {"a": 1}})
    assert len(result.images) == MOST_IMAGES
    assert result.splitlines() == [
        "one",
        *(f"[picture {number}: image/png]" for number in range(1, MOST_IMAGES + 1)),
        *["[a picture that cannot be shown]"] * 3,
        "[audio/wav that cannot be shown as text]",
        "inside",
        "[resource that cannot be shown as text]",
        "[link to https://h/x: x]",
    ]


def test_a_result_without_parts_is_its_structured_content() -> None:
    assert json.loads(read_result({"content": [], "structuredContent": {"a": [1]}})) == {"a": [1]}
    assert read_result({}) == ""
