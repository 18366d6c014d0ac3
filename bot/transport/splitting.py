"""Splits a long rich text into messages, at the best places and with its formatting carried on."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.transport.entity_rules import covers_blanks
from bot.transport.rich_text import TRIMMED, RichText, Span, Utf16Index, from_spans, is_blank, to_spans

MESSAGE_LIMIT = 4096
ENTITY_LIMIT = 100  # Telegram ignores further ones

_BLANKS = re.compile("[ \n]*")
_BLANKS_IN_CODE = re.compile(" *(?:\n(?: *\n)*)?")  # the next line of code keeps its indentation
# A stop with the quotes and brackets that close after it, or a stop of Chinese and Japanese, which no space follows.
_SENTENCE_END = re.compile(
    "[.!?\u2026]+['\"\u201d\u2019\u00bb)\\]]*(?=\\s)|[\u3002\uff01\uff1f]+[\u201d\u300d\u300f\uff09]*"
)
_LONGEST_GRAPHEME = 64
_ZWJ = "\u200d"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The text to split, in code points; `blocks` are its code blocks."""

    text: str
    spans: Sequence[Span]
    blocks: Sequence[Span]
    index: Utf16Index

    def block_around(self, position: int) -> Span | None:
        """The code block that a cut here would divide."""
        before = bisect_left(self.blocks, position, key=lambda block: block.start)
        block = self.blocks[before - 1] if before else None
        return block if block and block.end > position else None


def split(rich: RichText, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Parts of at most `limit` UTF-16 units and 100 entities each; none for blank text.

    Joined, the parts are the text without the spaces and line breaks at its ends and at the cuts (Telegram trims
    them), and without parts in which nothing would be visible. A cut is at a blank line, else a line break
    (outside code blocks if possible), a sentence's end, a space, or between graphemes: the first of these that
    the later half of the part has. What is cut goes on in the next part. Raises ValueError for a limit below 2.
    """
    if limit < 2:
        msg = f"a part must have room for a surrogate pair, not for {limit} units"
        raise ValueError(msg)
    spans = to_spans(rich)
    blocks = [span for span in spans if span.type == "pre" and not covers_blanks(rich.text, span)]
    source = _Source(text=rich.text, spans=spans, blocks=blocks, index=Utf16Index(rich.text))
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
    for earliest in (middle, visible):
        for last_place in _PLACES:
            cut = last_place(source, earliest, furthest)
            if cut is not None:
                return cut
    return _last_between_graphemes(source.text, visible, furthest)


def _last_mark(source: _Source, low: int, high: int, *, mark: str, in_code: bool) -> int | None:
    """The last place in (low, high] where the mark begins."""
    while (place := source.text.rfind(mark, low + 1, high + len(mark))) >= 0:
        block = None if in_code else source.block_around(place)
        if block is None:
            return place
        high = block.start - 1
    return None


def _last_sentence_end(source: _Source, low: int, high: int) -> int | None:
    ends = [match.end() for match in _SENTENCE_END.finditer(source.text, low, high + 1)]
    return max((end for end in ends if low < end <= high), default=None)


_PLACES: Sequence[Callable[[_Source, int, int], int | None]] = (
    partial(_last_mark, mark="\n\n", in_code=False),
    partial(_last_mark, mark="\n", in_code=False),
    partial(_last_mark, mark="\n\n", in_code=True),
    partial(_last_mark, mark="\n", in_code=True),
    _last_sentence_end,
    partial(_last_mark, mark=" ", in_code=True),
)


def _last_between_graphemes(text: str, low: int, high: int) -> int:
    """The last boundary in (low, high]; `high` itself inside a grapheme of unreasonable length."""
    for place in range(high, max(low, high - _LONGEST_GRAPHEME), -1):
        if not _joins(text[place - 1], text[place]) and not _halves_a_flag(text, low, place):
            return place
    return high


def _joins(left: str, right: str) -> bool:
    """Whether two characters are drawn as one: the common cases of Unicode's grapheme clusters (UAX 29)."""
    return (
        _ZWJ in (left, right)
        or unicodedata.category(right) in {"Mn", "Mc", "Me"}  # combining marks and variation selectors
        or "\U0001f3fb" <= right <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= right <= "\U000e007f"  # tags of regional flags
        or "\u1160" <= right <= "\u11ff"  # Hangul vowels and final consonants
    )


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
