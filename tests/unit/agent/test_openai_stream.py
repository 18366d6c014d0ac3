"""Replies assembled from the chunks of servers with different habits."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model import ModelReply, ToolCall, Usage
from bot.agent.openai_stream import CALLS, OPAQUE_BYTES, StreamedReply, error_in


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
    streamed.is_done = True
    streamed.end()
    reply = streamed.reply()
    assert reply is not None
    return reply


def ended(*chunks: dict[str, Any], is_done: bool = False) -> ModelReply | None:
    streamed = StreamedReply()
    for chunk in chunks:
        streamed.add(chunk)
    streamed.is_done = is_done
    streamed.end()
    return streamed.reply()


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


def test_a_finish_reason_or_done_completes_a_stream_and_usage_does_not() -> None:
    text = delta(content="It is 5.")
    usage: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 1}}

    assert ended(text, usage) is None
    assert ended(text, delta("stop")) is not None
    assert ended(text, is_done=True) is not None


def test_a_finish_reason_before_more_ends_nothing() -> None:
    streamed = StreamedReply()
    ends: list[bool] = []
    for chunk in (
        delta("stop", content="It"),
        delta("stop", role="assistant", content=""),
        delta("stop", reasoning_content="hm"),
        delta("stop"),
    ):
        streamed.add(chunk)
        ends.append(streamed.has_ended)

    assert ends == [True, True, False, False]


def test_geminis_spelling_of_a_finish_reason_is_read() -> None:
    """jakobdylanc/llmcord#84."""
    last: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": None, "finishReason": "STOP"}]}

    assert ended(delta(content="It is 5."), last) == ModelReply(text="It is 5.", finish_reason="stop")


@pytest.mark.parametrize(
    "reason",
    [
        "error",
        "insufficient_system_resource",
        "abort",
        "MALFORMED_FUNCTION_CALL",
        "network_error",
        "provider_error",
        "OTHER",
    ],
)
def test_a_reason_of_breakage_does_not_complete_a_stream(reason: str) -> None:
    assert ended(delta(content="It"), delta(reason), is_done=True) is None


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("FinishReason.MAX_TOKENS", "length"),
        ("tool_calls", "tool_calls"),
        ("eos", "eos"),
    ],
)
def test_limits_and_filters_have_one_word(said: str, word: str) -> None:
    reply = ended(delta(content="It"), delta(said))

    assert reply is not None
    assert reply.finish_reason == word


def test_one_call_whose_pieces_have_new_ids_is_one_call() -> None:
    assert calls_of(
        part(0, "a", name="add", arguments=""), part(0, "b", arguments='{"a":'), part(0, "c", arguments=" 1}")
    ) == [("a", "add", '{"a": 1}')]


def test_the_old_field_for_one_call_is_read() -> None:
    reply = reply_of(
        delta(function_call={"name": "add", "arguments": ""}), delta(function_call={"arguments": "{}"})
    )

    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("add", "{}")]


def test_more_calls_than_a_reply_may_have_end_it() -> None:
    calls = [part(number, f"c{number}", name="add", arguments="{}") for number in range(2_000)]

    reply = ended(delta(tool_calls=calls))

    assert reply is not None
    assert len(reply.tool_calls) == CALLS
    assert reply.finish_reason == "length"


def test_a_text_and_arguments_have_a_longest_size() -> None:
    streamed = StreamedReply(longest_text=100)
    for _ in range(200):
        streamed.add(delta(content="abc"))
    streamed.end()
    long = ended(delta(tool_calls=[part(0, "c", name="add", arguments="x" * 1_000_000)]))

    reply = streamed.reply()
    assert reply is not None
    assert (len(reply.text), reply.finish_reason) == (100, "length")
    assert long is not None
    assert len(long.tool_calls[0].arguments) == 256 * 1024
    assert long.finish_reason == "length"


def test_unknown_fields_of_message_and_call_are_kept_and_growing_texts_joined() -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    call: dict[str, Any] = {"extra_content": signature, **part(0, "c1", name="add", arguments="{}")}

    reply = reply_of(
        delta(role="assistant", reasoning_content="I should "),
        delta(reasoning_content="add.", content=None),
        delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "I ", "signature": None}]),
        delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "add.", "signature": "s1"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "xyz"}]),
        delta(tool_calls=[call]),
    )

    assert reply.text == ""
    assert json.loads(reply.tool_calls[0].opaque) == {"extra_content": signature}
    assert json.loads(reply.opaque) == {
        "reasoning_content": "I should add.",
        "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "I add.", "signature": "s1"},
            {"type": "reasoning.encrypted", "index": 1, "data": "xyz"},
        ],
    }


def test_a_signature_is_kept_behind_long_thoughts_in_small_pieces() -> None:
    call: dict[str, Any] = {
        "extra_content": {"google": {"thought_signature": "c2ln"}},
        **part(0, "c", name="f"),
    }
    thoughts = [delta(reasoning="x ", reasoning_details=[{"index": 0, "text": "x "}]) for _ in range(30_000)]

    reply = reply_of(
        *thoughts, delta(reasoning_details=[{"index": 0, "signature": "s1"}]), delta(tool_calls=[call])
    )

    assert json.loads(reply.opaque)["reasoning_details"][0]["signature"] == "s1"
    assert json.loads(reply.tool_calls[0].opaque)["extra_content"]["google"]["thought_signature"] == "c2ln"


def test_blocks_without_an_index_end_with_their_signature() -> None:
    pieces = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": "b"},
        {"type": "thinking", "signature": "s"},
    ]

    reply = reply_of(*[delta(thinking_blocks=[piece]) for piece in [*pieces, *pieces]])

    block = {"type": "thinking", "thinking": "ab", "signature": "s"}
    assert json.loads(reply.opaque) == {"thinking_blocks": [block, block]}


def test_a_field_within_the_function_of_a_call_is_kept() -> None:
    reply = reply_of(delta(tool_calls=[part(0, "c", name="f", arguments="{}", thought_signature="s")]))

    assert json.loads(reply.tool_calls[0].opaque) == {"function": {"thought_signature": "s"}}


def test_a_new_id_and_the_name_in_every_piece_are_one_call() -> None:
    assert calls_of(part(0, "a", name="f", arguments='{"a"'), part(0, "b", name="f", arguments=": 1}")) == [
        ("a", "f", '{"a": 1}')
    ]


def test_a_whole_message_beside_the_last_delta_is_not_added() -> None:
    last = {"choices": [{"delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}

    assert reply_of(delta(content="Hello"), last).text == "Hello"


def test_opaque_fields_have_a_largest_size() -> None:
    reply = reply_of(*[delta(reasoning_content="x" * 1_000) for _ in range(500)])

    assert 30_000 < len(reply.opaque) <= OPAQUE_BYTES


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "no", "code": 400}},
        {"error": "no"},
        {"object": "error", "message": "no", "code": 400},
        {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
        {"detail": "no"},
        {"detail": [{"loc": ["body"], "msg": "no"}]},
        {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "no"}},
        {"code": 500, "msg": "no", "success": False},
    ],
)
def test_an_error_in_a_stream_is_found_in_every_form(chunk: dict[str, Any]) -> None:
    error = error_in(chunk)

    assert error is not None
    assert "no" in error.words


NO_ERRORS: list[dict[str, Any]] = [
    delta(content="error"),
    {"choices": [], "usage": {"prompt_tokens": 1}},
    {"choices": [], "prompt_filter_results": [{}]},
    {"code": 0, "message": "Success", "choices": []},
    {"choices": [{}], "error": None, "base_resp": {"status_code": 0, "status_msg": ""}},
    {},
]


@pytest.mark.parametrize("chunk", NO_ERRORS)
def test_a_chunk_without_an_error_has_none(chunk: dict[str, Any]) -> None:
    assert error_in(chunk) is None


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
