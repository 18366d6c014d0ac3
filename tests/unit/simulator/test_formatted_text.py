"""Texts as Telegram stores them: cleaned, trimmed, and with detected entities."""

import pytest

from simulator.api.entities import Entity, find_entities
from simulator.api.errors import BadRequest
from simulator.api.formatted_text import format_text
from simulator.api.utf16 import utf16_length, utf16_slice

pytestmark = pytest.mark.slow


def bold(offset: int, length: int) -> Entity:
    return Entity(type="bold", offset=offset, length=length)


def entities_of(text: str) -> list[tuple[str, str]]:
    return [(one.type, utf16_slice(text, one.offset, one.length)) for one in find_entities(text)]


def test_characters_beyond_the_basic_plane_count_twice() -> None:
    assert (utf16_length("a😀ü"), utf16_slice("a😀ü", 1, 2)) == (4, "😀")


def test_blanks_around_a_text_are_trimmed_and_its_entities_moved() -> None:
    formatted = format_text(" \n hello world \n", [bold(3, 5)])
    assert (formatted.text, formatted.entities) == ("hello world", (bold(0, 5),))


def test_leading_blanks_of_an_entity_are_excluded_and_trailing_ones_are_not() -> None:
    assert format_text("a  b  c", [bold(1, 4)]).entities == (bold(3, 2),)


def test_an_entity_of_blanks_is_dropped() -> None:
    assert format_text("a   b", [bold(1, 2)]).entities == ()


def test_an_indentation_stays_where_an_entity_begins_with_it() -> None:
    formatted = format_text("\n\n  a b ", [Entity(type="pre", offset=2, length=4)])
    assert formatted.text == "  a b"
    assert format_text("  a b", [bold(4, 1)]).text == "a b"


def test_control_characters_become_blanks_and_carriage_returns_are_removed() -> None:
    formatted = format_text("a\tb\r\nc\x00d", [bold(4, 2)])
    assert (formatted.text, formatted.entities) == ("a b\nc d", (bold(4, 1),))


def test_direction_overrides_are_removed_and_shorten_their_entity() -> None:
    formatted = format_text("ab\u202ecd", [bold(1, 3)])
    assert (formatted.text, formatted.entities) == ("abcd", (bold(1, 2),))


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\t\x01", "\r"])
def test_a_text_of_blanks_is_empty(text: str) -> None:
    assert format_text(text).text == ""


def test_a_style_is_split_at_the_borders_of_an_address() -> None:
    formatted = format_text("see example.com ok", [bold(0, 18)])
    kinds = [(one.type, one.offset, one.length) for one in formatted.entities]
    assert kinds == [("bold", 0, 4), ("url", 4, 11), ("bold", 4, 11), ("bold", 16, 2)]


def test_nothing_is_detected_inside_code() -> None:
    code = Entity(type="code", offset=0, length=12)
    assert format_text("/start @olga", [code]).entities == (code,)


@pytest.mark.parametrize(
    ("entity", "wording"),
    [
        (bold(9, 1), "entity begins after the end of the text at UTF-16 offset 9"),
        (bold(1, 4), "entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 5"),
        (bold(2, 1), "entity begins in a middle of a UTF-16 symbol at byte offset 5"),
        (
            bold(0, 2),
            "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 5",
        ),
    ],
)
def test_an_entity_outside_the_text_or_inside_a_character_is_refused(entity: Entity, wording: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        format_text("a😀b", [entity])
    assert str(refusal.value) == f"Bad Request: {wording}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi @olga, @x and a@b", [("mention", "@olga")]),
        ("/start now", [("bot_command", "/start")]),
        ("do /reset@mnemogram_bot all", [("bot_command", "/reset@mnemogram_bot")]),
        ("a/b 1/2 //x /", []),
        ("#tag #1 #1a ##b x#y", [("hashtag", "#tag"), ("hashtag", "#1a")]),
        ("#ключ", [("hashtag", "#ключ")]),
        ("write to ann.lee@example.com.", [("email", "ann.lee@example.com")]),
        ("see https://example.org/a_(b)?q=1#f.", [("url", "https://example.org/a_(b)?q=1#f")]),
        ("(example.com)", [("url", "example.com")]),
        ("file.py 3.14 e.g. notes.txt", []),
        ("😀 @chiara", [("mention", "@chiara")]),
        ("https://example.com/@olga/#x", [("url", "https://example.com/@olga/#x")]),
    ],
)
def test_the_entities_that_telegram_detects_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert entities_of(text) == expected
