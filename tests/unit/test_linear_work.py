"""Work on texts grows linearly with their length, whatever they consist of, and so does the size of the result."""

import sys
import unicodedata
from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest

from bot.features.voice.speech import spoken_text
from bot.transport.rendering import render_messages
from bot.transport.unfinished import ending, without_loose_ends
from tests.text_work import CATEGORIES, FUNCTIONS, UNITS, Hostile, alone, cpu_s, in_pairs

SMALL, LARGE = 4_000, 16_000
CHEAP_S = 0.015
"""CPU for SMALL characters. Less is taken for linear, because no clock measures it well."""
GROWTH = 9
"""Four times as long a text takes 4 times as long by linear work, and 16 times by quadratic work."""
LIMIT_S = 2.0
TRIES = 3
"""The machine may be busy: the least of so many times counts."""
SAMPLED = 6
"""Of the pairs; `benchmarks/linear.py --pairs` takes all of them."""
SAMPLED_ONLY = {"arguments", "index", "question", "repairs", "reply"}
"""Functions that read up to a limit or have a budget, and one more that renders. They are slow, so that samples are
enough here."""


def not_linear(function: str, texts: Iterable[Hostile]) -> list[str]:
    """Return the texts whose CPU time grows faster than their length."""
    work = FUNCTIONS[function]
    work("a **word**")  # loads what is loaded once
    found: list[str] = []
    for text in texts:
        small, large = cpu_s(work, text.build(SMALL), limit_s=LIMIT_S), float("inf")
        if small <= CHEAP_S:
            continue
        for _ in range(TRIES):
            small = min(small, cpu_s(work, text.build(SMALL), limit_s=LIMIT_S))
            large = min(large, cpu_s(work, text.build(LARGE), limit_s=LIMIT_S))
            if large <= min(GROWTH * max(small, CHEAP_S), LIMIT_S):
                break
        else:
            found.append(f"{text.name}: {small:.3f} s for {SMALL} characters, {large:.3f} s for {LARGE}")
    return found


def test_there_is_a_character_of_each_category() -> None:
    every = {unicodedata.category(chr(code)) for code in range(sys.maxunicode + 1)}

    assert {name: unicodedata.category(each) for name, each in CATEGORIES.items()} == {
        name: name for name in every
    }


@pytest.mark.slow
@pytest.mark.parametrize("function", sorted(FUNCTIONS.keys() - SAMPLED_ONLY))
def test_work_is_linear_for_each_mark_and_category(function: str) -> None:
    assert not_linear(function, alone()) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_work_is_linear_for_some_texts_and_pairs(function: str) -> None:
    random = Random(31)
    pairs = random.sample([*combinations(UNITS, 2)], SAMPLED)
    texts = [*random.sample(alone(), SAMPLED), *(text for pair in pairs for text in in_pairs(*pair))]

    assert not_linear(function, texts) == []


@pytest.mark.parametrize("text", alone(), ids=lambda text: text.name)
def test_a_result_is_at_most_twice_as_long_as_its_source(text: Hostile) -> None:
    source = text.build(SMALL)
    most = 2 * len(source) + 4_000

    assert sum(len(part.text) for part in render_messages(source)) <= most
    assert len(spoken_text(source)) <= most
    assert len(without_loose_ends(source)) <= most
    assert len(ending(source)) <= most
