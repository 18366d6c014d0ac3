"""Receipts of erasures: their sums, their counts by name, and the text of a reset."""

from dataclasses import fields

import pytest

from bot.transport.texts import details_buttons, details_text, receipt_text
from bot.transport.words import words_for
from memory.erasure import ErasureReceipt, sum_receipts
from memory.history.store import RecordCounts

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
    facts = {field.name for field in fields(ErasureReceipt)} - {
        "erased",
        "left",
        "missing",
        "unclean",
        "not_copied",
    }
    records = {f"{field.name}_erased" for field in fields(RecordCounts)}

    assert set(make_receipt().counts()) == facts | records | {"messages_left", "others_left"}


@pytest.mark.parametrize("field", [field.name for field in fields(RecordCounts)])
def test_a_record_without_words_of_its_own_is_a_real_erasure(field: str) -> None:
    text = receipt_text(WORDS, make_receipt(RecordCounts(**{field: 1})), of="chat")

    assert text == f"{WORDS('receipt-proven')}\n{WORDS('reset-chat')}"


def test_a_reset_that_erased_nothing_says_so() -> None:
    assert receipt_text(WORDS, make_receipt(), of="chat") == WORDS("reset-nothing")
    assert receipt_text(WORDS, make_receipt(vectors=1), of="chat") != WORDS("reset-nothing")
    assert receipt_text(WORDS, make_receipt(updates=1), of="chat") != WORDS("reset-nothing")


@pytest.mark.parametrize(
    ("receipt", "begins"),
    [
        (
            ErasureReceipt(erased=NOTHING, left=RecordCounts(messages=2, facts=1, talk=2), vectors_left=4),
            "I checked, and this is still there: 2 messages, 4 search entries, 3 other things. Something new",
        ),
        (ErasureReceipt(erased=NOTHING, left=NOTHING, vectors_left=None), "My search isn't responding"),
        (
            ErasureReceipt(erased=NOTHING, left=RecordCounts(messages=1), vectors_left=None),
            "I checked, and this is still there: 1 message. My search isn't responding",
        ),
        (ErasureReceipt(erased=RecordCounts(messages=1), left=NOTHING), "I checked: nothing is left.\n"),
    ],
)
def test_the_first_sentence_says_what_is_left(receipt: ErasureReceipt, begins: str) -> None:
    text = receipt_text(WORDS, receipt, of="chat")

    assert text.startswith(begins)
    assert text.endswith(WORDS("reset-chat"))


@pytest.mark.parametrize("is_resumed", [False, True])
def test_the_button_has_all_counts(is_resumed: bool) -> None:
    receipt = ErasureReceipt(
        erased=RecordCounts(messages=1_000, facts=2, summaries=3, quotes=4),
        left=NOTHING,
        vectors_erased=700,
        unsent_dropped=8,
    )
    (button,) = details_buttons(WORDS, receipt, is_resumed=is_resumed)

    details = details_text(WORDS, button.data.partition(":")[2])

    assert details.startswith(
        "Erased: 1,000 messages, 2 facts, 700 search entries, 3 summaries, 4 quotations, 8 messages"
    )
    assert (WORDS("forget-interrupted") in details) == is_resumed


def test_counts_that_do_not_fit_into_a_button_have_none() -> None:
    huge = ErasureReceipt(erased=RecordCounts(**dict.fromkeys(NOTHING.by_name(), 10**9)), left=NOTHING)

    assert details_buttons(WORDS, huge) == []
