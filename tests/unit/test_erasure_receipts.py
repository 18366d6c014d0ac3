"""Receipts of erasures: their sums, their counts by name, and the text of a reset."""

from dataclasses import fields

import pytest

from bot.transport.texts import receipt_text
from bot.transport.words import words_for
from memory.erasure import ErasureReceipt, sum_receipts
from memory.keys import RecordCounts

NOTHING = RecordCounts()
WORDS = words_for("en")


def make_receipt(
    erased: RecordCounts = NOTHING, *, left: RecordCounts = NOTHING, vectors: int = 0, updates: int = 0
) -> ErasureReceipt:
    return ErasureReceipt(erased=erased, left=left, vectors_erased=vectors, updates_forgotten=updates)


def test_a_sum_adds_every_field() -> None:
    one = make_receipt(RecordCounts(messages=1, talk=2), left=RecordCounts(people=3), vectors=4, updates=5)

    assert sum_receipts([]) == make_receipt()
    assert sum_receipts([one, one]) == make_receipt(
        RecordCounts(messages=2, talk=4), left=RecordCounts(people=6), vectors=8, updates=10
    )


def test_a_sum_with_an_unknown_number_is_unknown() -> None:
    unknown = ErasureReceipt(erased=NOTHING, left=NOTHING, vectors_left=None)

    assert sum_receipts([make_receipt(), unknown, make_receipt()]) == unknown


def test_the_counts_name_every_record_and_every_fact() -> None:
    facts = {field.name for field in fields(ErasureReceipt)} - {"erased", "left", "missing", "unclean"}
    records = {f"{field.name}_erased" for field in fields(RecordCounts)}

    assert set(make_receipt().counts()) == facts | records | {"messages_left", "others_left"}


@pytest.mark.parametrize("field", [field.name for field in fields(RecordCounts)])
def test_a_record_without_words_of_its_own_is_a_real_erasure(field: str) -> None:
    text = receipt_text(WORDS, make_receipt(RecordCounts(**{field: 1})), of="chat")

    assert text.startswith(WORDS("reset-chat"))
    assert text.endswith(WORDS("receipt-proven"))


def test_a_reset_that_erased_nothing_says_so() -> None:
    assert receipt_text(WORDS, make_receipt(), of="chat") == WORDS("reset-nothing")
    assert receipt_text(WORDS, make_receipt(vectors=1), of="chat") != WORDS("reset-nothing")
    assert receipt_text(WORDS, make_receipt(updates=1), of="chat") != WORDS("reset-nothing")
