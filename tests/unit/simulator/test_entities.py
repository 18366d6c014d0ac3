"""Entities as Telegram parses and nests them."""

from typing import Any

import pytest

from simulator.api.entities import Entity, nested, parse_entities
from simulator.api.errors import BadRequest

pytestmark = pytest.mark.slow


def span(kind: str, offset: int, end: int) -> Entity:
    return Entity(type=kind, offset=offset, length=end - offset)


def spans(entities: list[Entity]) -> list[tuple[str, int, int]]:
    return [(entity.type, entity.offset, entity.end) for entity in entities]


def test_each_type_keeps_its_extra_field() -> None:
    given = [
        {"type": "text_link", "offset": 0, "length": 1, "url": "Example.com"},
        {"type": "pre", "offset": 1, "length": 1, "language": "python"},
        {"type": "text_mention", "offset": 2, "length": 1, "user": {"id": 7}},
        {"type": "custom_emoji", "offset": 3, "length": 1, "custom_emoji_id": "55"},
        {"type": "date_time", "offset": 4, "length": 1, "unix_time": 1700000000},
        {"type": "bold", "offset": 5, "length": 1, "url": "ignored"},
    ]
    details = [entity.detail for entity in parse_entities(given)]
    assert details == ["http://example.com/", "python", 7, "55", 1700000000, None]


def test_entity_types_that_telegram_detects_itself_are_ignored() -> None:
    assert parse_entities([{"type": "url", "offset": 0, "length": 5}]) == []


def test_only_the_first_hundred_entities_count() -> None:
    many = [{"type": "bold", "offset": 2 * n, "length": 1} for n in range(101)]
    assert [entity.offset for entity in parse_entities(many)] == list(range(0, 200, 2))


def test_a_value_that_is_no_list_means_no_entities() -> None:
    assert parse_entities({"type": "bold"}) == []
    assert parse_entities(None) == []


@pytest.mark.parametrize(
    ("entity", "wording"),
    [
        ("bold", "can't parse MessageEntity: expected an Object"),
        (
            {"type": "shiny", "offset": 0, "length": 1},
            "can't parse MessageEntity: Unsupported type specified",
        ),
        ({"type": "", "offset": 0, "length": 1}, "can't parse MessageEntity: Type is not specified"),
        ({"type": "bold", "length": 1}, "can't parse MessageEntity: Can't find field \"offset\""),
        ({"offset": 0, "length": 1}, "can't parse MessageEntity: Can't find field \"type\""),
        (
            {"type": "bold", "offset": "x", "length": 1},
            'can\'t parse MessageEntity: Field "offset" must be a Number',
        ),
        (
            {"type": 4, "offset": 0, "length": 1},
            'can\'t parse MessageEntity: Field "type" must be of type String',
        ),
        ({"type": "bold", "offset": -1, "length": 1}, "receive an entity with incorrect offset -1"),
        ({"type": "bold", "offset": 0, "length": -2}, "receive an entity with incorrect length -2"),
        (
            {"type": "text_link", "offset": 0, "length": 1},
            "can't parse MessageEntity: Can't find field \"url\"",
        ),
        (
            {"type": "text_mention", "offset": 0, "length": 1},
            "can't parse MessageEntity: Can't find field \"user\"",
        ),
        (
            {"type": "text_link", "offset": 0, "length": 1, "url": "nodot"},
            "entity URL 'nodot' is invalid: Wrong HTTP URL",
        ),
    ],
)
def test_an_invalid_entity_is_refused_in_telegrams_words(entity: Any, wording: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        parse_entities([entity])
    assert str(refusal.value) == f"Bad Request: {wording}"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (  # styles that cross are cut where the second begins
            [span("bold", 0, 5), span("italic", 3, 8)],
            [("bold", 0, 3), ("italic", 3, 8), ("bold", 3, 5)],
        ),
        (  # styles of one type that touch are one
            [span("bold", 0, 3), span("bold", 3, 6), span("bold", 5, 9)],
            [("bold", 0, 9)],
        ),
        (  # nothing is styled inside code
            [span("bold", 0, 10), span("code", 3, 6)],
            [("bold", 0, 3), ("code", 3, 6), ("bold", 6, 10)],
        ),
        (  # of two links, codes or mentions that overlap the first stays
            [span("pre", 0, 8), span("code", 2, 4), span("text_link", 6, 12)],
            [("pre", 0, 8)],
        ),
        (  # a style around a link is cut at its borders
            [span("italic", 0, 9), span("text_link", 3, 6)],
            [("italic", 0, 3), ("text_link", 3, 6), ("italic", 3, 6), ("italic", 6, 9)],
        ),
        (  # quotes do not nest, and hold what lies inside them
            [span("blockquote", 0, 9), span("blockquote", 2, 4), span("code", 3, 5)],
            [("blockquote", 0, 9), ("code", 3, 5)],
        ),
        (  # what crosses the border of a quote goes
            [span("blockquote", 4, 9), span("code", 2, 6), span("bold", 2, 6)],
            [("bold", 2, 4), ("blockquote", 4, 9), ("bold", 4, 6)],
        ),
    ],
)
def test_overlapping_entities_are_split_as_telegram_does(
    given: list[Entity], kept: list[tuple[str, int, int]]
) -> None:
    assert spans(nested(given)) == kept
