"""Splitting of long pastes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.utf16 import split_paste, utf16_length

pytestmark = pytest.mark.slow


def test_a_paste_is_cut_at_the_best_place_near_its_end() -> None:
    blank_line = "a" * 50 + "\n\n" + "b " * 20 + "c. d\ne" + "f" * 20
    assert split_paste(blank_line, 100)[0] == "a" * 50
    assert split_paste("a" * 50 + "\n" + "b. c " * 10, 100)[0] == "a" * 50
    assert split_paste("a" * 50 + ". " + "b c" * 20, 100)[0] == "a" * 50 + "."
    assert split_paste("a" * 90 + " " + "b" * 20, 100) == ["a" * 90, "b" * 20]
    assert split_paste("a" * 150, 100) == ["a" * 100, "a" * 50]


def test_a_good_place_too_far_from_the_end_is_not_used() -> None:
    assert [len(part) for part in split_paste("a" * 100 + "\n\n" + "b" * 4000, 4096)] == [4096, 6]


@given(st.text(st.sampled_from("a. \n😀é"), max_size=400))
def test_no_part_is_too_long_and_only_blanks_are_lost(text: str) -> None:
    parts = split_paste(text, 50)
    assert all(0 < utf16_length(part) <= 50 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
