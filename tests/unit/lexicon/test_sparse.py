"""BM25 weights: what a term of a message counts, whatever else is in the index."""

import math

import pytest

from memory.recall.lexicon.sparse import AVERAGE_LENGTH, message_vector, question_vector


def test_a_term_in_a_message_of_average_length_weighs_one() -> None:
    assert message_vector({7: 1}, length=int(AVERAGE_LENGTH)).values == (1.0,)


def test_a_term_said_again_weighs_more_but_never_beyond_the_limit() -> None:
    weights = [message_vector({7: count}, length=20).values[0] for count in (1, 2, 3, 1000)]

    assert weights == sorted(weights)
    assert weights[-1] < 2.2


def test_the_same_term_weighs_less_in_a_longer_message() -> None:
    short, long = (message_vector({7: 1}, length=length).values[0] for length in (3, 300))

    assert long < short


def test_the_formula_is_the_published_one() -> None:
    value = message_vector({7: 2}, length=46).values[0]

    assert value == pytest.approx(2 * 2.2 / (2 + 1.2 * (0.6 + 0.4 * 2)))
    assert math.isfinite(message_vector({7: 1}, length=0).values[0])


def test_no_terms_are_an_empty_vector() -> None:
    assert message_vector({}, length=0).indices == ()
    assert question_vector({}).values == ()


def test_a_question_keeps_its_weights() -> None:
    vector = question_vector({3: 1.0, 1: 0.25})

    assert dict(zip(vector.indices, vector.values, strict=True)) == {3: 1.0, 1: 0.25}
