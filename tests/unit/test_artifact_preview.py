"""Previews of artifacts: keys, counts, first rows, beginning and end."""

import json
import time
from textwrap import dedent

import pytest

from memory.artifacts.preview import preview


def expected(text: str) -> str:
    return dedent(text).strip("\n")


def test_i06_an_object_shows_its_keys_with_values_types_and_counts() -> None:
    value = {
        "total": 1200,
        "ok": True,
        "next": None,
        "note": "n" * 300,
        "rows": [{"id": number, **({"tag": "x"} if number % 3 == 0 else {})} for number in range(1200)],
        "meta": {"page": {"size": 50, "of": [1, 2.5]}, "empty": {}},
    }

    assert preview(json.dumps(value), at_most=1000) == expected(
        f"""
        JSON object, 6 keys:
          "total": 1200
          "ok": true
          "next": null
          "note": "{"n" * 240}"… (300 characters)
          "rows": array of 1200 objects:
            keys: "id" in 1200, "tag" in 400
            [0] {{"id": 0, "tag": "x"}}
            [1] {{"id": 1}}
            [2] {{"id": 2}}
            [3] {{"id": 3, "tag": "x"}}
            [4] {{"id": 4}}
            … 1195 more rows
          "meta": object, 2 keys:
            "page": object, 2 keys:
              "size": 50
              "of": array of 2 numbers:
                [0] 1
                [1] 2.5
            "empty": {{}}
        """
    )


def test_less_room_means_less_detail_and_no_cut_text() -> None:
    value = {"rows": [{"id": number, "name": f"n{number}"} for number in range(99)], "last": "here"}

    assert preview(json.dumps(value), at_most=180) == expected(
        """
        JSON object, 2 keys:
          "rows": array of 99 objects:
            keys: "id" in 99, "name" in 99
            [0] {"id": 0, "name": "n0"}
            … 98 more rows
          "last": "here"
        """
    )


def test_an_array_of_several_types_counts_each() -> None:
    value: list[object] = [1, 2.5, None, "a", [], {"k": [1, 2, 3]}, False]

    assert preview(json.dumps(value), at_most=400) == expected(
        """
        JSON array of 7 (2 numbers, 1 null, 1 string, 1 array, 1 object, 1 boolean):
          keys: "k" in 1
          [0] 1
          [1] 2.5
          [2] null
          [3] "a"
          [4] []
          … 2 more rows
        """
    )


@pytest.mark.parametrize(
    ("text", "shown"), [("{}", "JSON {}"), ("[]", "JSON []"), ("[0]", "JSON array of 1 number:\n  [0] 0")]
)
def test_small_and_empty_json_is_shown_whole(text: str, shown: str) -> None:
    assert preview(text, at_most=200) == shown


def test_json_lines_count_as_rows_and_damaged_ones_are_counted() -> None:
    lines = [json.dumps({"id": number}) for number in range(30)]

    assert preview("\n".join([*lines, ""]), at_most=100) == expected(
        """
        JSON lines, array of 30 objects:
          keys: "id" in 30
          [0] {"id": 0}
          [1] {"id": 1}
          … 28 more rows
        """
    )
    assert preview("\n".join([*lines, '{"id"']), at_most=200).startswith(
        "JSON lines (1 more cannot be read), array of 30 objects:\n"
    )


@pytest.mark.parametrize(("delimiter", "name"), [(",", "CSV"), ("\t", "TSV"), (";", "CSV (with semicolons)")])
def test_a_table_shows_its_header_its_row_count_and_first_rows(delimiter: str, name: str) -> None:
    rows = [["id", "name"], *([str(number), f'"P{delimiter} {number}"'] for number in range(1000))]
    text = "\n".join(delimiter.join(row) for row in rows) + "\n"

    assert preview(text, at_most=len(name) + 100).split("\n") == [
        f'{name}, 1000 rows, 2 columns: "id", "name"',
        f'  [0] ["0", {json.dumps(f"P{delimiter} 0")}]',
        f'  [1] ["1", {json.dumps(f"P{delimiter} 1")}]',
        "  … 998 more rows",
    ]


def test_a_cell_of_several_lines_is_one_cell() -> None:
    text = "id,name\n" + '1,"two\nlines"\n' * 9

    assert preview(text, at_most=80).split("\n") == [
        'CSV, 9 rows, 2 columns: "id", "name"',
        '  [0] ["1", "two\\nlines"]',
        "  … 8 more rows",
    ]


def test_a_markdown_table_shows_its_header_and_counts_the_surrounding_text() -> None:
    rows = "".join(f"| {number} | Olga {number} |\n" for number in range(50))

    assert preview(f"# People\n\n| id | name |\n|:---|-----:|\n{rows}\nThe end.", at_most=150) == expected(
        """
        Markdown table (10 characters before it, 9 after it), 50 rows, 2 columns: "id", "name"
          [0] ["0", "Olga 0"]
          [1] ["1", "Olga 1"]
          … 48 more rows
        """
    )


def test_a_text_shows_its_length_and_its_first_and_last_lines() -> None:
    text = "\n".join(f"line {number}" for number in range(1000))

    assert preview(text, at_most=150) == expected(
        """
        Text, 1000 lines, 8889 characters:
        line 0
        line 1
        line 2
        line 3
        line 4
        line 5
        … 8831 characters left out …
        line 998
        line 999
        """
    )
    assert preview("short", at_most=100) == "Text, 1 line, 5 characters:\nshort"
    assert preview("", at_most=100) == "Text, 0 lines, 0 characters:\n"


@pytest.mark.parametrize(
    "text",
    [
        "Dear Olga, thank you.\nIt was nice, truly.\nSee you, soon.",
        "[2026-11-20 18:03] started\n[2026-11-20 18:04] ended",
        '{"a": 1',
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "[" + "9" * 5000 + "]",
        "let a = 1;\nlet b = 2;\nlet c = 3;",
        'a,b\n"' + "x" * 200_000,
        "a|b",
    ],
    ids=["prose", "log", "cut", "deep", "deep-object", "digits", "code", "quote", "pipe"],
)
def test_text_that_only_looks_structured_is_text(text: str) -> None:
    assert preview(text, at_most=500).startswith("Text, ")


def test_nesting_is_shown_up_to_a_limit() -> None:
    assert preview("[" * 500 + "]" * 500, at_most=300) == expected(
        """
        JSON array of 1 array:
          [0] array of 1 array:
            [0] array of 1 array:
              [0] array of 1 array:
                [0] [[[[… 1 row]]]]
        """
    )


@pytest.mark.parametrize("at_most", [0, 1, 7, 60])
@pytest.mark.parametrize("text", ["x" * 999, json.dumps({"key": ["v"] * 99}), "a,b\n1,2\n3,4\n" * 9])
def test_a_preview_never_exceeds_its_limit(text: str, at_most: int) -> None:
    assert len(preview(text, at_most=at_most)) <= at_most


def test_a_preview_has_no_lone_surrogates() -> None:
    for text in ('["\\ud800"]', "\ud800" * 999, "a,b\n\ud800,1\n\udfff,2\n", '{"\\udfff": 1}'):
        preview(text, at_most=200).encode()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"id": 123456, "name": "Olga", "tags": ["a", "b"]}] * 400_000),
        '{"id": 123456, "name": "Olga"}\n' * 650_000,
        "id,name\n" + "123456,Olga\n" * 1_700_000,
        "|a|b|\n|---|---|\n" + "| 123456 | Olga |\n" * 1_100_000,
        "a line of prose\n" * 1_250_000,
        "[" * 10_000_000 + "]" * 10_000_000,
    ],
    ids=["json", "lines", "csv", "markdown", "text", "deep"],
)
def test_a_preview_of_20_megabytes_is_quick(text: str) -> None:
    began = time.process_time()

    shown = preview(text, at_most=2000)

    assert len(text) > 19_000_000
    assert len(shown) <= 2000
    assert time.process_time() - began < 5
