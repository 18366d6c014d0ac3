"""Splits a long rich text into messages, at the best places and with its formatting carried on."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.transport.entity_rules import QUOTES, covers_blanks
from bot.transport.rich_text import (
    TRIMMED,
    RichText,
    Span,
    Utf16Index,
    from_spans,
    is_blank,
    span_order,
    to_spans,
)

MESSAGE_LIMIT = 4096
ENTITY_LIMIT = 100  # Telegram ignores further ones

_BLANKS = re.compile("[ \n]*")
_BLANKS_IN_CODE = re.compile(" *(?:\n(?: *\n)*)?")  # the next line of code keeps its indentation
# A stop with the quotes and brackets that close after it, or a stop of Chinese and Japanese, which no space follows.
_SENTENCE_END = re.compile(
    "[.!?\u2026]+['\"\u201d\u2019\u00bb)\\]]*(?=\\s)|[\u3002\uff01\uff1f]+[\u201d\u300d\u300f\uff09]*"
)
_LINE = re.compile("[^\n]+")
_LONGEST_GRAPHEME = 64
_ZWJ = "\u200d"
# What the next character is joined to: a joiner, the viramas of Indic conjuncts, signs that go before a number.
_JOINERS = frozenset(
    f"{_ZWJ}\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2"
)
_EXTENDING = frozenset("\u200c\u0e33\u0eb3\uff9e\uff9f")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The text to split, in code points.

    `blocks` are its code blocks; `whole` what only a cut at need divides. Both disjoint and in order.
    """

    text: str
    spans: Sequence[Span]
    blocks: Sequence[Span]
    whole: Sequence[Span]
    index: Utf16Index

    def block_around(self, position: int) -> Span | None:
        """The code block that a cut here would divide."""
        return _around(self.blocks, position)


def _around(spans: Sequence[Span], position: int) -> Span | None:
    """The one of disjoint ranges that a cut here would divide."""
    before = bisect_left(spans, position, key=lambda span: span.start)
    span = spans[before - 1] if before else None
    return span if span and span.end > position else None


def split(rich: RichText, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Parts of at most `limit` UTF-16 units and 100 entities each; none for blank text.

    Joined, the parts are the text without the spaces and line breaks at its ends and at the cuts (Telegram trims
    them), and without parts in which nothing would be visible. A cut is at a blank line, else a line break
    (outside code blocks if possible), a sentence's end or a space: the first of these that the later half of the
    part has, else the earlier one; formatted words and lines of code, if short enough, are divided only where there
    is none, and graphemes never. What is cut goes on in the next part. Raises ValueError for a limit below 2.
    """
    if limit < 2:
        msg = f"a part must have room for a surrogate pair, not for {limit} units"
        raise ValueError(msg)
    spans = to_spans(rich)
    blocks = [span for span in spans if span.type == "pre" and not covers_blanks(rich.text, span)]
    index = Utf16Index(rich.text)
    whole = _whole(rich.text, spans, blocks, index=index, limit=limit)
    source = _Source(text=rich.text, spans=spans, blocks=blocks, whole=whole, index=index)
    return [part for part in _parts(source, limit) if not is_blank(part.text)]


def _parts(source: _Source, limit: int) -> list[RichText]:
    parts: list[RichText] = []
    open_spans: list[Span] = []
    begin = taken = 0
    while (visible := _first_visible(source, begin)) < len(source.text):
        begin = _after_blanks(source, begin)
        open_spans = [span for span in open_spans if span.end > begin]
        furthest = source.index.floor(source.index.units(begin) + limit)
        if furthest <= visible:  # more indentation than a message holds
            begin = visible
            continue
        overflow = taken + ENTITY_LIMIT - len(open_spans)
        if overflow < len(source.spans) and source.spans[overflow].start > visible:
            furthest = min(furthest, source.spans[overflow].start)
        end = _best_cut(source, begin, visible, furthest)
        while taken < len(source.spans) and source.spans[taken].start < end:
            open_spans.append(source.spans[taken])
            taken += 1
        parts.append(_part(source.text, begin, end, open_spans))
        begin = end
    return parts


def _whole(
    text: str, spans: Sequence[Span], blocks: Sequence[Span], *, index: Utf16Index, limit: int
) -> list[Span]:
    """Lines of code that a message can hold, and formatting that half a message can; of what overlaps, the outer."""

    def is_short(span: Span, most: int) -> bool:
        return index.units(span.end) - index.units(span.start) <= most

    lines = [
        line
        for block in blocks
        for found in _LINE.finditer(text, block.start, block.end)
        if is_short(line := Span(found.start(), found.end(), "line"), limit)
    ]
    inline = [
        span
        for span in spans
        if span.type != "pre" and span.type not in QUOTES and is_short(span, limit // 2)
    ]
    kept: list[Span] = []
    for span in sorted([*lines, *inline], key=span_order):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _first_visible(source: _Source, position: int) -> int:
    blanks = _BLANKS.match(source.text, position)
    return blanks.end() if blanks else position


def _after_blanks(source: _Source, position: int) -> int:
    """Where the part after a cut begins: after the blanks there, but before a code block's own indentation."""
    inside = source.block_around(position)
    blanks = (_BLANKS_IN_CODE if inside else _BLANKS).match(source.text, position)
    begin = blanks.end() if blanks else position
    following = bisect_left(source.blocks, position, key=lambda block: block.start)
    if inside is None and following < len(source.blocks):
        return min(begin, source.blocks[following].start)
    return begin


def _best_cut(source: _Source, begin: int, visible: int, furthest: int) -> int:
    """The end of the part that begins here, after the first visible character and not beyond `furthest`."""
    if furthest >= len(source.text):
        return furthest
    middle = max(visible, begin + (furthest - begin) // 2)
    for places, earliest in (
        (_PLACES, middle),
        (_PLACES, visible),
        (_PLACES_AT_NEED, middle),
        (_PLACES_AT_NEED, visible),
    ):
        for last_place in places:
            cut = last_place(source, earliest, furthest)
            if cut is not None:
                return cut
    return _last_between_graphemes(source, visible, furthest)


def _last_mark(source: _Source, low: int, high: int, *, mark: str, in_code: bool) -> int | None:
    """The last place in (low, high] where the mark begins, outside of what is to stay whole."""
    while (place := source.text.rfind(mark, low + 1, high + len(mark))) >= 0:
        divided = _around(source.whole, place) or (None if in_code else source.block_around(place))
        if divided is None:
            return place
        high = min(divided.start, place - 1)
    return None


def _last_space(source: _Source, low: int, high: int) -> int | None:
    """The last space in (low, high], whatever it divides."""
    place = source.text.rfind(" ", low + 1, high + 1)
    return place if place >= 0 else None


def _last_sentence_end(source: _Source, low: int, high: int, *, at_need: bool = False) -> int | None:
    """The last end of a sentence in (low, high]; only at need inside of what is to stay whole, or of code."""
    ends = (match.end() for match in _SENTENCE_END.finditer(source.text, low, high + 1))
    fit = (
        end
        for end in ends
        if low < end <= high and (at_need or not (_around(source.whole, end) or source.block_around(end)))
    )
    return max(fit, default=None)


_PLACES: Sequence[Callable[[_Source, int, int], int | None]] = (
    partial(_last_mark, mark="\n\n", in_code=False),
    partial(_last_mark, mark="\n", in_code=False),
    partial(_last_mark, mark="\n\n", in_code=True),
    partial(_last_mark, mark="\n", in_code=True),
    _last_sentence_end,
    partial(_last_mark, mark=" ", in_code=True),
)
_PLACES_AT_NEED: Sequence[Callable[[_Source, int, int], int | None]] = (
    partial(_last_sentence_end, at_need=True),
    _last_space,
)


def _last_between_graphemes(source: _Source, low: int, high: int) -> int:
    """The last boundary in (low, high], if possible outside of what is to stay whole; `high` itself inside a
    grapheme of unreasonable length."""
    divided = _around(source.whole, high)
    if divided is not None and divided.start > low:
        high = divided.start
    text = source.text
    for place in range(high, max(low, high - _LONGEST_GRAPHEME), -1):
        if not _joins(text[place - 1], text[place]) and not _halves_a_flag(text, low, place):
            return place
    return high


def _joins(left: str, right: str) -> bool:
    """Whether two characters are drawn as one: Unicode's grapheme clusters (UAX 29), and a little more."""
    return (
        left in _JOINERS
        or right == _ZWJ
        or right in _EXTENDING
        or unicodedata.category(right) in {"Mn", "Mc", "Me"}  # combining marks and variation selectors
        or "\U0001f3fb" <= right <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= right <= "\U000e007f"  # tags of regional flags
        or (_is_hangul(left) and "\u1100" <= right <= "\u11ff")
        or ("\u1100" <= left <= "\u115f" and _is_hangul(right))
    )


def _is_hangul(character: str) -> bool:
    """Whether the letters of a syllable may follow or precede it."""
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"


def _halves_a_flag(text: str, low: int, place: int) -> bool:
    """Whether a cut here divides a pair of regional indicators."""
    start = place
    while start > low and _is_regional(text[start - 1]):
        start -= 1
    return _is_regional(text[place]) and (place - start) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _part(text: str, begin: int, end: int, spans: Sequence[Span]) -> RichText:
    shown = text[begin:end].rstrip(TRIMMED)
    clipped = [
        span._replace(start=max(span.start - begin, 0), end=min(span.end - begin, len(shown)))
        for span in spans
    ]
    kept = [span for span in clipped if span.start < span.end and not covers_blanks(shown, span)]
    return from_spans(shown, kept[:ENTITY_LIMIT])
