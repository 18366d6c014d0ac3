"""Splitting: no part is too long, no visible text is lost, and formatting keeps its range."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.transport.rich_text import Entity, RichText, Span, from_spans, to_spans, utf16_length
from bot.transport.splitting import split
from memory.characters import is_blank

ALPHABET = [
    "a",
    "bc",
    " ",
    "\n",
    "\n\n",
    ". ",
    "。",
    "😀",
    "👨‍👩‍👧",
    "e\u0301",
    "🇵🇹",
    "\u200b",
    "    ",
    "\u3000",
]
texts = st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join)
kinds = st.sampled_from(["bold", "italic", "pre", "text_link", "blockquote"])
limits = st.integers(2, 40)


@st.composite
def rich_texts(draw: st.DrawFn) -> RichText:
    text = draw(texts)
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=12, unique=True).map(sorted))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return from_spans(text, [Span(start, end, draw(kinds), "https://a.bc", "py") for start, end in pairs])


@given(rich_texts(), limits)
@settings(deadline=None)
def test_every_part_is_within_the_limit_and_shows_something(rich: RichText, limit: int) -> None:
    for part in split(rich, limit):
        assert utf16_length(part.text) <= limit
        assert not is_blank(part.text)
        assert not part.text.endswith((" ", "\n"))


@given(texts, limits)
@settings(deadline=None)
def test_the_joined_parts_are_the_text_without_the_blanks_at_the_cuts(text: str, limit: int) -> None:
    rest = text
    for part in split(RichText(text=text), limit):
        skipped, found, rest = rest.partition(part.text)
        assert found
        assert is_blank(skipped)
    assert is_blank(rest)


@given(rich_texts(), limits)
@settings(deadline=None)
def test_every_visible_character_keeps_its_formatting(rich: RichText, limit: int) -> None:
    formatted: list[tuple[str, tuple[object, ...]]] = []
    for part in split(rich, limit):
        formatted += formatting(part)

    assert formatted == formatting(rich)


@given(st.text(max_size=200), limits)
@settings(deadline=None)
def test_any_text_can_be_encoded_after_the_cut(text: str, limit: int) -> None:
    for part in split(RichText(text=text), limit):
        part.text.encode()


@given(rich_texts())
@example(RichText(text="aaaaaaaaaaaaaa\n    bc", entities=(Entity(type="pre", offset=0, length=15),)))
@settings(deadline=None)
def test_splitting_a_part_again_changes_nothing(rich: RichText) -> None:
    for part in split(rich, 20):
        assert split(part, 20) == [part]


def formatting(rich: RichText) -> list[tuple[str, tuple[object, ...]]]:
    """Return each visible character with its formatting."""
    spans = to_spans(rich)
    return [
        (character, tuple(tuple(span[2:]) for span in spans if span.start <= place < span.end))
        for place, character in enumerate(rich.text)
        if not is_blank(character)
    ]
