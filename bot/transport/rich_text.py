"""Text with formatting: UTF-16 offsets as Telegram counts them, and Telegram's rules for entities.

The rules come from the Bot API documentation and `fix_entities` of TDLib. Bold, italic and so on nest freely, but not
inside code. Links and code never contain each other, nor quotes. Quotes contain all of these, but no quote.
"""

import heapq
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

# Characters that Telegram trims from both ends of a message (`fix_formatted_text` of TDLib).
TRIMMED = " \n"

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

FORMATTING = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
CODE = frozenset({"code", "pre"})
LINK = "text_link"

_HTTP_URL = re.compile(
    r"https?://(?:[^\s/?#@]*@)?"
    r"(?:\[[0-9a-f:.]+\]|(?=[^/?#:]*\.)(?!\.|[^/?#:]*\.(?:[.:/?#]|$))(?:[\w.!$,~*'();&+=-]|%[0-9a-f]{2})+)"
    r"(?::(?P<port>\d{1,5}))?(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_TELEGRAM_URL = re.compile(r"tg:(?://)?[a-z][\w-]*(?:[/?#]\S*)?", re.IGNORECASE | re.ASCII)
_NAMES_A_USER = re.compile(r"tg:(?://)?user\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One formatted range of a text, as in the Bot API's MessageEntity."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None
    user_id: int | None = None
    """The person of a text_mention."""

    def to_dict(self) -> dict[str, Any]:
        """Return the Bot API's JSON object, without absent options."""
        user = self.user_id and {"id": self.user_id, "is_bot": False, "first_name": ""}
        optional = {"url": self.url, "language": self.language, "user": user}
        required: dict[str, Any] = {"type": self.type, "offset": self.offset, "length": self.length}
        return required | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class RichText:
    """A text and its entities for sendMessage; falsy if the text is empty."""

    text: str
    entities: tuple[Entity, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


class Span(NamedTuple):
    """A formatted range in code points (Python indices), so that no cut divides a surrogate pair."""

    start: int
    end: int
    type: str
    url: str | None = None
    language: str | None = None


class Utf16Index:
    """Translation between code points and UTF-16 code units of one text, in O(log n)."""

    def __init__(self, text: str) -> None:
        self.length = len(text)
        self._wide = [match.start() for match in _ASTRAL.finditer(text)]
        self._wide_units = [position + count for count, position in enumerate(self._wide)]

    def units(self, position: int) -> int:
        """Return the number of UTF-16 code units before this code point."""
        return position + bisect_left(self._wide, position)

    def floor(self, units: int) -> int:
        """Return the last code point with at most this number of code units before it."""
        return min(units - bisect_left(self._wide_units, units), self.length)

    def position(self, units: int) -> int | None:
        """Return the code point at this offset; None outside the text or inside a surrogate pair."""
        position = self.floor(units)
        return position if units >= 0 and self.units(position) == units else None


def utf16_length(text: str) -> int:
    """Return the length as Telegram counts it; a lone surrogate counts one."""
    return len(text) + len(_ASTRAL.findall(text))


def utf16_slice(text: str, offset: int, length: int) -> str:
    """Return the part that a MessageEntity covers; empty if the range does not fit the text."""
    index = Utf16Index(text)
    start, end = index.position(offset), index.position(offset + length)
    return "" if start is None or end is None else text[start:end]


def to_spans(rich: RichText) -> list[Span]:
    """Return the entities in code points, in order, without those that do not fit the text."""
    index = Utf16Index(rich.text)
    spans: list[Span] = []
    for entity in rich.entities:
        start, end = index.position(entity.offset), index.position(entity.offset + entity.length)
        if start is not None and end is not None and start < end:
            spans.append(Span(start, end, entity.type, entity.url, entity.language))
    return sorted(spans, key=span_order)


def from_spans(text: str, spans: Iterable[Span]) -> RichText:
    """Return the text with these spans as entities, the inverse of `to_spans`."""
    index = Utf16Index(text)
    entities = tuple(
        Entity(
            type=span.type,
            offset=index.units(span.start),
            length=index.units(span.end) - index.units(span.start),
            url=span.url,
            language=span.language,
        )
        for span in spans
    )
    return RichText(text=text, entities=entities)


def span_order(span: Span) -> tuple[int, int, str]:
    """Return a sort key that puts outer ranges before the ranges inside them."""
    return span.start, -span.end, span.type


def is_sendable_url(url: str) -> bool:
    """Return True if Telegram accepts this URL in a link. A refused one fails the whole message.

    As in `check_link` of TDLib, http and https need a host with a dot between two labels (so not `localhost`), and
    mailto is not accepted. `tg://user` is refused because it would mention a person.
    """
    if _NAMES_A_USER.match(url):
        return False
    if web := _HTTP_URL.fullmatch(url):
        port = web["port"]
        return port is None or 0 < int(port) <= 65535
    return _TELEGRAM_URL.fullmatch(url) is not None


def valid_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return the ranges of a parsed text as Telegram accepts them, in its order: cut, merged or dropped."""
    sound = sorted((span for span in spans if span.start < span.end), key=span_order)
    quotes = _disjoint([span for span in sound if span.type in QUOTES])
    solid = _disjoint([span for span in sound if span.type in CODE or span.type == LINK])
    code = [span for span in solid if span.type in CODE]
    formatting = [
        piece
        for kind in sorted(FORMATTING)
        for piece in _without(_united([span for span in sound if span.type == kind]), code)
    ]
    # Trim before nesting: trimming later could make a range stick out of another.
    candidates = [*quotes, *(_trimmed(text, span) for span in (*solid, *formatting))]
    nested = _nested([span for span in candidates if span.start < span.end])
    return sorted((span for span in nested if not covers_blanks(text, span)), key=span_order)


def covers_blanks(text: str, span: Span) -> bool:
    """Return True if the range has only blanks, which show no formatting."""
    return not text[span.start : span.end].strip()


def _trimmed(text: str, span: Span) -> Span:
    """Return the range without blanks at its ends; a code block keeps its indentation."""
    covered = text[span.start : span.end]
    start = span.end - len(covered.lstrip("\n" if span.type == "pre" else TRIMMED))
    return span._replace(start=start, end=span.start + len(covered.rstrip(TRIMMED)))


def _disjoint(spans: Sequence[Span]) -> list[Span]:
    """Return the ranges without overlaps: the first stays, the outer one if two start together."""
    disjoint: list[Span] = []
    for span in spans:
        if not disjoint or span.start >= disjoint[-1].end:
            disjoint.append(span)
    return disjoint


def _united(spans: Sequence[Span]) -> list[Span]:
    """Merge overlapping and touching ranges of one type."""
    united: list[Span] = []
    for span in spans:
        if united and span.start <= united[-1].end:
            united[-1] = united[-1]._replace(end=max(united[-1].end, span.end))
        else:
            united.append(span)
    return united


def _without(spans: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """Return the parts of disjoint ranges outside disjoint holes. Both are in order; takes one pass."""
    remaining: list[Span] = []
    first = 0
    for span in spans:
        while first < len(holes) and holes[first].end <= span.start:
            first += 1
        edges = [span.start]
        at = first
        while at < len(holes) and holes[at].start < span.end:
            edges += [holes[at].start, holes[at].end]
            at += 1
        edges.append(span.end)
        gaps = list(pairwise(edges))[::2]
        remaining += [span._replace(start=start, end=end) for start, end in gaps if start < end]
    return remaining


def _nested(spans: Sequence[Span]) -> list[Span]:
    """Cut ranges so that any two are apart, or one is inside the other."""
    waiting = [(span_order(span), span) for span in spans]
    heapq.heapify(waiting)
    opened: list[Span] = []
    nested: list[Span] = []
    while waiting:
        _, span = heapq.heappop(waiting)
        while opened and opened[-1].end <= span.start:
            opened.pop()
        if opened and span.end > opened[-1].end:
            rest = span._replace(start=opened[-1].end)
            heapq.heappush(waiting, (span_order(rest), rest))
            span = span._replace(end=opened[-1].end)
        opened.append(span)
        nested.append(span)
    return nested
