"""Splitting of long rich texts into messages."""

from dataclasses import replace

import pytest

from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.splitting import split

FAMILY = "👨‍👩‍👧"


def texts(text: str, limit: int, entities: tuple[Entity, ...] = ()) -> list[str]:
    return [part.text for part in split(RichText(text=text, entities=entities), limit)]


def test_a_short_text_is_one_unchanged_part() -> None:
    rich = RichText(text="short", entities=(Entity(type="bold", offset=0, length=5),))

    assert split(rich) == [rich]


@pytest.mark.parametrize("blank", ["", " \n ", "\u200b" * 5000])
def test_a_blank_text_has_no_parts(blank: str) -> None:
    assert split(RichText(text=blank)) == []


def test_a_limit_below_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogate pair, not for 1 units"):
        split(RichText(text="a"), 1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one two three\n\nfour\nfive", ["one two three", "four\nfive"]),
        ("one two. three\nfour five six", ["one two. three", "four five six"]),
        ("one two. (Three!) four five six", ["one two. (Three!)", "four five six"]),
        ("一二三四五六七八九。十一二三四五六七八九十", ["一二三四五六七八九。", "十一二三四五六七八九十"]),
        ("one two three four five six", ["one two three four", "five six"]),
        ("a" * 45, ["a" * 20, "a" * 20, "a" * 5]),
    ],
)
def test_a_cut_is_at_the_best_place_of_the_second_half(text: str, parts: list[str]) -> None:
    assert texts(text, 20) == parts


def test_an_early_cut_is_better_than_a_cut_word() -> None:
    assert texts("see\n" + "x" * 18, 20) == ["see", "x" * 18]


def test_a_cut_exactly_at_the_limit_wastes_nothing() -> None:
    assert texts("a" * 20 + "\n" + "b" * 20, 20) == ["a" * 20, "b" * 20]


@pytest.mark.parametrize(
    "grapheme",
    [
        "😀",
        FAMILY,
        "e\u0301\u0323",
        "🇵🇹",
        "👍🏽",
        "❤\ufe0f",
        "\u1100\u1161\u11a8",
        "\uac00\u11a8",
        "क्ष",
        "กำ",
        "\u0600\u0661",
    ],
)
def test_a_grapheme_is_never_cut(grapheme: str) -> None:
    parts = texts(grapheme * 20, 21)

    assert "".join(parts) == grapheme * 20
    assert len(parts) > 1
    assert all(part == grapheme * (len(part) // len(grapheme)) for part in parts)


def test_a_grapheme_longer_than_a_part_is_cut_between_code_points() -> None:
    parts = texts("a" + "\u0301" * 300, 50)

    assert "".join(parts) == "a" + "\u0301" * 300
    assert all(len(part) <= 50 for part in parts)


def test_a_continued_code_block_keeps_its_language_and_indentation() -> None:
    code = "def f():\n    x = 1\n\n    return x"
    pre = Entity(type="pre", offset=0, length=len(code), language="py")

    first, second = split(RichText(text=code, entities=(pre,)), 24)

    assert first == RichText(
        text="def f():\n    x = 1", entities=(Entity(type="pre", offset=0, length=18, language="py"),)
    )
    assert second == RichText(
        text="    return x", entities=(Entity(type="pre", offset=0, length=12, language="py"),)
    )


def test_a_cut_before_a_code_block_is_better_than_one_inside() -> None:
    text = "a few words first\nx = 1\n\ny = 2\nz = 3"
    pre = Entity(type="pre", offset=18, length=18)

    assert texts(text, 32, (pre,)) == ["a few words first", "x = 1\n\ny = 2\nz = 3"]


def test_a_code_block_after_a_cut_keeps_its_first_indentation() -> None:
    text = "some words here\n    x = 1"
    pre = Entity(type="pre", offset=16, length=9)

    assert texts(text, 20, (pre,)) == ["some words here", "    x = 1"]


def test_indentation_beyond_the_limit_is_dropped() -> None:
    text = " " * 50 + "x"

    assert texts(text, 20, (Entity(type="pre", offset=0, length=51),)) == ["x"]


def test_nested_formatting_and_links_continue_in_the_next_part() -> None:
    text = "😀 one two three four"
    entities = (
        Entity(type="text_link", offset=0, length=21, url="https://a.bc"),
        Entity(type="bold", offset=3, length=9),
    )

    first, second = split(RichText(text=text, entities=entities), 11)

    assert first == RichText(
        text="😀 one two",
        entities=(
            Entity(type="text_link", offset=0, length=10, url="https://a.bc"),
            Entity(type="bold", offset=3, length=7),
        ),
    )
    assert second == RichText(
        text="three four",
        entities=(
            Entity(type="text_link", offset=0, length=10, url="https://a.bc"),
            Entity(type="bold", offset=0, length=1),
        ),
    )


def test_a_part_has_at_most_a_hundred_entities() -> None:
    text = "ab\n" * 250
    entities = tuple(Entity(type="bold", offset=3 * line, length=2) for line in range(250))

    parts = split(RichText(text=text, entities=entities))

    assert [len(part.entities) for part in parts] == [100, 100, 50]
    assert "\n".join(part.text for part in parts) == text.strip()


def test_only_a_hundred_entities_at_one_place_are_kept() -> None:
    bold = Entity(type="bold", offset=0, length=1)

    (part,) = split(RichText(text="ab", entities=(bold,) * 150))

    assert part.entities == (bold,) * 100


def test_entities_outside_the_text_are_dropped() -> None:
    entities = (
        Entity(type="bold", offset=1, length=1),
        Entity(type="bold", offset=0, length=9),
        Entity(type="bold", offset=-1, length=2),
    )

    assert split(RichText(text="😀a", entities=entities)) == [RichText(text="😀a")]


def test_a_part_of_invisible_characters_is_dropped() -> None:
    assert texts("a" * 20 + "\n" + "\u200b" * 20 + "\nb", 20) == ["a" * 20, "b"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["word ", "a", "🇵🇹", "a\u0301", " ", "line\n", "Yes. "])
def test_a_megabyte_is_split_quickly(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))

    parts = split(RichText(text=text))

    assert all(utf16_length(part.text) <= 4096 for part in parts)
    assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())


def test_short_formatting_and_lines_of_code_stay_whole() -> None:
    text = "one two six three four five"
    link = Entity(type="text_link", offset=12, length=10, url="https://a.bc")
    code = "a = 1\nbb = 2 + 3 + 4"

    assert texts(text, 20, (link,)) == ["one two six", "three four five"]
    assert texts(text, 20, (replace(link, offset=4, length=23),)) == ["one two six three", "four five"]
    assert texts(code, 18, (Entity(type="pre", offset=0, length=len(code)),)) == ["a = 1", "bb = 2 + 3 + 4"]
    assert texts("字字字字字字字字", 6, (Entity(type="bold", offset=5, length=2),)) == [
        "字字字字字",
        "字字字",
    ]
