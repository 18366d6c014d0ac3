"""Text with formatting as Telegram counts it: offsets and lengths are UTF-16 code units."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

# What Telegram trims from both ends of a message (`fix_formatted_text` of TDLib); other blanks stay.
TRIMMED = " \n"

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# `clean_input_string` and `strip_empty_characters` of TDLib: text of nothing else is refused as "Text must be non-empty".
_INVISIBLE = re.compile(
    "[\x00-\x20\u030a\u0333\u033f\u00a0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f\u2800\u3000\ufeff\ufffc\U000e0000-\U000e007f]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One formatted range of a text, as in the Bot API's MessageEntity."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None

    def to_dict(self) -> dict[str, object]:
        """The Bot API's JSON object; absent options are left out."""
        optional = {"url": self.url, "language": self.language}
        required: dict[str, object] = {"type": self.type, "offset": self.offset, "length": self.length}
        return required | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class RichText:
    """A text and its entities, ready for `text` + `entities` of sendMessage; falsy when empty."""

    text: str
    entities: tuple[Entity, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


class Span(NamedTuple):
    """A formatted range in code points (Python indices), so that no cut can fall into a surrogate pair."""

    start: int
    end: int
    type: str
    url: str | None = None
    language: str | None = None


class Utf16Index:
    """Translates between code points and UTF-16 code units of one text, each in O(log n)."""

    def __init__(self, text: str) -> None:
        self.length = len(text)
        self._wide = [match.start() for match in _ASTRAL.finditer(text)]
        self._wide_units = [position + count for count, position in enumerate(self._wide)]

    def units(self, position: int) -> int:
        """UTF-16 code units before this code point."""
        return position + bisect_left(self._wide, position)

    def floor(self, units: int) -> int:
        """The last code point position that has at most so many code units before it."""
        return min(units - bisect_left(self._wide_units, units), self.length)

    def position(self, units: int) -> int | None:
        """The code point at this offset; None outside the text or in the middle of a surrogate pair."""
        position = self.floor(units)
        return position if units >= 0 and self.units(position) == units else None


def utf16_length(text: str) -> int:
    """Length as Telegram counts it; a lone surrogate counts one."""
    return len(text) + sum(1 for _ in _ASTRAL.finditer(text))


def utf16_slice(text: str, offset: int, length: int) -> str:
    """The part that a MessageEntity covers; empty when the range is not one of this text."""
    index = Utf16Index(text)
    start, end = index.position(offset), index.position(offset + length)
    return "" if start is None or end is None else text[start:end]


def is_blank(text: str) -> bool:
    """Whether Telegram would refuse this text as empty: spaces, line breaks and invisible characters."""
    return _INVISIBLE.fullmatch(text) is not None


def to_spans(rich: RichText) -> list[Span]:
    """The entities in code points, in order; those that do not fit the text are left out."""
    index = Utf16Index(rich.text)
    spans: list[Span] = []
    for entity in rich.entities:
        start, end = index.position(entity.offset), index.position(entity.offset + entity.length)
        if start is not None and end is not None and start < end:
            spans.append(Span(start, end, entity.type, entity.url, entity.language))
    return sorted(spans, key=span_order)


def from_spans(text: str, spans: Iterable[Span]) -> RichText:
    """The opposite of `to_spans`."""
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
    """Sorts outer ranges before the ranges that they contain."""
    return span.start, -span.end, span.type
