"""Renders a model's Markdown as Telegram text with entities; any text renders, broken Markdown included."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeAlias

from telegramify_markdown import convert as telegramify
from telegramify_markdown.config import RenderConfig

from bot.transport.entity_rules import LINK, is_sendable_url, valid_spans
from bot.transport.rich_text import TRIMMED, Entity, RichText, Span, from_spans, is_blank, to_spans

# Beyond these the text is sent as it is: a conversion must not hold the event loop for seconds.
_MARKDOWN_LIMIT = 100_000
_BLOCK_MARKS_LIMIT = 2_000  # the library's time is quadratic in empty blocks: 13 s for 15,000 of them
_TABLE_CELLS_LIMIT = 200_000
_LATEX_OPENERS_LIMIT = 200  # each unclosed one makes the library scan to the end of the paragraph

# Noncharacters stand for what the parser would swallow or misread; each takes one UTF-16 unit, as its original.
_LESS, _BRACKET, _DOLLAR, _BACKSLASH, _BAR, _TIMES, _BLANK = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"
_REVEALED = {_LESS: "<", _BRACKET: "[", _DOLLAR: "$", _BACKSLASH: "\\", _BAR: "|", _TIMES: "*", _BLANK: " "}

# What Telegram removes or replaces by a space (`clean_input_string` of TDLib).
_REPLACED = "".join(map(chr, {*range(0x20)} - {0x0A, 0x0D}))
_REMOVED = "".join(map(chr, range(0x2028, 0x202F))) + "\u0333\u033f\u030a"
_CLEANED = str.maketrans(
    dict.fromkeys(_REMOVED, "")
    | dict.fromkeys(_REPLACED, " ")
    | {chr(code): "" for code in range(0xFDD0, 0xFDF0)}
    | {"\u2028": "\n", "\u2029": "\n"}
)
_SHOWN = str.maketrans(dict.fromkeys(_REPLACED + _REMOVED + "\r", " ") | _REVEALED)

_TAG = re.compile(r"(?<!\\)(?<!\]\()<(?=[A-Za-z/!?])(?!(?:https?|tg|mailto):[^\s<>]*>)")
_PRODUCT = re.compile(r"(?<=\d)\*(?=\d)")
_FOOTNOTE = re.compile(r"^( {0,3})\[(?=\^[^\]\s]+\]:)", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ >]*\|(?!\|[^|\n]*\|\|).*$", re.MULTILINE)
_OTHER_LINE = re.compile(r"^(?![ >]*\|(?!\|[^|\n]*\|\|)).*\|\|.*$", re.MULTILINE)
_EMPTY_CELL = re.compile(r"\|(?=\|)")
_MATH_BACKSLASH = re.compile(r"\\(?=[()\[\]])")
_CODE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^[ >]*\1|\Z)|`[^`\n]+`", re.MULTILINE)
_TABLE_RULE = re.compile(r"-*(?:-\+-+)+")


class ConvertedEntity(Protocol):
    """An entity as the Markdown library gives it."""

    type: str
    offset: int
    length: int
    url: str | None
    language: str | None


Converter: TypeAlias = Callable[[str], tuple[str, Sequence[ConvertedEntity]]]


class _Edit(NamedTuple):
    """A replacement of one range of the text; an insertion where the range is empty."""

    start: int
    end: int
    text: str


def render(markdown: str, *, convert: Converter | None = None) -> RichText:
    """Text and entities that Telegram takes as they are, trimmed as Telegram trims; empty for blank text.

    Never raises: what cannot be read as Markdown, is over 100,000 characters or makes the converter fail is sent
    as plain text. HTML, spoiler bars and footnotes are shown as they were written. No length limit: see `split`.
    """
    source = _cleaned(markdown)
    if not _is_convertible(source):
        return _finished(source, [])
    try:
        text, spans = _parsed(source, convert or _converted)
    except Exception:  # noqa: BLE001 - the answer matters more than its formatting, whatever the library raised
        return _finished(source, [])
    except BaseException as error:
        # A panic of the library's Rust parser is a BaseException with no importable class.
        if type(error).__name__ != "PanicException":
            raise
        return _finished(source, [])
    return _finished(text, spans)


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
    text, entities = convert(_concealed(source))
    shown = text.translate(_SHOWN)
    rich = RichText(text=shown, entities=tuple(_entity(entity) for entity in entities))
    spans = to_spans(rich)
    return _edited(shown, spans, [*_arranged_blocks(shown, spans), *_refused_links(shown, spans)])


def _concealed(source: str) -> str:
    """Hides what the library would drop (HTML, footnotes) or misread: bars as spoilers, products as italics, math in code.

    The paragraph in front makes the library put blocks of a first list on lines of their own.
    """
    text = _TAG.sub(_LESS, source)
    text = _PRODUCT.sub(_TIMES, text)
    text = _FOOTNOTE.sub(rf"\1{_BRACKET}", text)
    text = _OTHER_LINE.sub(lambda line: line[0].replace("||", _BAR * 2), text)
    text = _TABLE_ROW.sub(_concealed_row, text)
    text = _CODE.sub(lambda code: _MATH_BACKSLASH.sub(_BACKSLASH, code[0].replace(_BLANK, "")), text)
    return f"{_BLANK}\n\n{text}"


def _concealed_row(row: re.Match[str]) -> str:
    """Mathematics stays as it was written, and an empty cell gets a blank, lest its bars begin a spoiler."""
    plain = _MATH_BACKSLASH.sub(_BACKSLASH, row[0]).replace("$", _DOLLAR)
    if plain.count("|") < 4 and not plain.endswith("|"):  # no row of a table, but one more line with bars
        return plain.replace("||", _BAR * 2)
    return _EMPTY_CELL.sub(f"|{_BLANK}", plain)


def _converted(markdown: str) -> tuple[str, Sequence[ConvertedEntity]]:
    config = RenderConfig.isolated()
    config.cite_expandable = False
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    openers = markdown.count("\\[") + markdown.count("\\(")
    return telegramify(markdown, latex_escape=openers <= _LATEX_OPENERS_LIMIT, config=config)


def _entity(entity: ConvertedEntity) -> Entity:
    return Entity(
        type=entity.type,
        offset=entity.offset,
        length=entity.length,
        url=entity.url and entity.url.translate(_SHOWN).strip(),
        language=entity.language and entity.language.translate(_SHOWN).split(" ")[0],
    )


def _arranged_blocks(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Puts blocks on lines of their own, and tables in columns where characters are of different widths."""
    edits: list[_Edit] = []
    for span in spans:
        if span.type not in {"pre", "blockquote"}:
            continue
        if span.start > 0 and text[span.start - 1] != "\n":
            edits.append(_Edit(span.start, span.start, "\n"))
        if span.type == "pre" and (table := _aligned(text[span.start : span.end])):
            edits.append(_Edit(span.start, span.end, table))
        if span.end < len(text) and text[span.end] != "\n" and text[span.end - 1] != "\n":
            edits.append(_Edit(span.end, span.end, "\n"))
    return edits


def _aligned(block: str) -> str | None:
    """The library's table padded by display width instead of code points; None for any other block."""
    lines = block.split("\n")
    if (
        len(lines) < 2
        or not _TABLE_RULE.fullmatch(lines[1])
        or {len(line) for line in lines} != {len(lines[1])}
    ):
        return None
    widths = [len(dashes) for dashes in lines[1].split("-+-")]
    starts = list(accumulate(widths, lambda start, width: start + width + 3, initial=0))
    rows = [
        [line[start : start + width].rstrip() for start, width in zip(starts, widths, strict=False)]
        for line in (lines[0], *lines[2:])
    ]
    shown = [max(map(_display_width, column)) for column in zip(*rows, strict=True)]
    padded = [
        " | ".join(
            cell + " " * (width - _display_width(cell)) for cell, width in zip(row, shown, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([padded[0], "-+-".join("-" * width for width in shown), *padded[1:]])


def _display_width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def _refused_links(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Spells out the address of a link that Telegram would refuse, such as one of a local server."""
    edits: list[_Edit] = []
    for span in spans:
        url = span.url or ""
        if (
            span.type != LINK
            or not url.startswith(("http://", "https://", "mailto:"))
            or is_sendable_url(url)
        ):
            continue
        address = url.removeprefix("mailto:")
        if address not in text[span.start : span.end]:
            edits.append(_Edit(span.end, span.end, f" ({address})"))
    return edits


def _edited(text: str, spans: Sequence[Span], edits: Sequence[_Edit]) -> tuple[str, list[Span]]:
    """Applies disjoint edits; an insertion at a range's start comes before it, one at its end after it."""
    ordered = sorted(set(edits))
    pieces: list[str] = []
    done = 0
    for edit in ordered:
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
    return "".join(pieces), moved


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
    return from_spans(text[begin:end], cut)
