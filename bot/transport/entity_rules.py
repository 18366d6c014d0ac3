"""Telegram's rules for entities: turns any ranges into ones that it takes as they are.

The rules, from the Bot API documentation and `fix_entities` of TDLib: bold and its like nest freely but never
inside code; links and code never contain each other, nor quotes; quotes contain all of them but no quote.
"""

import heapq
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from bot.transport.rich_text import TRIMMED, Span, span_order

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
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")


def is_sendable_url(url: str) -> bool:
    """Whether Telegram takes this as a link's target: a refused one fails the whole message.

    As in `check_link` of TDLib: http and https need a host with a dot between two labels (so not `localhost`), and mailto would be
    rewritten to http. `tg://user` would mention a person, whom the bot may not even know: refused here.
    """
    if _NAMES_A_USER.match(url):
        return False
    if web := _HTTP_URL.fullmatch(url):
        port = web["port"]
        return port is None or 0 < int(port) <= 65535
    return _TELEGRAM_URL.fullmatch(url) is not None


def valid_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """The ranges that Telegram will take, in its order; what breaks a rule is cut, merged or left out."""
    sound = sorted(filter(None, (_repaired(text, span) for span in spans)), key=span_order)
    quotes = _disjoint([span for span in sound if span.type in QUOTES])
    whole = [span for span in sound if span.type in CODE or span.type == LINK]
    solid = _disjoint(sorted(_cut_at(whole, quotes), key=span_order))
    code = [span for span in solid if span.type in CODE]
    formatting = [
        piece
        for kind in sorted(FORMATTING)
        for piece in _without(_united([span for span in sound if span.type == kind]), code)
    ]
    # Trimmed before they are nested: afterwards it could make one stick out of another.
    candidates = [*quotes, *(_trimmed(text, span) for span in (*solid, *formatting))]
    nested = _nested([span for span in candidates if span.start < span.end])
    return sorted((span for span in nested if not covers_blanks(text, span)), key=span_order)


def covers_blanks(text: str, span: Span) -> bool:
    """Whether nothing in the range could show its formatting."""
    return not text[span.start : span.end].strip()


def _repaired(text: str, span: Span) -> Span | None:
    """The range with the options that its type has, or None when it cannot be one of this text."""
    if not 0 <= span.start < span.end <= len(text):
        return None
    if span.type == LINK:
        return Span(*span[:4]) if span.url and is_sendable_url(span.url) else None
    if span.type == "pre":
        known = span.language is not None and _LANGUAGE.fullmatch(span.language)
        return span._replace(url=None, language=span.language if known else None)
    if span.type in FORMATTING or span.type in QUOTES or span.type in CODE:
        return Span(*span[:3])
    return None


def _cut_at(spans: Iterable[Span], quotes: Sequence[Span]) -> Iterator[Span]:
    """Pieces within a quote or outside of all: Telegram drops a link, or code, that holds a quote's border."""
    borders = sorted(border for quote in quotes for border in (quote.start, quote.end))
    for span in spans:
        within = borders[bisect_right(borders, span.start) : bisect_left(borders, span.end)]
        edges = [span.start, *within, span.end]
        yield from (span._replace(start=start, end=end) for start, end in pairwise(edges) if start < end)


def _trimmed(text: str, span: Span) -> Span:
    """The range without blanks at its ends; a code block keeps its indentation."""
    covered = text[span.start : span.end]
    start = span.end - len(covered.lstrip("\n" if span.type == "pre" else TRIMMED))
    return span._replace(start=start, end=span.start + len(covered.rstrip(TRIMMED)))


def _disjoint(spans: Sequence[Span]) -> list[Span]:
    """The first of any that overlap; the outer one of two that start together."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _united(spans: Sequence[Span]) -> list[Span]:
    """Overlapping and touching ranges of one type as one."""
    united: list[Span] = []
    for span in spans:
        if united and span.start <= united[-1].end:
            united[-1] = united[-1]._replace(end=max(united[-1].end, span.end))
        else:
            united.append(span)
    return united


def _without(spans: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """What remains of disjoint ranges outside disjoint holes; both in order, in one pass."""
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
    """Cuts what sticks out of the range that it begins in, so that any two are apart or one inside the other."""
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
