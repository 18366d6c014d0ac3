"""A preview of any text fits, can be encoded, and names its contents."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.artifacts.preview import preview

anything = st.text(st.characters(), max_size=300)  # lone surrogates too
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(anything, inner, max_size=8),
    max_leaves=40,
)
sizes = st.integers(0, 1500)
pieces = st.sampled_from(
    ["a", ",", "\t", ";", "|", "---", "\n", '"', "{", "}", "[", "]", ":", " ", "\ud800", "1"]
)
broken = st.lists(pieces, max_size=80).map("".join)


@given(
    st.one_of(anything, broken, values.map(json.dumps), st.lists(values.map(json.dumps)).map("\n".join)),
    sizes,
)
def test_i06_a_preview_fits_and_can_be_encoded(text: str, at_most: int) -> None:
    shown = preview(text, at_most=at_most)

    assert len(shown) <= at_most
    shown.encode()


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), values, min_size=1, max_size=5
    )
)
def test_i06_with_enough_room_every_key_of_an_object_is_shown(value: dict[str, object]) -> None:
    lines = preview(json.dumps(value), at_most=100_000).split("\n")

    assert lines[0] == f"JSON object, {len(value)} key{'s' if len(value) > 1 else ''}:"
    keys = [line for line in lines[1:] if line.startswith('  "')]
    assert len(keys) == len(value)
    for key, line in zip(value, keys, strict=True):
        assert line.startswith(f"  {json.dumps(key, ensure_ascii=False)}: ")


@given(
    st.lists(st.dictionaries(st.sampled_from("abcde"), st.integers(), max_size=5), min_size=1, max_size=30)
)
def test_i06_the_keys_of_rows_are_counted_over_all_rows(rows: list[dict[str, int]]) -> None:
    shown = preview(json.dumps(rows), at_most=100_000)

    for key in "abcde":
        number = sum(key in row for row in rows)
        assert (f'"{key}" in {number}' in shown) == (number > 0)
    assert f"array of {len(rows)} object" in shown
