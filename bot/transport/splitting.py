"""Splitting of a long rich text into messages: at the best places, with the formatting continued."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.transport.rich_text import (
    QUOTES,
    TRIMMED,
    RichText,
    Span,
    Utf16Index,
    covers_blanks,
    from_spans,
    span_order,
    to_spans,
)
from memory.characters import are_joined, is_blank, is_flag_letter

MESSAGE_LIMIT = 4096
ENTITY_LIMIT = 100  # Telegram ignores more

_BLANKS = re.compile("[ \n]*")
_BLANKS_IN_CODE = re.compile(" *(?:\n(?: *\n)*)?")  # the next line of code keeps its indentation
# The place after a stop with closing quotes and brackets, or after a Chinese or Japanese stop, which needs no space
# after it. A search looks back at one character only, so a run of stops takes linear time.
_SENTENCE_END = re.compile(
    "(?<=[.!?\u2026])['\"\u201d\u2019\u00bb)\\]]*+(?=\\s)"
    "|(?<=[\u3002\uff01\uff1f])(?![\u3002\uff01\uff1f])[\u201d\u300d\u300f\uff09]*+"
)
_LINE = re.compile("[^\n]+")
_LONGEST_GRAPHEME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The text to split, in code points. `blocks` and `whole` are disjoint and in order."""

    text: str
    spans: Sequence[Span]
    blocks: Sequence[Span]
    """Code blocks."""
    whole: Sequence[Span]
    """Ranges to divide only if there is no other place."""
    index: Utf16Index

    def block_around(self, position: int) -> Span | None:
        """Return the code block that a cut here would divide."""
        return _around(self.blocks, position)


def _around(spans: Sequence[Span], position: int) -> Span | None:
    """Return the range of these disjoint ones that a cut here would divide."""
    before = bisect_left(spans, position, key=lambda span: span.start)
    span = spans[before - 1] if before else None
    return span if span and span.end > position else None


def split(rich: RichText, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Return parts of at most `limit` UTF-16 units and 100 entities each; none for blank text.

    A cut is at a blank line, else at a line break (outside of code if possible), a sentence's end or a space. Places in
    the second half of a part come first. Short formatted words and lines of code are divided only if there is no other
    place, graphemes never. Blanks at the cuts and invisible parts are dropped. Raises ValueError for a limit below 2.
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
    """Return lines of code that fit a message and formatting that fits half of one; if they overlap, the outer."""

    def is_short(span: Span, most: int) -> bool:
        return index.units(span.end) - index.units(span.start) <= most

    lines = [
        line
        for block in blocks
        for match in _LINE.finditer(text, block.start, block.end)
        if is_short(line := Span(match.start(), match.end(), "line"), limit)
    ]
    inline = [
        span
        for span in spans
        if span.type != "pre" and span.type not in QUOTES and is_short(span, limit // 2)
    ]
    whole: list[Span] = []
    for span in sorted([*lines, *inline], key=span_order):
        if not whole or span.start >= whole[-1].end:
            whole.append(span)
    return whole


def _first_visible(source: _Source, position: int) -> int:
    blanks = _BLANKS.match(source.text, position)
    return blanks.end() if blanks else position


def _after_blanks(source: _Source, position: int) -> int:
    """Return the beginning of the next part: after the blanks, but before the indentation of a code block."""
    inside = source.block_around(position)
    if inside is not None and _first_visible(source, position) >= inside.end:
        return _after_blanks(source, inside.end)  # nothing is left of the code, and what follows is no code
    blanks = (_BLANKS_IN_CODE if inside else _BLANKS).match(source.text, position)
    begin = blanks.end() if blanks else position
    following = bisect_left(source.blocks, position, key=lambda block: block.start)
    if inside is None and following < len(source.blocks):
        return min(begin, source.blocks[following].start)
    return begin


def _best_cut(source: _Source, begin: int, visible: int, furthest: int) -> int:
    """Return the end of the part that begins here: after the first visible character, at most `furthest`."""
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
    """Return the last place in (low, high] at which the mark begins, outside of `whole`."""
    while (place := source.text.rfind(mark, low + 1, high + len(mark))) >= 0:
        divided = _around(source.whole, place) or (None if in_code else source.block_around(place))
        if divided is None:
            return place
        high = min(divided.start, place - 1)
    return None


def _last_space(source: _Source, low: int, high: int) -> int | None:
    """Return the last space in (low, high], also inside of `whole`."""
    place = source.text.rfind(" ", low + 1, high + 1)
    return place if place >= 0 else None


def _last_sentence_end(source: _Source, low: int, high: int, *, at_need: bool = False) -> int | None:
    """Return the last end of a sentence in (low, high]; inside of `whole` or code only with `at_need`."""
    ends = (match.end() for match in _SENTENCE_END.finditer(source.text, low + 1, high + 1))
    fit = (
        end
        for end in ends
        if end <= high and (at_need or not (_around(source.whole, end) or source.block_around(end)))
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
    """Return the last boundary in (low, high], if possible outside of `whole`; `high` inside a very long grapheme."""
    divided = _around(source.whole, high)
    if divided is not None and divided.start > low:
        high = divided.start
    text = source.text
    for place in range(high, max(low, high - _LONGEST_GRAPHEME), -1):
        if not are_joined(text[place - 1], text[place]) and not _halves_a_flag(text, low, place):
            return place
    return high


def _halves_a_flag(text: str, low: int, place: int) -> bool:
    """Return True if a cut here divides a pair of regional indicators."""
    start = place
    while start > low and is_flag_letter(text[start - 1]):
        start -= 1
    return is_flag_letter(text[place]) and (place - start) % 2 == 1


def _part(text: str, begin: int, end: int, spans: Sequence[Span]) -> RichText:
    visible = text[begin:end].rstrip(TRIMMED)
    clipped = [
        span._replace(start=max(span.start - begin, 0), end=min(span.end - begin, len(visible)))
        for span in spans
    ]
    remaining = [span for span in clipped if span.start < span.end and not covers_blanks(visible, span)]
    return from_spans(visible, remaining[:ENTITY_LIMIT])
