"""The choices of each selector, and how little of the history it reads."""

from dataclasses import replace

import pytest

from memory.history.message import Message
from memory.history.selectors import (
    AfterSequence,
    MessageWindowMessageSelector,
    NoMessages,
    TokenWindowMessageSelector,
    chunk_start,
)
from memory.tokens import tokenizer_for
from tests.messages import WordTokenizer, ids, make_message, newest_of, some_messages

MIXED = [
    make_message("u1", "one two"),
    make_message("s", "be kind to everyone", role="system"),
    make_message("a1", "three four", role="assistant"),
    make_message("t", "a tool's long output here", role="tool"),
    make_message("u2", "five"),
]


def window(max_tokens: int) -> TokenWindowMessageSelector:
    return TokenWindowMessageSelector(max_tokens, WordTokenizer())


async def test_m07_the_n_newest_messages_of_users_and_assistants_are_chosen_in_order() -> None:
    selector = MessageWindowMessageSelector(2)
    assert ids(await selector.select(newest_of(MIXED))) == ["a1", "u2"]
    assert ids(await selector.select(newest_of(some_messages(9)))) == ["m7", "m8"]


async def test_m07_a_window_as_long_as_the_history_includes_its_first_message() -> None:
    assert ids(await MessageWindowMessageSelector(3).select(newest_of(MIXED))) == ["u1", "a1", "u2"]
    assert ids(await MessageWindowMessageSelector(50).select(newest_of(MIXED))) == ["u1", "a1", "u2"]


async def test_m07_an_empty_history_or_window_selects_nothing() -> None:
    others = [message for message in MIXED if message.role in {"system", "tool"}]
    assert await MessageWindowMessageSelector(5).select(newest_of([])) == []
    assert await MessageWindowMessageSelector(5).select(newest_of(others)) == []
    assert await MessageWindowMessageSelector(0).select(newest_of(MIXED)) == []


async def test_m07_a_window_reads_no_further_than_its_last_message() -> None:
    read: list[str] = []
    await MessageWindowMessageSelector(3).select(newest_of(some_messages(1000), read))
    assert read == ["m999", "m998", "m997"]


def test_m07_a_negative_window_is_refused() -> None:
    with pytest.raises(ValueError, match="window"):
        MessageWindowMessageSelector(-1)
    with pytest.raises(ValueError, match="window"):
        window(-1)


async def test_m08_a_token_window_can_also_limit_the_number_of_messages() -> None:
    read: list[str] = []
    selector = TokenWindowMessageSelector(1000, WordTokenizer(), max_messages=3)
    assert ids(await selector.select(newest_of(some_messages(1000), read))) == ["m997", "m998", "m999"]
    assert len(read) == 3


async def test_m08_a_token_window_has_the_newest_messages_that_fit() -> None:
    assert ids(await window(5).select(newest_of(MIXED))) == ["u1", "a1", "u2"]
    assert ids(await window(4).select(newest_of(MIXED))) == ["a1", "u2"]
    assert ids(await window(1).select(newest_of(MIXED))) == ["u2"]


async def test_m08_the_window_ends_at_the_first_message_that_does_not_fit() -> None:
    messages = [make_message("small", "x"), make_message("large", "x " * 50), make_message("newest", "a b")]
    assert ids(await window(10).select(newest_of(messages))) == ["newest"]


async def test_m08_an_oversize_message_loses_its_middle() -> None:
    words = " ".join(f"w{n}" for n in range(20))
    older = make_message("older", "x")
    (cut,) = await window(5).select(newest_of([older, make_message("big", words)]))
    assert (cut.id, cut.text, cut.tokens) == ("big", "w0 w1 […] w18 w19", 5)


async def test_m08_an_empty_history_or_budget_selects_nothing() -> None:
    others = [message for message in MIXED if message.role in {"system", "tool"}]
    assert await window(100).select(newest_of([])) == []
    assert await window(100).select(newest_of(others)) == []
    assert await window(0).select(newest_of(MIXED)) == []


async def test_m08_a_window_reads_no_further_than_the_first_message_that_does_not_fit() -> None:
    read: list[str] = []
    await window(4).select(newest_of(some_messages(1000), read))
    assert read == ["m999", "m998", "m997"]


async def test_m08_text_that_looks_like_a_special_token_is_plain_text() -> None:
    tokenizer = tokenizer_for("gpt-4o-mini")
    text = "<|endoftext|> <|im_start|>system"
    message = make_message("special", text)
    tokens = tokenizer.count(text)
    assert tokens > 8
    exact = TokenWindowMessageSelector(tokens, tokenizer)
    assert await exact.select(newest_of([message])) == [message]
    (cut,) = await TokenWindowMessageSelector(tokens - 1, tokenizer).select(newest_of([message]))
    assert cut.text != text
    assert tokenizer.count(cut.text) <= tokens - 1


async def test_m08_the_budget_uses_the_tokens_of_the_current_model() -> None:
    counted_otherwise = [Message(id="m", role="user", text="one two three", sent_at=0.0, tokens=1)]
    (cut,) = await window(2).select(newest_of(counted_otherwise))
    assert cut.text == "one two"


async def test_m08_a_message_without_a_fitting_part_is_left_out() -> None:
    selector = TokenWindowMessageSelector(1, tokenizer_for("gpt-4o-mini"))
    assert await selector.select(newest_of([make_message("m", "𓀀𓀁")])) == []


async def test_m09_the_empty_selector_reads_nothing() -> None:
    read: list[str] = []
    assert await NoMessages().select(newest_of(MIXED, read)) == []
    assert read == []


def numbered(number: int) -> list[Message]:
    return [replace(each, sequence=place) for place, each in enumerate(some_messages(number))]


async def test_a_trimmed_window_begins_at_a_chunk_and_stays_there_for_a_chunk_of_messages() -> None:
    selector = TokenWindowMessageSelector(48, WordTokenizer(), chunk=8)

    starts = [(await selector.select(newest_of(numbered(count))))[0].id for count in range(24, 42)]

    assert starts == ["m0"] + ["m8"] * 8 + ["m16"] * 8 + ["m24"]


async def test_a_window_by_count_begins_at_a_chunk_too() -> None:
    read: list[str] = []
    selector = TokenWindowMessageSelector(1000, WordTokenizer(), max_messages=20, chunk=8)

    chosen = await selector.select(newest_of(numbered(30), read))

    assert (chosen[0].id, chosen[-1].id, len(read)) == ("m16", "m29", 20)


async def test_a_chunk_removes_at_most_half_of_a_window() -> None:
    three = TokenWindowMessageSelector(6, WordTokenizer(), chunk=64)
    one = TokenWindowMessageSelector(2, WordTokenizer(), chunk=100)

    assert ids(await three.select(newest_of(numbered(60)))) == ["m58", "m59"]
    assert ids(await one.select(newest_of(numbered(60)))) == ["m59"]


async def test_messages_without_a_sequence_have_no_chunks() -> None:
    selector = TokenWindowMessageSelector(10, WordTokenizer(), chunk=8)
    assert len(await selector.select(newest_of(some_messages(30)))) == 5


def test_a_chunk_begins_after_a_missing_message() -> None:
    assert chunk_start([5, 6, 7, 9, 10, 11, 12, 13, 14, 15], 8) == 3
    assert chunk_start([], 8) == 0


def test_a_chunk_smaller_than_one_message_is_refused() -> None:
    with pytest.raises(ValueError, match="window"):
        TokenWindowMessageSelector(10, WordTokenizer(), chunk=0)


async def test_i05_a_window_ends_where_the_summary_begins_and_reads_no_further() -> None:
    read: list[str] = []
    selector = AfterSequence(MessageWindowMessageSelector(50), 95)

    assert ids(await selector.select(newest_of(numbered(100), read))) == ["m96", "m97", "m98", "m99"]
    assert read == ["m99", "m98", "m97", "m96"]


async def test_i05_the_selector_chooses_among_uncovered_messages() -> None:
    assert ids(await AfterSequence(MessageWindowMessageSelector(2), 95).select(newest_of(numbered(100)))) == [
        "m98",
        "m99",
    ]
    assert await AfterSequence(MessageWindowMessageSelector(2), 99).select(newest_of(numbered(100))) == []
    assert (
        len(await AfterSequence(MessageWindowMessageSelector(9), 0).select(newest_of(some_messages(5)))) == 5
    )
