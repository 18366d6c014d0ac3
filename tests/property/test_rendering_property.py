"""Telegram accepts the rendering of any model output."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.transport.rendering import parse, render, render_messages, render_with
from bot.transport.rich_text import TRIMMED, RichText, to_spans
from bot.transport.splitting import split
from memory.characters import is_blank

MARKS = [
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```",
    "```py\n",
    "\n```\n",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "# ",
    "|",
    "||",
]
LINKS = [
    "[",
    "](https://a.bc)",
    "](http://localhost)",
    "](javascript:x)",
    "![",
    "<b>",
    "<https://x.yz>",
    "$",
    "$$",
]
ODDITIES = [
    "\\(",
    "\\)",
    "\\[",
    "\\frac{a}{b}",
    "\\",
    "&#8232;",
    "&#x1F600;",
    "[^1]: x",
    "---",
    "- [ ] ",
    "    ",
]
WORDS = [
    "| a | b |\n|---|---|\n| x | y |\n",
    "word",
    "two words",
    "😀",
    "👨‍👩‍👧",
    "e\u0301",
    "日本",
    "\r\n",
    "\x00",
    "\u200b",
]
documents = st.lists(
    st.sampled_from(MARKS + LINKS + ODDITIES + WORDS) | st.text(max_size=3), max_size=40
).map("".join)
FORMATTING = {"bold", "italic", "underline", "strikethrough"}
CODE_AND_LINKS = {"code", "pre", "text_link"}


@given(documents)
@settings(deadline=None)
def test_entities_keep_telegrams_rules(markdown: str) -> None:
    rich = render(markdown)

    spans = to_spans(rich)
    assert len(spans) == len(rich.entities)
    for number, span in enumerate(spans):
        assert rich.text[span.start : span.end].strip()
        for other in spans[number + 1 :]:
            if other.start < span.end:
                assert other.end <= span.end
                assert span.type != other.type
                assert span.type not in {"code", "pre"}
                assert other.type != "blockquote" or span.type in FORMATTING
                assert not {span.type, other.type} <= CODE_AND_LINKS
                assert other.type not in {"code", "pre"} or span.type == "blockquote"


@given(documents)
@settings(deadline=None)
def test_telegram_leaves_the_rendered_text_unchanged(markdown: str) -> None:
    text = render(markdown).text

    assert text == text.rstrip(TRIMMED)
    assert not text or not is_blank(text)
    assert not any(character < " " and character != "\n" for character in text)
    assert not any(
        "\ud800" <= character <= "\udfff" or "\u2028" <= character <= "\u202e" for character in text
    )


@given(
    st.lists(
        st.sampled_from(["**", "*", "~~b", "<", ">", "|", "||", "\n", " ", "- ", "`c", "#"]) | st.text("abc")
    )
)
@settings(deadline=None)
def test_no_word_is_lost(pieces: list[str]) -> None:
    markdown = "".join(pieces)

    letters = "".join(filter(str.isalpha, render(markdown).text))

    assert letters == "".join(filter(str.isalpha, markdown))


@given(st.lists(st.text("abcXYZ09éж日😀", min_size=1), min_size=1))
@settings(deadline=None)
def test_plain_words_render_as_themselves(words: list[str]) -> None:
    text = " ".join(words)

    assert render(text) == RichText(text=text)


NEARLY_MARKUP = [
    *(
        "a",
        "b. ",
        "1",
        "1. ",
        "٣) ",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        ":-",
        "-",
        "- ",
        "+",
        "=",
        "===",
        "#",
        "# ",
        "!",
    ),
    *(
        "(",
        ")",
        "]",
        "{#a}",
        "}",
        "^",
        '"',
        "'",
        "...",
        "--",
        "%",
        "/",
        ":",
        "; ",
        "::: ",
        "a@b.c",
        "www.b.c",
    ),
    *(
        "http://localhost",
        "https://a.bc/d",
        "😀",
        "\u200d",
        "\u200b",
        "\u00a0",
        "\u2003",
        "\u202f",
        "\x85",
        "\u0301",
    ),
]


@given(st.lists(st.sampled_from(NEARLY_MARKUP) | st.text(max_size=2), max_size=12).map("".join))
@settings(max_examples=16 * settings().max_examples)
def test_text_without_markup_takes_a_short_way_to_the_same_messages(text: str) -> None:
    assert render_messages(text) == split(render_with(parse, text))


@given(
    st.lists(st.sampled_from(["a", "😀", " ", "\n", "**b**"]), max_size=30).map("".join), st.integers(2, 20)
)
@settings(deadline=None)
def test_a_text_is_split_only_if_it_exceeds_the_limit(text: str, limit: int) -> None:
    assert render_messages(text, limit) == split(render_with(parse, text), limit)


@pytest.mark.slow
def test_no_character_beyond_ascii_is_plain_by_mistake() -> None:
    lines = [f"{each}b a{each}b b{each}" for each in map(chr, range(0x80, 0x110000))]
    plain = [line for line in lines if render(line) == RichText(text=line)]
    for start in range(0, len(plain), 1000):
        text = "\n".join(plain[start : start + 1000])
        assert render_with(parse, text) == RichText(text=text)
