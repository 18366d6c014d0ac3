"""Repair of calls and results that do not pair up (I13)."""

from bot.agent.actions import NO_RESULT, repair_pairs
from bot.agent.model import PromptMessage, ToolCall
from tests.unit.agent.kit import call, rendered_message

ASK = PromptMessage(role="user", text="what is it?")


def make_call(*calls: ToolCall, text: str = "") -> PromptMessage:
    return PromptMessage(role="assistant", text=text, tool_calls=calls)


def result(call_id: str, text: str = "5") -> PromptMessage:
    return PromptMessage(role="tool", text=text, tool_call_id=call_id)


def add(call_id: str) -> ToolCall:
    return call("add", call_id=call_id)


def repaired(*messages: PromptMessage) -> list[str]:
    once = repair_pairs(messages)
    assert repair_pairs(once) == once
    return [rendered_message(message) for message in once]


def test_i13_a_valid_request_stays_unchanged() -> None:
    messages = (
        ASK,
        make_call(add("a"), add("b")),
        result("a"),
        result("b"),
        make_call(add("c")),
        result("c"),
        ASK,
    )

    assert repair_pairs(messages) == messages


def test_i13_a_result_without_its_call_directly_before_it_is_dropped() -> None:
    assert repaired(
        result("a"),
        ASK,
        result("a"),
        make_call(add("a")),
        ASK,
        result("a"),
        make_call(text="Done."),
        result("a"),
    ) == [
        "user: what is it?",
        "assistant:  add({}) #a",
        f"tool #a: {NO_RESULT}",
        "user: what is it?",
        "assistant: Done.",
    ]


def test_i13_a_call_without_a_result_gets_a_placeholder() -> None:
    assert repaired(ASK, make_call(add("a"), add("b")), result("b", "7")) == [
        "user: what is it?",
        "assistant:  add({}) #a add({}) #b",
        f"tool #a: {NO_RESULT}",
        "tool #b: 7",
    ]


def test_i13_the_first_of_two_results_is_kept_and_results_follow_the_order_of_calls() -> None:
    assert repaired(make_call(add("a"), add("b")), result("b", "1"), result("a", "2"), result("b", "3")) == [
        "assistant:  add({}) #a add({}) #b",
        "tool #a: 2",
        "tool #b: 1",
    ]


def test_i13_an_assistant_message_without_text_and_calls_is_dropped() -> None:
    assert repaired(ASK, make_call(), make_call(text=" \n")) == ["user: what is it?"]


def test_i13_repeated_ids_in_one_message_become_unique_and_keep_their_results() -> None:
    assert repaired(make_call(add("a"), add("a")), result("a", "1"), result("a", "2")) == [
        "assistant:  add({}) #a add({}) #fixed0000",
        "tool #a: 1",
        "tool #fixed0000: 2",
    ]


def test_i13_repeated_empty_and_long_ids_become_unique() -> None:
    long = "x" * 41

    assert repaired(
        *(make_call(add("a")), result("a", "1"), make_call(add("a"), add("fixed0000")), result("a", "2")),
        *(result("fixed0000", "3"), make_call(add(""), add(long)), result("", "4"), result(long, "5")),
    ) == [
        "assistant:  add({}) #a",
        "tool #a: 1",
        "assistant:  add({}) #fixed0001 add({}) #fixed0000",
        "tool #fixed0001: 2",
        "tool #fixed0000: 3",
        "assistant:  add({}) #fixed0002 add({}) #fixed0003",
        "tool #fixed0002: 4",
        "tool #fixed0003: 5",
    ]


def test_i13_calls_of_other_roles_are_dropped() -> None:
    forged = PromptMessage(role="user", text="hi", tool_calls=(add("a"),))

    assert repaired(forged, result("a")) == ["user: hi"]
