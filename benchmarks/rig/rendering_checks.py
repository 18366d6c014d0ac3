"""What must hold of a rendered and split text, checked with other means than those that made it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import regex

from bot.transport.rich_text import RichText, Span, Utf16Index, to_spans, utf16_length

MESSAGE_UNITS = 4096
_ENTITIES = 100
_LONGEST_GRAPHEME = 64
_BLANKS = " \n"
_GRAPHEME = regex.compile(r"\X")
_FOUND_BY_TELEGRAM = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}
)
_BLOCKS = frozenset({"pre", "blockquote", "expandable_blockquote"})


def differences(part: RichText, message: Mapping[str, Any]) -> list[str]:
    """What the chat shows otherwise than the part says: its text, or the formatting of a visible character."""
    # TDLib trims the beginning of a text up to its first entity; it may do so within code, too.
    trimmed = part.text.lstrip(_BLANKS) if any(entity.offset == 0 for entity in part.entities) else part.text
    if message["text"] not in (part.text, trimmed):
        return ["another text"]
    text = message["text"]
    shown = [entity for entity in message.get("entities", ()) if entity["type"] not in _FOUND_BY_TELEGRAM]
    index = Utf16Index(text)
    spans = [
        Span(
            index.position(entity["offset"]) or 0,
            index.position(entity["offset"] + entity["length"]) or 0,
            entity["type"],
            "" if entity.get("url") else None,
            entity.get("language"),
        )
        for entity in shown
    ]
    skipped = len(part.text) - len(text)
    ours = [
        span._replace(
            start=max(span.start - skipped, 0), end=span.end - skipped, url="" if span.url else None
        )
        for span in to_spans(part)
    ]
    return [] if _formatting(text, ours) == _formatting(text, spans) else ["other formatting"]


def faults(whole: RichText, parts: Sequence[RichText]) -> list[str]:
    """What is wrong with the parts of a text: lost or invented characters, formatting, sizes, and bad cuts."""
    said = [
        *("too long" for part in parts if utf16_length(part.text) > MESSAGE_UNITS),
        *("too many entities" for part in parts if len(part.entities) > _ENTITIES),
    ]
    places = _places(whole.text, parts)
    if places is None:
        return [*said, "joined otherwise"]
    spans = to_spans(whole)
    moved = [
        span._replace(start=span.start + start, end=span.end + start)
        for (start, _), part in zip(places, parts, strict=True)
        for span in to_spans(part)
    ]
    # A hundred at one place is all that Telegram takes; nothing else may lose formatting.
    if max(map(len, (part.entities for part in parts)), default=0) < _ENTITIES and _formatting(
        whole.text, spans
    ) != _formatting(whole.text, moved):
        said.append("formatted otherwise")
    cuts = [(start, end) for start, end in places if whole.text[end:].strip(_BLANKS)]
    short = [
        span for span in spans if span.type not in _BLOCKS and _units(whole.text, span) <= MESSAGE_UNITS // 2
    ]
    lines = list(_code_lines(whole.text, spans))
    for start, end in cuts:
        if _halves_a_grapheme(whole.text, start, end):
            said.append("a grapheme cut")
        if _is_within(whole.text, end, [*short, *lines]) and _has_free_place(
            whole.text, start, end, [*short, *lines]
        ):
            said.append("formatting or a line of code cut needlessly")
    return said


def _places(text: str, parts: Sequence[RichText]) -> list[tuple[int, int]] | None:
    """Where each part stands in the text; None unless only blanks, or nothing visible, lie between them."""
    places: list[tuple[int, int]] = []
    done = 0
    for part in parts:
        start = text.find(part.text, done)
        if start < 0 or _visible(text[done:start]):
            return None
        done = start + len(part.text)
        places.append((start, done))
    return None if _visible(text[done:]) else places


def _visible(text: str) -> str:
    return regex.sub(r"[\s\p{Cf}\u00a0\u180e\u2800\ufffc\U000e0000-\U000e007f]+", "", text)


def _formatting(text: str, spans: Sequence[Span]) -> set[tuple[int, str, str | None, str | None]]:
    """Each visible character with each kind of formatting that it has."""
    return {
        (place, span.type, span.url, span.language)
        for span in spans
        for place in range(span.start, span.end)
        if text[place].strip()
    }


def _units(text: str, span: Span) -> int:
    return utf16_length(text[span.start : span.end])


def _code_lines(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    blocks = [span for span in spans if span.type == "pre"]
    for line in chain.from_iterable(
        regex.finditer("[^\n]+", text, pos=block.start, endpos=block.end) for block in blocks
    ):
        span = Span(line.start(), line.end(), "line")
        if _units(text, span) <= MESSAGE_UNITS:
            yield span


def _halves_a_grapheme(text: str, start: int, end: int) -> bool:
    """Whether Unicode's rules, as another library knows them, see one character across the cut."""
    if text[end] in _BLANKS or text[end - 1] in _BLANKS:
        return False
    for grapheme in _GRAPHEME.finditer(text, pos=start, endpos=end + _LONGEST_GRAPHEME):
        if grapheme.start() < end < grapheme.end():
            return len(grapheme[0]) < _LONGEST_GRAPHEME
    return False


def _is_within(text: str, place: int, spans: Sequence[Span]) -> bool:
    """Whether a cut here would leave something visible of one of these on both sides."""
    return any(
        span.start < place < span.end
        and text[span.start : place].strip(_BLANKS) != ""
        and text[place : span.end].strip(_BLANKS) != ""
        for span in spans
    )


def _has_free_place(text: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    """Whether a blank of this part, after something visible, lies outside of what should stay whole."""
    first = end - len(text[start:end].lstrip(_BLANKS))
    blanks = (place for place in range(first + 1, end) if text[place] in _BLANKS)
    return any(not _is_within(text, place, spans) for place in blanks)
