"""Renders a model's Markdown as Telegram text with entities; any text renders, broken Markdown included."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeAlias

import structlog
from telegramify_markdown.config import RenderConfig
from telegramify_markdown.converter import convert_with_segments

from bot.transport.concealing import JOINT, LABEL_END, LINE_BREAK, LINK_END, REVEALED, conceal
from bot.transport.entity_rules import LINK, is_sendable_url, valid_spans
from bot.transport.rich_text import (
    TRIMMED,
    Entity,
    RichText,
    Span,
    from_spans,
    is_blank,
    to_spans,
    utf16_length,
)
from bot.transport.tables import lay_out

log = structlog.get_logger()

# Beyond these the text is sent as it is: a conversion must not hold the event loop for seconds.
_MARKDOWN_LIMIT = 100_000
_BLOCK_MARKS_LIMIT = 2_000  # the library's time is quadratic in empty blocks: 13 s for 15,000 of them
_TABLE_CELLS_LIMIT = 200_000

# A quote beyond either of these is folded until the reader opens it.
_OPEN_QUOTE_LINES = 3
_OPEN_QUOTE_UNITS = 300

# What Telegram removes or replaces by a space (`clean_input_string` of TDLib).
_REPLACED = "".join(map(chr, {*range(0x20)} - {0x0A, 0x0D}))
_REMOVED = "".join(map(chr, range(0x2028, 0x202F))) + "\u0333\u033f\u030a"
_CLEANED = str.maketrans(
    dict.fromkeys(_REMOVED, "")
    | dict.fromkeys(_REPLACED, " ")
    | {chr(code): "" for code in range(0xFDD0, 0xFDF0)}
    | {"\u2028": "\n", "\u2029": "\n"}
)
_SHOWN = str.maketrans(dict.fromkeys(_REPLACED + _REMOVED + "\r", " ") | REVEALED)

_UNMARKED = {JOINT: "", LINE_BREAK: "\n", LABEL_END: " (", LINK_END: ")"}
_MARK = re.compile(f"[{''.join(_UNMARKED)}]")
_TABLE = "table"
_SPELLED_OUT = re.compile(r"(?:mailto:|(?!tg:)[a-z][a-z0-9+.-]*://)\S", re.IGNORECASE)


class ConvertedEntity(Protocol):
    """An entity as the Markdown library gives it."""

    @property
    def type(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def url(self) -> str | None: ...
    @property
    def language(self) -> str | None: ...


Converter: TypeAlias = Callable[[str], tuple[str, Sequence[ConvertedEntity]]]


class _Edit(NamedTuple):
    """A replacement of one range of the text, an insertion where the range is empty; `spans` format the new text."""

    start: int
    end: int
    text: str
    spans: tuple[Span, ...] = ()


def render(markdown: str, *, convert: Converter | None = None) -> RichText:
    """Text and entities that Telegram takes as they are, trimmed as Telegram trims; empty for blank text.

    Never raises: what cannot be read as Markdown, is over 100,000 characters or makes the converter fail is sent
    as plain text. HTML, mathematics and footnotes are shown as they were written. No length limit: see `split`.
    """
    source = _cleaned(markdown)
    if not _is_convertible(source):
        return _finished(source, [])
    try:
        text, spans = _parsed(source, convert or _converted)
    except Exception as error:  # noqa: BLE001 - the answer matters more than its formatting, whatever was raised
        return _as_written(source, error)
    except BaseException as error:
        # A panic of the library's Rust parser is a BaseException with no importable class.
        if type(error).__name__ != "PanicException":
            raise
        return _as_written(source, error)
    return _finished(text, spans)


def _as_written(source: str, error: BaseException) -> RichText:
    # The error's text may hold the message's: its class has to do.
    log.warning("markdown_not_rendered", error=type(error).__name__)
    return _finished(source, [])


def _cleaned(text: str) -> str:
    """Without what Telegram takes out, and with surrogates that JSON may have brought joined or replaced."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = paired.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return lines.translate(_CLEANED)


def _is_convertible(source: str) -> bool:
    """Whether the conversion's time and memory are bounded: every row of a table is padded to its widest one."""
    if len(source) > _MARKDOWN_LIMIT or sum(map(source.count, ("```", "~~~", "$$"))) > _BLOCK_MARKS_LIMIT:
        return False
    bars = [line.count("|") for line in source.split("\n") if "|" in line]
    return max(bars, default=0) * len(bars) <= _TABLE_CELLS_LIMIT


def _parsed(source: str, convert: Converter) -> tuple[str, list[Span]]:
    text, entities = convert(conceal(source))
    shown = text.translate(_SHOWN)
    rich = RichText(text=shown, entities=tuple(_entity(entity) for entity in entities))
    spans = to_spans(rich)
    tables = [
        _Edit(span.start, span.end, *_laid_out(shown[span.start : span.end]))
        for span in spans
        if span.type == _TABLE
    ]
    edits = [*tables, *_lines_of_their_own(shown, spans), *_refused_links(shown, spans)]
    within = [(table.start, table.end) for table in tables]
    edits += [edit for edit in _unmarked(shown) if not any(a <= edit.start < b for a, b in within)]
    return _edited(shown, [span for span in spans if span.type != _TABLE], edits)


def _converted(markdown: str) -> tuple[str, Sequence[ConvertedEntity]]:
    """As the library converts it, with our own type for tables: to it they are blocks of code as well."""
    config = RenderConfig.isolated()
    config.cite_expandable = False
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    symbols.image = "🖼 "
    text, entities, segments = convert_with_segments(markdown, latex_escape=False, config=config)
    code = {segment.utf16_start for segment in segments}
    converted = [_entity(entity) for entity in entities]
    return text, [
        replace(entity, type=_TABLE) if entity.type == "pre" and entity.offset not in code else entity
        for entity in converted
    ]


def _entity(entity: ConvertedEntity) -> Entity:
    return Entity(
        type=entity.type,
        offset=entity.offset,
        length=entity.length,
        url=entity.url and entity.url.translate(_SHOWN).strip(),
        language=entity.language and entity.language.translate(_SHOWN).split(" ")[0],
    )


def _laid_out(table: str) -> tuple[str, tuple[Span, ...]]:
    text, spans = lay_out(table)
    return text, tuple(spans)


def _lines_of_their_own(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Line breaks around blocks that the library put into a line."""
    edits: list[_Edit] = []
    for span in spans:
        if span.type not in {"pre", "blockquote", _TABLE}:
            continue
        if span.start > 0 and text[span.start - 1] != "\n":
            edits.append(_Edit(span.start, span.start, "\n"))
        if span.end < len(text) and text[span.end] != "\n" and text[span.end - 1] != "\n":
            edits.append(_Edit(span.end, span.end, "\n"))
    return edits


def _unmarked(text: str) -> list[_Edit]:
    """Takes out what only the library was to see."""
    return [_Edit(mark.start(), mark.end(), _UNMARKED[mark[0]]) for mark in _MARK.finditer(text)]


def _refused_links(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Spells out the address of a link that Telegram would refuse, such as one of a local server."""
    edits: list[_Edit] = []
    for span in spans:
        url = span.url or ""
        if span.type != LINK or not _SPELLED_OUT.match(url) or is_sendable_url(url):
            continue
        address = url.removeprefix("mailto:")
        if address not in text[span.start : span.end]:
            edits.append(_Edit(span.end, span.end, f" ({address})"))
    return edits


def _edited(text: str, spans: Sequence[Span], edits: Sequence[_Edit]) -> tuple[str, list[Span]]:
    """Applies disjoint edits; an insertion at a range's start comes before it, one at its end after it."""
    ordered = sorted(set(edits))
    pieces: list[str] = []
    added: list[Span] = []
    done = length = 0
    for edit in ordered:
        length += edit.start - done
        added += [span._replace(start=length + span.start, end=length + span.end) for span in edit.spans]
        length += len(edit.text)
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    pieces.append(text[done:])
    starts, ends = [edit.start for edit in ordered], [edit.end for edit in ordered]
    shifts = list(accumulate((len(e.text) - (e.end - e.start) for e in ordered), initial=0))
    moved = [
        span._replace(
            start=span.start + shifts[bisect_right(ends, span.start)],
            end=span.end + shifts[bisect_left(starts, span.end)],
        )
        for span in spans
    ]
    return "".join(pieces), [*moved, *added]


def _finished(text: str, spans: Sequence[Span]) -> RichText:
    if is_blank(text):
        return RichText(text="")
    valid = valid_spans(text, spans)
    # Telegram does not trim into an entity at the start: it could be the indentation of a code block.
    first = min((span.start for span in valid if span.type == "pre"), default=len(text))
    begin = min(len(text) - len(text.lstrip(TRIMMED)), first)
    end = len(text.rstrip(TRIMMED))
    cut = [
        span._replace(start=max(span.start, begin) - begin, end=min(span.end, end) - begin) for span in valid
    ]
    return from_spans(text[begin:end], [_folded(text[begin:end], span) for span in cut])


def _folded(text: str, span: Span) -> Span:
    """A long quote, which the reader opens; anything else as it is."""
    quoted = text[span.start : span.end]
    is_long = quoted.count("\n") >= _OPEN_QUOTE_LINES or utf16_length(quoted) > _OPEN_QUOTE_UNITS
    return span._replace(type="expandable_blockquote") if span.type == "blockquote" and is_long else span
