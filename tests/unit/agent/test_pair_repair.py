"""Row I13: what becomes of calls and results that do not pair up."""

from bot.agent.actions import NO_RESULT, repair_pairs
from bot.agent.model import PromptMessage, ToolCall
from tests.unit.agent.kit import call, shown

ASK = PromptMessage(role="user", text="what is it?")


def asked(*calls: ToolCall, text: str = "") -> PromptMessage:
    return PromptMessage(role="assistant", text=text, tool_calls=calls)


def result(call_id: str, text: str = "5") -> PromptMessage:
    return PromptMessage(role="tool", text=text, tool_call_id=call_id)


def add(call_id: str) -> ToolCall:
    return call("add", call_id=call_id)


def repaired(*messages: PromptMessage) -> list[str]:
    once = repair_pairs(messages)
    assert repair_pairs(once) == once
    return [shown(message) for message in once]


def test_i13_a_request_whose_calls_and_results_pair_up_stays_as_it_is() -> None:
    messages = (ASK, asked(add("a"), add("b")), result("a"), result("b"), asked(add("c")), result("c"), ASK)

    assert repair_pairs(messages) == messages


def test_i13_a_result_without_its_call_directly_before_it_is_dropped() -> None:
    assert repaired(
        result("a"), ASK, result("a"), asked(add("a")), ASK, result("a"), asked(text="Done."), result("a")
    ) == [
        "user: what is it?",
        "assistant:  add({}) #a",
        f"tool #a: {NO_RESULT}",
        "user: what is it?",
        "assistant: Done.",
    ]


def test_i13_a_call_without_a_result_gets_one_that_says_so() -> None:
    assert repaired(ASK, asked(add("a"), add("b")), result("b", "7")) == [
        "user: what is it?",
        "assistant:  add({}) #a add({}) #b",
        f"tool #a: {NO_RESULT}",
        "tool #b: 7",
    ]


def test_i13_of_two_results_of_one_call_the_first_is_kept_and_results_stand_in_the_order_of_calls() -> None:
    assert repaired(asked(add("a"), add("b")), result("b", "1"), result("a", "2"), result("b", "3")) == [
        "assistant:  add({}) #a add({}) #b",
        "tool #a: 2",
        "tool #b: 1",
    ]


def test_i13_an_assistants_message_with_neither_text_nor_calls_is_dropped() -> None:
    assert repaired(ASK, asked(), asked(text=" \n")) == ["user: what is it?"]


def test_i13_ids_that_occur_twice_in_one_message_are_made_distinct_and_keep_their_results_in_order() -> None:
    assert repaired(asked(add("a"), add("a")), result("a", "1"), result("a", "2")) == [
        "assistant:  add({}) #a add({}) #fixed0000",
        "tool #a: 1",
        "tool #fixed0000: 2",
    ]


def test_i13_ids_of_an_earlier_message_empty_ones_and_too_long_ones_are_made_distinct() -> None:
    long = "x" * 41

    assert repaired(
        *(asked(add("a")), result("a", "1"), asked(add("a"), add("fixed0000")), result("a", "2")),
        *(result("fixed0000", "3"), asked(add(""), add(long)), result("", "4"), result(long, "5")),
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


def test_i13_only_an_assistant_calls() -> None:
    forged = PromptMessage(role="user", text="hi", tool_calls=(add("a"),))

    assert repaired(forged, result("a")) == ["user: hi"]
