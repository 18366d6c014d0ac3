"""Replies assembled from the chunks of servers with different habits."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model import ModelReply, ToolCall, Usage
from bot.agent.openai_format import StreamedReply


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def part(index: int | None = None, call_id: str | None = None, **function: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"function": function}
    return fields | ({"index": index} if index is not None else {}) | ({"id": call_id} if call_id else {})


def reply_of(*chunks: dict[str, Any]) -> ModelReply:
    streamed = StreamedReply()
    for chunk in chunks:
        streamed.add(chunk)
    streamed.add(delta("stop"))
    reply = streamed.reply()
    assert reply is not None
    return reply


def calls_of(*parts: dict[str, Any]) -> list[tuple[str, str, str]]:
    reply = reply_of(*(delta(tool_calls=[each]) for each in parts))
    return [(call.id, call.name, call.arguments) for call in reply.tool_calls]


def test_a_half_surrogate_pair_in_a_call_can_be_sent_back() -> None:
    assert calls_of(part(0, "c\ud800", name="a\udfff", arguments='"\ud800"')) == [
        ("c\ufffd", "a\ufffd", '"\ufffd"')
    ]


def test_text_usage_and_finish_reason_are_assembled() -> None:
    reply = reply_of(
        delta(role="assistant", content=""),
        delta(content="It is "),
        delta(content="5."),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}},
    )

    assert reply == ModelReply(
        text="It is 5.", usage=Usage(prompt_tokens=12, completion_tokens=3), finish_reason="stop"
    )


def test_pieces_of_calls_are_joined_by_their_index() -> None:
    assert calls_of(
        part(0, "c1", name="add", arguments=""),
        part(1, "c2", name="upper", arguments='{"te'),
        part(0, arguments='{"a": 1}'),
        part(1, arguments='xt": "x"}'),
    ) == [("c1", "add", '{"a": 1}'), ("c2", "upper", '{"text": "x"}')]


def test_without_an_index_a_new_id_begins_a_new_call() -> None:
    assert calls_of(
        part(None, "c1", name="add", arguments='{"a"'),
        part(None, "c1", arguments=": 1}"),
        part(None, "c2", name="add", arguments="{}"),
    ) == [("c1", "add", '{"a": 1}'), ("c2", "add", "{}")]


def test_without_index_and_id_a_name_begins_a_new_call() -> None:
    assert calls_of(
        part(None, name="add", arguments="{"),
        part(None, arguments="}"),
        part(None, name="upper", arguments="{}"),
    ) == [("", "add", "{}"), ("", "upper", "{}")]


def test_parallel_calls_with_the_same_index_are_distinguished_by_their_ids() -> None:
    assert calls_of(part(0, "c1", name="add", arguments="{}"), part(0, "c2", name="add", arguments="{}")) == [
        ("c1", "add", "{}"),
        ("c2", "add", "{}"),
    ]


def test_a_name_repeated_in_every_chunk_is_used_once() -> None:
    assert calls_of(part(0, "c1", name="add", arguments="{"), part(0, "c1", name="add", arguments="}")) == [
        ("c1", "add", "{}")
    ]


def test_arguments_sent_as_an_object_become_text() -> None:
    assert calls_of(part(0, "c1", name="add", arguments={"a": 1})) == [("c1", "add", '{"a": 1}')]


def test_content_in_parts_and_a_refusal_are_text() -> None:
    assert (
        reply_of(delta(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])).text == "ab"
    )
    assert (
        reply_of(delta(content=None, refusal="I cannot help with that.")).text == "I cannot help with that."
    )


def test_surrogate_halves_are_joined_and_a_lone_one_is_replaced() -> None:
    assert reply_of(delta(content="\ud83d"), delta(content="\ude00")).text == "😀"
    assert reply_of(delta(tool_calls=[part(0, "c", name="f", arguments='"\ud83d"')])).tool_calls == (
        ToolCall(id="c", name="f", arguments='"\ufffd"'),
    )


def test_a_stream_with_a_finish_reason_is_complete() -> None:
    streamed = StreamedReply()
    assert streamed.reply() is None

    streamed.add(delta(content="It is 5."))
    assert streamed.reply() is None

    streamed.add(delta("stop"))
    assert streamed.reply() is not None


def test_a_stream_with_usage_is_complete_too() -> None:
    streamed = StreamedReply()

    streamed.add({"choices": [], "usage": {"prompt_tokens": 1}})

    assert streamed.reply() is not None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "content",
                    "refusal",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "index",
                    "id",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "delta"]), json_values), max_size=4))
def test_no_chunk_breaks_the_reader(chunks: list[dict[str, Any]]) -> None:
    reply = reply_of(*chunks)

    assert all(isinstance(call.arguments, str) and isinstance(call.name, str) for call in reply.tool_calls)
