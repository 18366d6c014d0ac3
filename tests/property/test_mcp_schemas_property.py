"""Schemas of MCP servers, whatever they send: the repaired schema is one that OpenAI accepts."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.mcp.connection import read_result
from bot.mcp.tools import LARGEST, repair_schema, tool_name
from tests.openai_checker.schema import schema_faults

KEYWORDS = (
    *("type", "properties", "required", "items", "prefixItems", "enum", "const", "default", "description"),
    *("anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "definitions", "additionalProperties", "title"),
    *("minimum", "maxLength", "pattern", "format", "if", "then", "patternProperties", "$schema"),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["object", "array", "string", "null", "#", "#/$defs/a", "#/properties/a", "a"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=5)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=25,
)
ROOTS = st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=8).map(
    lambda root: {**root, "type": "object"}
)
ANY_ROOT = ROOTS | VALUES
REFUSED_ABOVE = {"anyOf", "oneOf", "allOf", "enum", "not"}


@given(ANY_ROOT)
def test_a_repaired_schema_passes_what_openai_accepts(schema: object) -> None:
    repaired = repair_schema(schema)
    if repaired is not None:
        assert not list(schema_faults(repaired, strict=False))
        assert repaired["type"] == "object"
        assert isinstance(repaired["properties"], dict)
        assert not REFUSED_ABOVE & set(repaired)
        written = json.dumps(repaired, allow_nan=False)
        assert '"$ref": "' not in written
        assert len(written) <= LARGEST


@given(ROOTS)
def test_a_second_repair_changes_nothing(schema: dict[str, Any]) -> None:
    repaired = repair_schema(schema)
    assert repaired is None or repair_schema(repaired) == repaired


@given(st.from_regex(r"[A-Za-z0-9]{1,32}", fullmatch=True), st.text(max_size=200), st.text(max_size=200))
def test_names_are_accepted_and_differ_as_the_tools_do(server: str, one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool_name(server, one))
    assert (tool_name(server, one) == tool_name(server, other)) == (one == other)


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError"]), VALUES))
def test_any_result_is_a_text(result: dict[str, Any]) -> None:
    assert isinstance(read_result(result), str)
