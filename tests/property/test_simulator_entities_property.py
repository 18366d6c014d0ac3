"""Any entities that a bot sends end up nested and inside the text, and stay so."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api.entities import QUOTES, STYLES, Entity, find_entities, nested
from simulator.api.errors import BadRequest
from simulator.api.formatted_text import format_text
from simulator.api.utf16 import utf16_length, utf16_slice

pytestmark = pytest.mark.slow

KINDS = [*sorted(STYLES | QUOTES), "code", "pre", "text_link", "text_mention", "custom_emoji"]
TEXTS = st.text(alphabet=st.sampled_from("ab \n\t\r😀é\u202e@#/._1"), max_size=40)


def entities(longest: int) -> st.SearchStrategy[list[Entity]]:
    one = st.builds(
        Entity, type=st.sampled_from(KINDS), offset=st.integers(0, longest), length=st.integers(1, longest)
    )
    return st.lists(one, max_size=12)


def crosses(one: Entity, other: Entity) -> bool:
    return one.offset < other.offset < one.end < other.end


@given(entities(30))
def test_no_two_entities_cross(given_entities: list[Entity]) -> None:
    shaped = nested(given_entities)
    assert not [(one, other) for one in shaped for other in shaped if crosses(one, other)]


@given(entities(30))
def test_normalising_entities_twice_changes_nothing(given_entities: list[Entity]) -> None:
    once = nested(given_entities)
    assert nested(once) == once


@given(entities(30))
def test_only_styles_and_quotes_overlap_other_entities(given_entities: list[Entity]) -> None:
    whole = [one for one in nested(given_entities) if one.type not in STYLES | QUOTES]
    assert all(one.end <= other.offset for one, other in pairwise(whole))


@given(entities(30))
def test_a_style_keeps_its_range_except_in_code(given_entities: list[Entity]) -> None:
    shaped = nested(given_entities)
    code = {place for one in shaped if one.type in {"code", "pre"} for place in range(one.offset, one.end)}
    for kind in STYLES:
        given_places = {p for one in given_entities if one.type == kind for p in range(one.offset, one.end)}
        shaped_places = {p for one in shaped if one.type == kind for p in range(one.offset, one.end)}
        assert shaped_places == given_places - code


@given(TEXTS, entities(45))
def test_a_text_is_refused_or_contains_its_entities(text: str, given_entities: list[Entity]) -> None:
    try:
        formatted = format_text(text, given_entities)
    except BadRequest:
        return
    assert formatted.text == formatted.text.strip(" \n")
    for entity in formatted.entities:
        assert 0 <= entity.offset < entity.end <= formatted.length
        covered = utf16_slice(formatted.text, entity.offset, entity.length)
        assert utf16_length(covered) == entity.length
        assert covered.strip(" \n")
        assert covered[0] not in " \n"


@given(TEXTS, entities(45))
def test_exactly_the_fitting_entities_are_accepted(text: str, given_entities: list[Entity]) -> None:
    boundaries = {utf16_length(text[:index]) for index in range(len(text) + 1)}
    fits = all(one.offset in boundaries and one.end in boundaries for one in given_entities)
    try:
        format_text(text, given_entities)
    except BadRequest:
        assert not fits
    else:
        assert fits


@given(TEXTS)
def test_formatting_a_formatted_text_changes_nothing(text: str) -> None:
    once = format_text(text)
    assert format_text(once.text) == once


@given(st.text(max_size=60))
def test_found_entities_are_disjoint_and_inside_the_text(text: str) -> None:
    found = find_entities(text)
    assert all(one.end <= other.offset for one, other in pairwise(found))
    assert all(one.length > 0 and one.end <= utf16_length(text) for one in found)
