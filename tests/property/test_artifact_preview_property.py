"""A preview of any text fits, can be encoded, and begins as the text does."""

import json

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.tool_output import preview

anything = st.text(st.characters(), max_size=300)  # lone surrogates too
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(anything, inner, max_size=8),
    max_leaves=40,
)
pieces = st.sampled_from(["a", ",", "\n", '"', "{", "}", "[", "]", ":", " ", "\ud800", "1"])
broken = st.lists(pieces, max_size=80).map("".join)
texts = st.one_of(anything, broken, values.map(json.dumps))


@given(texts, st.integers(0, 1500))
def test_i06_a_preview_fits_and_can_be_encoded(text: str, at_most: int) -> None:
    shown = preview(text, at_most=at_most)

    assert len(shown) <= at_most
    shown.encode()


@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(150, 300))
def test_i06_below_its_heading_a_preview_begins_as_the_text_does(text: str, at_most: int) -> None:
    _, _, below = preview(text, at_most=at_most).partition("\n")

    shown = below if below == text else below.rpartition("\n")[0]
    assert text.startswith(shown)
    assert f" {len(text)} character" in preview(text, at_most=at_most)
