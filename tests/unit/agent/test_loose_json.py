"""JSON as weak models write it."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.loose_json import LONGEST, find_values, find_whole_items, parse_object, read_calls
from bot.errors import ToolFailed

WHOLE = {"text": "a\nb", "n": 1}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        json.dumps(json.dumps(WHOLE)),
        json.dumps(json.dumps(json.dumps(WHOLE))),
        json.dumps(WHOLE).replace('"', '\\"'),
        "{}" + json.dumps(WHOLE),
        json.dumps(WHOLE) * 2,
        f"[{json.dumps(WHOLE)}]",
        '{"text": "a\nb", "n": 1}',
        '```json\n{"text": "a\\nb", "n": 1,}\n```',
        'I use {}: {"text": "a\\nb", "n": 1}. Fine?',
        "{'text': 'a\\nb', 'n': 1}",
        '{text: "a\\nb", "n": 1}',
        '{"text": "a\\nb" "n": 1}',
        '{"text": "a\\nb", /* so many */ "n": 1, // times\n}',
        '\ufeff{"text": "a\\nb", "n": 1}</tool_call>',
        '{{"text": "a\\nb", "n": 1}}',
    ],
)
def test_one_object_is_read(text: str) -> None:
    assert parse_object(text) == WHOLE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" null ", {}),
        ("[]", {}),
        ("{}{}", {}),
        ("{'c': 'it's fine', 'a': True, 'b': None}", {"c": "it's fine", "a": True, "b": None}),
        ('{"a": "He said "no", then left"}', {"a": 'He said "no", then left'}),
        ('{"a": "5" tall", "b": 1}', {"a": '5" tall', "b": 1}),
        (r'{"a": "C:\Users", "b": "\d+"}', {"a": r"C:\Users", "b": r"\d+"}),
        ('{"a": 1.50,}', {"a": 1.5}),
        ('{"a": "see: `x`, |y|", "": "",}', {"a": "see: `x`, |y|", "": ""}),
        ("{“a”: “x”, 'b': [hello, 'you']}", {"a": "x", "b": ["hello", "you"]}),
        ('{"a": "€ 😀 \\u00e9",}', {"a": "€ 😀 é"}),
    ],
)
def test_values_keep_all_their_letters(text: str, value: dict[str, Any]) -> None:
    assert parse_object(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a": "x',
        '{"a": "x"',
        '{"a": [1, 2}',
        '{"a": {"b": 1}',
        '{"a": 1, "b":',
        "{'a': 'it's",
        '[{"a": 1}',
        '```json\n{"a": 1',
        '{}{"a": "x',
        '{"a": 1}{"a": 1',
        "{" * 1_000,
        '{"' * 1_000,
    ],
)
def test_an_end_that_is_missing_is_never_made_up(text: str) -> None:
    with pytest.raises(ToolFailed, match="cut off"):
        parse_object(text)


@pytest.mark.parametrize("text", ["", "{}", '{"a": "x\ny",}', "{}{}", "x"])
def test_a_reply_at_its_limit_has_only_valid_arguments(text: str) -> None:
    assert parse_object('{"a": 1}', is_cut=True) == {"a": 1}
    with pytest.raises(ToolFailed, match="cut off"):
        parse_object(text, is_cut=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}{"a": 2}',
        '[{"a": 1}, {"b": 1}]',
        '{"a": 1, "when": 17:00}',  # a repair reads 17
        '{"a": "x" "y"}',
        '{"a":"""x"""}',
        "{'a': '''x''', 'b': 1}",
        '{"a": "She said ""x"" to me",}',
        '{"a": "x""", "b": 2}',
        '{"a":`x`}',
        '{"a": ```x```}',
        "{'a': `it's`, 'b': 2}",
        '{"a":|x|}',
        '{"a": }',
        '{"a": undefined}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '["a"]',
        '"a"',
        "5",
        "a",
        '{"a"}',
        '{"a":' * 100 + "1" + "}" * 100,
        '{"a": "' + "x" * LONGEST + '"}',
    ],
)
def test_what_a_repair_would_guess_or_lose_is_an_error_for_the_model(text: str) -> None:
    with pytest.raises(ToolFailed):
        parse_object(text)


HOSTILE = [
    "[",
    "{",
    '"',
    "'",
    '{"',
    '[{"',
    '{"a":',
    '{"a": "x, y: ',
    "{x}",
    '{"a": "b" ',
    "\\",
    "{}",
    "{a:[",
    '{"a": }',
]


READERS: tuple[Callable[[str], object], ...] = (
    parse_object,
    lambda text: list(find_values(text, repairing=True)),
    lambda text: list(find_values(text, repairing=False)),
    lambda text: list(find_whole_items(text)),
    lambda text: read_calls("<tool_call>" + text),
)


@pytest.mark.slow
@pytest.mark.parametrize("part", HOSTILE)
def test_a_hostile_text_takes_a_moment_at_most(part: str) -> None:
    text = part * (LONGEST // len(part))

    for hostile in (text, f'{{"a": "{text[:30_000]}",}}'):
        for read in READERS:
            began = time.thread_time()
            with suppress(ToolFailed):
                read(hostile)
            assert time.thread_time() - began < 2


pieces = st.sampled_from(
    [*HOSTILE, "}", "]", ":", ",", " ", "\n", "1", "true", "None", "```", "//", "a", "“", "\\u00e9", "("]
)


@given(st.lists(pieces, max_size=40).map("".join))
def test_any_text_is_an_object_or_an_error_for_the_model(text: str) -> None:
    try:
        value = parse_object(text)
    except ToolFailed:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())), st.integers(1, 18))
def test_half_of_valid_arguments_never_becomes_a_call(value: dict[str, Any], cut: int) -> None:
    text = json.dumps({**value, "last": "the end"})

    with pytest.raises(ToolFailed, match="cut off"):
        parse_object(text[:-cut])


A = ("a", '{"x": 1}')


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_call>', [A]),
        (
            'I look.\n<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>\n<tool_call>{"name": "b"}',
            [A, ("b", "{}")],
        ),
        (
            '<tool_call>{"name": "a", "arguments": {"x": 1}}\n{"name": "b", "arguments": {}}</tool_call>',
            [A, ("b", "{}")],
        ),
        ("<tool_call>{'name': 'a', 'arguments': {'x': 1,}}</tool_call>", [A]),
        (
            '<tool_call>{"name": "a", "arguments": {"x": "</tool_call>"}}</tool_call>',
            [("a", '{"x": "</tool_call>"}')],
        ),
        ('<tool_call>{"name": "a", "arguments": "{\\"x\\": 1}"}</tool_call>', [A]),
        ('<function_call>{"name": "a", "arguments": {"x": 1}}</function_call>', [A]),
        (
            '[TOOL_CALLS] [{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]',
            [A, ("b", "{}")],
        ),
        ('[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[CALL_ID]123456789[ARGS]{}', [A, ("b", "{}")]),
        ('<function=a>{"x": 1}</function>', [A]),
        ('<function=a{"x": 1}</function>', [A]),
        ("<function=a></function>", [("a", "{}")]),
        (
            "<tool_call>\n<function=a>\n<parameter=x>\n1\n</parameter>\n<parameter=y>\n two\nlines\n</parameter>\n"
            "</function>\n</tool_call>",
            [("a", '{"x": "1", "y": " two\\nlines"}')],
        ),
        ("I look.\n<function=a>\n<parameter=x>\n*.md\n</function>\n</tool_call>", [("a", '{"x": "*.md"}')]),
        ("<tool_call>a</tool_call>", [("a", "{}")]),
        ("<tool_call>a</arg_value></tool_call>", [("a", "{}")]),
        ('<invoke name="a"><parameter name="x">1</parameter></invoke>', [("a", '{"x": "1"}')]),
        (
            "<tool_call>a\n<arg_key>x</arg_key>\n<arg_value>[1]</arg_value>\n</tool_call>",
            [("a", '{"x": "[1]"}')],
        ),
        (
            '<|python_tag|>{"name": "a", "parameters": {"x": 1}}; {"name": "b", "parameters": {}}',
            [A, ("b", "{}")],
        ),
        ('{"name": "a", "parameters": {"x": 1}}', [A]),
        ('Sure:\n```json\n{"name": "a", "arguments": {"x": 1}}\n```', [A]),
        ('{"type": "function", "function": {"name": "a", "arguments": {"x": 1}}}', [A]),
        ('function<\uff5ctool▁sep\uff5c>a\n```json\n{"x": 1}\n```', [A]),
        ('Anna said {"name": "a", "parameters": {"x": 1}} to me', []),
        ('{"name": "Bingo", "age": 30}', []),
        ("A <tool_call> is a tag.", []),
        ('<|python_tag|>brave.call(query="x")', []),
        ("[1, 2]", []),
        ("", []),
    ],
)
def test_a_call_that_is_written_as_text_is_read(text: str, calls: list[tuple[str, str]]) -> None:
    assert read_calls(text) == calls


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "a", "arguments": {"x": "ha',
        "<function=a>\n<parameter=x>\nha",
        '[TOOL_CALLS]a[ARGS]{"x": "ha',
        "<tool_call>a\n<arg_key>x</arg_key>\n<arg_value>ha",
    ],
)
def test_a_written_call_without_an_end_has_arguments_that_cannot_be_read(text: str) -> None:
    ((name, arguments),) = read_calls(text)

    assert name == "a"
    with pytest.raises(ToolFailed):
        parse_object(arguments)
