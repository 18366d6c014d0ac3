"""Previews of artifacts: type, size and first lines."""

import json
import time

import pytest

from bot.agent.tool_output import preview


def test_i06_a_text_shows_its_size_and_its_first_whole_lines() -> None:
    text = "\n".join(f"line {number}" for number in range(1000))

    assert preview(text, at_most=110).split("\n") == [
        "Text, 1000 lines, 8889 characters:",
        "line 0",
        "line 1",
        "line 2",
        "line 3",
        "line 4",
        "… 8855 more characters",
    ]
    assert preview("short", at_most=100) == "Text, 1 line, 5 characters:\nshort"
    assert preview("", at_most=100) == "Text, 0 lines, 0 characters:\n"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"a": [1, 2, 3], "b": None}, "JSON object of 2 keys"),
        ([{"id": 1}], "JSON array of 1 row"),
        ([], "JSON array of 0 rows"),
    ],
)
def test_i06_json_shows_how_many_rows_or_keys_it_has(value: object, kind: str) -> None:
    text = json.dumps(value)

    assert preview(text, at_most=200) == f"{kind}, 1 line, {len(text)} characters:\n{text}"


def test_a_long_line_is_cut() -> None:
    text = json.dumps([{"id": number} for number in range(999)])
    heading = f"JSON array of 999 rows, 1 line, {len(text)} characters:"

    shown = preview(text, at_most=200).split("\n")

    assert shown == [heading, text[: len(shown[1])], f"… {len(text) - len(shown[1])} more characters"]
    assert len(shown[1]) > 100


@pytest.mark.parametrize(
    "text",
    [
        "[2026-11-20 18:03] started\n[2026-11-20 18:04] ended",
        '{"a": 1',
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "[" + "9" * 5000 + "]",
    ],
    ids=["log", "cut", "deep", "deep-object", "digits"],
)
def test_text_that_only_looks_like_json_is_text(text: str) -> None:
    assert preview(text, at_most=500).startswith("Text, ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"id": 123456, "name": "Olga", "tags": ["a", "b"]}] * 400_000),
        "a line of prose\n" * 1_250_000,
        "[" * 10_000_000 + "]" * 10_000_000,
    ],
    ids=["json", "text", "deep"],
)
def test_a_preview_of_20_megabytes_is_quick(text: str) -> None:
    began = time.process_time()

    shown = preview(text, at_most=2000)

    assert len(text) > 19_000_000
    assert 1500 < len(shown) <= 2000
    assert time.process_time() - began < 5
