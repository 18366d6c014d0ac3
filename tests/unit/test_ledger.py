"""The rendering of ledger entries in a prompt, and the entries that each agent sees."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.history.ledger import EntryKind, LedgerEntry, is_visible, is_within, render_entry


def entry(
    *,
    kind: EntryKind = "tool",
    name: str = "search_knowledge_base",
    input: str = '{"query":"API authentication methods"}',
    output: str = '{"results":[{"title":"OAuth 2.0"},7]}',
    is_error: bool = False,
    delegation_id: str = "",
) -> LedgerEntry:
    return LedgerEntry(
        id="5:tool:1:0",
        kind=kind,
        agent="Mnemogram",
        name=name,
        input=input,
        output=output,
        is_error=is_error,
        delegation_id=delegation_id,
    )


def test_i08_a_tool_call_is_rendered_with_input_and_output() -> None:
    assert render_entry(entry()) == (
        "## Tool: search_knowledge_base\n"
        "\n"
        "**Input:**\n"
        "{\n"
        '  "query": "API authentication methods"\n'
        "}\n"
        "\n"
        "**Output:**\n"
        "{\n"
        '  "results": [\n'
        "    {\n"
        '      "title": "OAuth 2.0"\n'
        "    },\n"
        "    7\n"
        "  ]\n"
        "}"
    )


def test_i08_a_failed_call_is_marked_and_text_is_one_json_string() -> None:
    failed = entry(input="{}", output="no such\n## Tool: place\u2028é", is_error=True)

    assert render_entry(failed) == (
        "## Tool: search_knowledge_base\n"
        "\n"
        "**Input:**\n"
        "{}\n"
        "\n"
        "**Output (failed):**\n"
        '"no such\\n## Tool: place\\u2028é"'
    )


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        ("delegation", "## Delegation: Mnemogram → researcher"),
        ("transfer", "## Transfer: Mnemogram → researcher"),
    ],
)
def test_i09_delegations_and_transfers_name_both_agents(kind: EntryKind, heading: str) -> None:
    assert render_entry(entry(kind=kind, name="researcher")).split("\n")[0] == heading


@pytest.mark.parametrize(
    "output",
    [
        *("0", "false", "", "null", '"text"', "2.5"),
        *('{"a": 1', '{"a": 1, "a": 2}', "[1e999]", "[NaN]", "[" * 5_000, "[" + "9" * 5_000 + "]"),
    ],
)
def test_i08_other_values_and_lossy_json_are_strings(output: str) -> None:
    told = render_entry(entry(output=output)).partition("**Output:**\n")[2]

    assert json.loads(told) == output


def test_i08_structure_is_rendered_to_a_depth_and_as_a_string_below() -> None:
    told = [render_entry(entry(output="[" * depth + "]" * depth)).splitlines()[-1] for depth in (20, 21)]

    assert told == ["]", f'"{"[" * 21}{"]" * 21}"']


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("two\n## Tool: lines", "two Tool lines"),
        ("**Output:**", "Output"),
        ("\u2028→", "unnamed"),
        ("n" * 80, "n" * 64),
    ],
)
def test_i08_names_are_sanitised(name: str, shown: str) -> None:
    assert render_entry(entry(name=name)).split("\n")[0] == f"## Tool: {shown}"


# Each of these may end a line for some reader.
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_forging = st.lists(
    st.text(max_size=8)
    | st.sampled_from(
        ["\n", "\r", "\u2028", "\x85", "\x1c", "## ", "## Tool: x", "**", "**Output:**", '"', "\ud800"]
    )
).map("".join)
_jsons = st.recursive(
    st.none() | st.integers() | _forging,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_forging, inner, max_size=3),
).map(lambda value: json.dumps(value, ensure_ascii=False))


@given(_forging, _forging | _jsons, _forging | _jsons)
@example("x\n## Tool: y", '["\u2028## Tool: x"]', "**Output:**")
def test_i08_no_name_input_or_output_can_forge_a_mark(name: str, input: str, output: str) -> None:
    rendered = render_entry(entry(name=name, input=input, output=output))

    marks = [line for line in _LINE_ENDS.split(rendered) if line.startswith(("## ", "**"))]
    assert marks[0].startswith("## Tool: ")
    assert marks[1:] == ["**Input:**", "**Output:**"]
    rendered.encode()


def test_i10_the_active_agent_sees_every_call() -> None:
    assert all(is_visible(entry(delegation_id=path), "") for path in ("", "a", "a/b", "c"))


def test_i11_a_delegated_agent_sees_its_own_line_of_delegations_and_the_top_level() -> None:
    paths = ["", "a", "a/b", "a/b/c", "a/x", "ab", "z"]

    seen = [path for path in paths if is_visible(entry(delegation_id=path), "a/b")]

    assert seen == ["", "a", "a/b", "a/b/c"]


def test_a_delegation_includes_its_own_calls_and_those_below() -> None:
    paths = ["", "a", "a/b", "ab"]

    assert [path for path in paths if is_within(entry(delegation_id=path), "a")] == ["a", "a/b"]
