"""The action of a reply, also with broken calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.actions import CompletedStep, ToolResult, parse_reply
from bot.agent.model import TOOL_NAME, ModelReply, ToolCall, Usage
from bot.agent.tool import Tool
from bot.errors import ModelRepliedNothing
from examples.demo_tools import add, upper
from memory.codec import dump_json, parse_json
from tests.unit.agent.kit import asks, call, says

CUT = (
    "The arguments were cut off before their end, so nothing was done. Call the tool again with complete JSON; "
    "if they are long, with shorter arguments."
)
TOOLS = {tool.name: tool for tool in (Tool.from_function(add), Tool.from_function(upper))}


def parsed(*calls: ToolCall, earlier: tuple[CompletedStep, ...] = ()) -> tuple[ToolCall, ...]:
    return parse_reply(ModelReply(tool_calls=calls), TOOLS, earlier=earlier).tool_calls


def test_t02_a_reply_without_calls_is_the_answer() -> None:
    assert parse_reply(says("It is 5."), TOOLS) == says("It is 5.")


def test_calls_count_with_any_text_beside_them() -> None:
    reply = asks(call("add", '{"a": 1, "b": 2}'), text="One moment.")

    assert parse_reply(reply, TOOLS) == reply


def test_an_empty_reply_is_an_error() -> None:
    with pytest.raises(ModelRepliedNothing):
        parse_reply(ModelReply(text=" \n"), TOOLS)


def test_m13_the_prefix_functions_is_accepted() -> None:
    (parsed_call,) = parsed(call("functions.add", '{"a": 1, "b": 2}', call_id="x"))

    assert parsed_call == ToolCall(id="x", name="add", arguments='{"a": 1, "b": 2}')


def test_m13_an_unknown_tool_is_answered_with_the_known_names() -> None:
    (parsed_call,) = parsed(call("multi tool.use!", '{"a": 1}', call_id="x"))

    assert parsed_call == ToolCall(
        id="x",
        name="multi_tool_use_",
        arguments='{"a": 1}',
        problem="There is no tool named 'multi tool.use!'. The tools are: add, upper.",
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"a": 1', CUT),
        ("[1, 2]", "The arguments must be one JSON object with named values, not [1, 2]"),
        ('"1, 2"', 'The arguments must be one JSON object with named values, not "1, 2"'),
        ('{"a": NaN, "b": 1}', 'The arguments are not valid JSON: {"a": NaN, "b": 1}'),
        ("[" * 100_000, CUT),
        ('{"a": 1, "b": 2}' + " " * 2**18, "The arguments are too long: 262160 characters, at most 262144."),
        ('{"a":' * 90 + "1" + "}" * 90, "The arguments are not valid JSON: " + '{"a":' * 16 + "…"),
        ('{"a": 1, "b": }', 'The arguments are not valid JSON: {"a": 1, "b": }'),
        (
            '{"a": 1, "b": 2}{"a": 1, "b": 3}',
            "The arguments hold different JSON objects. Make one call for each of them.",
        ),
        ("", "Wrong arguments. a: Field required; b: Field required"),
        ("null", "Wrong arguments. a: Field required; b: Field required"),
    ],
)
def test_m13_malformed_arguments_are_answered_and_returned_as_an_object(arguments: str, problem: str) -> None:
    (parsed_call,) = parsed(call("add", arguments, call_id="x"))

    assert parsed_call == ToolCall(id="x", name="add", arguments="{}", problem=problem)


def test_m13_wrong_arguments_are_reported_one_by_one() -> None:
    (parsed_call,) = parsed(call("upper", '{"text": 5, "loud": true}', call_id="x"))

    assert parsed_call.arguments == '{"text": 5, "loud": true}'
    assert parsed_call.problem == (
        "Wrong arguments. text: Input should be a valid string, not 5; "
        "loud: Extra inputs are not permitted, not True"
    )


def test_missing_and_repeated_ids_are_replaced_deterministically() -> None:
    earlier = CompletedStep(reply=asks(call("upper", call_id="twin")), results=())
    calls = [call("upper", '{"text": "x"}', call_id=each) for each in ("", "one", "one", "twin", "")]

    ids = [each.id for each in parsed(*calls, earlier=(earlier,))]

    assert ids == ["call01000", "one", "call01002", "call01003", "call01004"]


anything = st.text(max_size=30) | st.sampled_from(["add", "functions.add", "upper", "", "call00000"])
json_texts = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
).map(json.dumps)
calls_of_any_kind = st.builds(ToolCall, id=anything, name=anything, arguments=anything | json_texts)


@given(st.lists(calls_of_any_kind, min_size=1, max_size=6))
def test_every_call_gets_a_unique_id_and_can_be_sent_back(calls: list[ToolCall]) -> None:
    done = parsed(*calls)

    assert len(done) == len(calls)
    assert len({each.id for each in done}) == len(calls)
    for each in done:
        assert each.id
        assert TOOL_NAME.fullmatch(each.name)
        assert isinstance(json.loads(each.arguments), dict)
        assert each.problem or each.name in TOOLS


@given(st.lists(calls_of_any_kind, max_size=3), st.text())
def test_an_action_and_a_result_survive_the_journal(calls: list[ToolCall], text: str) -> None:
    action = ModelReply(
        text=text,
        tool_calls=tuple(calls),
        usage=Usage(prompt_tokens=3, completion_tokens=4),
        finish_reason="stop",
    )
    result = ToolResult(call_id="c", name="add", output=text, is_error=True, is_final=False)

    assert parse_json(ModelReply, dump_json(ModelReply, action)) == action
    assert parse_json(ToolResult, dump_json(ToolResult, result)) == result
