"""Rendering of a model's Markdown as Telegram text with entities. Any text renders, also broken Markdown."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import structlog
from telegramify_markdown.config import RenderConfig
from telegramify_markdown.converter import convert_with_segments

from bot.transport.placeholders import JOINT, LABEL_END, LINE_BREAK, LINK_END, REVEALED, hide
from bot.transport.rich_text import (
    LINK,
    TRIMMED,
    Entity,
    RichText,
    Span,
    from_spans,
    is_blank,
    is_sendable_url,
    to_spans,
    utf16_length,
    valid_spans,
)
from bot.transport.splitting import ENTITY_LIMIT, MESSAGE_LIMIT, split

log = structlog.get_logger()

# Finds characters of Markdown anywhere, marks of a block at a line's start, blanks that Markdown or Telegram would
# remove, and characters that `_cleaned` changes. A text without any of these is rendered as it is.
_MARKUP = re.compile(
    r"[\x00-\x09\x0b-\x1f\\`*_~<>\[|$&\u030a\u0333\u033f\u2028-\u202e\ufdd0-\ufdef\ud800-\udfff]"
    r"|(?m:^(?:[ #=+-]|\d+[.)]))|\A\n| \n|\n\n\n|[ \n]\Z"
)

# Larger texts are sent as plain text, because a conversion must not block the event loop for seconds.
_MARKDOWN_LIMIT = 100_000
_BLOCK_MARKS_LIMIT = 2_000  # the library's time is quadratic in empty blocks: 13 s for 15,000 of them
_TABLE_CELLS_LIMIT = 200_000

# A longer quote is collapsed until the reader opens it.
_OPEN_QUOTE_LINES = 3
_OPEN_QUOTE_UNITS = 300

# Characters that Telegram removes or replaces by a space (`clean_input_string` of TDLib).
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
_NUMBER = re.compile(r"[+\-\u2212]?[$€£]?\d[\d.,\u202f ]*%?")
_RULE = re.compile(r"-*(?:-\+-+)*")
_CELL_LINK = re.compile(f"(?P<label>[^{LABEL_END}{LINK_END}]*){LABEL_END}(?P<url>[^{LINK_END}]*){LINK_END}")
_EMOJI_STYLE = "\ufe0f"
_ZWJ = "\u200d"
TABLE_WIDTH = 40
"""Columns of a code block that a phone shows in one line."""

Rows: TypeAlias = list[list[str]]
_SPELLED_OUT = re.compile(r"(?:mailto:|(?!tg:)[a-z][a-z0-9+.-]*://)\S", re.IGNORECASE)


Converter: TypeAlias = Callable[[str], tuple[str, Sequence[Entity]]]


class _Edit(NamedTuple):
    """A replacement of one range, or an insertion if the range is empty. `spans` format the new text."""

    start: int
    end: int
    text: str
    spans: tuple[Span, ...] = ()


def render_messages(markdown: str, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Return the messages for a text, each of at most `limit` UTF-16 units; none for blank text."""
    rich = render(markdown)
    if rich.text and len(rich.entities) <= ENTITY_LIMIT and utf16_length(rich.text) <= limit:
        return [rich]
    return split(rich, limit)


def render(markdown: str) -> RichText:
    """Return text and entities that Telegram accepts, trimmed as Telegram trims; empty for blank text.

    Never raises: unreadable Markdown and more than 100,000 characters become plain text. HTML, mathematics and
    footnotes stay as they are. The length is not limited here (see `render_messages`).
    """
    if _MARKUP.search(markdown) is None and not is_blank(markdown):
        return RichText(text=markdown)
    return render_with(convert_by_library, markdown)


def render_with(convert: Converter, markdown: str) -> RichText:
    """Render a text with this converter, also one without any markup."""
    source = _cleaned(markdown)
    if not _is_convertible(source):
        return _finished(source, [])
    try:
        text, spans = _parsed(source, convert)
    except BaseException as error:
        # The answer matters more than its formatting, whatever was raised. A panic of the library's Rust parser is a
        # BaseException with no importable class.
        name = type(error).__name__
        if not isinstance(error, Exception) and name != "PanicException":
            raise
        log.warning("markdown_not_rendered", error=name)  # the error's text may contain text of the message
        return _finished(source, [])
    return _finished(text, spans)


def _cleaned(text: str) -> str:
    """Remove characters that Telegram removes, and join or replace the surrogates of JSON."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = paired.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return lines.translate(_CLEANED)


def _is_convertible(source: str) -> bool:
    """Return True if time and memory of the conversion are bounded. The library pads each row of a table."""
    if len(source) > _MARKDOWN_LIMIT or sum(map(source.count, ("```", "~~~", "$$"))) > _BLOCK_MARKS_LIMIT:
        return False
    bars = [line.count("|") for line in source.split("\n") if "|" in line]
    return max(bars, default=0) * len(bars) <= _TABLE_CELLS_LIMIT


def _parsed(source: str, convert: Converter) -> tuple[str, list[Span]]:
    text, entities = convert(hide(source))
    visible = text.translate(_SHOWN)
    spans = to_spans(RichText(text=visible, entities=tuple(entities)))
    tables = [
        _Edit(span.start, span.end, *lay_out(visible[span.start : span.end]))
        for span in spans
        if span.type == _TABLE
    ]
    edits = [*tables, *_lines_of_their_own(visible, spans), *_refused_links(visible, spans)]
    within = [(table.start, table.end) for table in tables]
    edits += [edit for edit in _unmarked(visible) if not any(a <= edit.start < b for a, b in within)]
    return _edited(visible, [span for span in spans if span.type != _TABLE], edits)


def convert_by_library(markdown: str) -> tuple[str, Sequence[Entity]]:
    """Convert by the library, with a type of our own for tables, which the library renders as code blocks."""
    config = RenderConfig.isolated()
    config.cite_expandable = False
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    symbols.task_completed, symbols.task_uncompleted = "☑", "☐"
    symbols.image = "🖼 "
    text, entities, segments = convert_with_segments(markdown, latex_escape=False, config=config)
    code = {segment.utf16_start for segment in segments}
    return text, [
        Entity(
            type=_TABLE if entity.type == "pre" and entity.offset not in code else entity.type,
            offset=entity.offset,
            length=entity.length,
            url=entity.url and entity.url.translate(_SHOWN).strip(),
            language=entity.language and entity.language.translate(_SHOWN).split(" ")[0],
        )
        for entity in entities
    ]


def _lines_of_their_own(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Return line breaks around blocks that the library put into a line."""
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
    """Return edits that remove the marks for the library."""
    return [_Edit(mark.start(), mark.end(), _UNMARKED[mark[0]]) for mark in _MARK.finditer(text)]


def _refused_links(text: str, spans: Sequence[Span]) -> list[_Edit]:
    """Return edits that write out the address of a link that Telegram would refuse, such as a local server."""
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
    """Apply disjoint edits. An insertion at a range's start comes before it, one at its end after it."""
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
    """Collapse a long quote."""
    quoted = text[span.start : span.end]
    is_long = quoted.count("\n") >= _OPEN_QUOTE_LINES or utf16_length(quoted) > _OPEN_QUOTE_UNITS
    return span._replace(type="expandable_blockquote") if span.type == "blockquote" and is_long else span


def lay_out(block: str) -> tuple[str, tuple[Span, ...]]:
    """Lay out a table of the library: aligned by display width, or as one record after another.

    Return the text and its formatting. A block that is not a table becomes a code block.
    """
    rows = _rows(block)
    if rows is None:
        return block, (Span(0, len(block), "pre"),)
    if len(rows) > 1 and LABEL_END in block:
        return _records(rows)
    aligned = _aligned(rows)
    if max(map(display_width, aligned.split("\n"))) <= TABLE_WIDTH or len(rows) < 2:
        return aligned, (Span(0, len(aligned), "pre"),)
    return _records(rows)


def display_width(text: str) -> int:
    """Return the columns in a monospaced font: 0 for marks, 2 for wide East Asian letters and emoji."""
    width = last = 0
    joined = False
    for character in text:
        if character == _EMOJI_STYLE:
            columns = 1 if last == 1 else 0
        elif joined or _is_mark(character):
            columns = 0
        else:
            columns = last = 1 + (unicodedata.east_asian_width(character) in "WF")
        width += columns
        joined = character == _ZWJ
    return width


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me", "Cf"} or "\U0001f3fb" <= character <= "\U0001f3ff"


def _rows(block: str) -> Rows | None:
    """Return the cells, the header first; None if the block is not a padded table."""
    lines = block.split("\n")
    rule = lines[1] if len(lines) > 1 else "-" * len(lines[0])
    if not _RULE.fullmatch(rule) or {len(line) for line in lines} != {len(rule)}:
        return None
    widths = [len(dashes) for dashes in rule.split("-+-")]
    starts = list(accumulate(widths, lambda start, width: start + width + 3, initial=0))
    return [
        [
            line[start : start + width].replace(JOINT, "").strip()
            for start, width in zip(starts, widths, strict=False)
        ]
        for line in (lines[0], *lines[2:])
    ]


def _aligned(rows: Rows) -> str:
    widths = [
        max(display_width(line) for cell in column for line in cell.split(LINE_BREAK))
        for column in zip(*rows, strict=True)
    ]
    numeric = [all(map(_NUMBER.fullmatch, column[1:])) for column in zip(*rows, strict=True)]
    head, *body = [_row_lines(row, widths, numeric) for row in rows]
    rule = ["-+-".join("-" * width for width in widths)] if body else []
    return "\n".join([*head, *rule, *(line for lines in body for line in lines)])


def _row_lines(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """Return the lines of a row; a cell with `<br>` has several."""
    cells = [[line.strip() for line in cell.split(LINE_BREAK)] for cell in row]
    return [
        " | ".join(
            _padded(lines[number] if number < len(lines) else "", width, is_number)
            for lines, width, is_number in zip(cells, widths, numeric, strict=True)
        ).rstrip()
        for number in range(max(map(len, cells)))
    ]


def _padded(text: str, width: int, is_number: bool) -> str:
    blanks = " " * (width - display_width(text))
    return blanks + text if is_number else text + blanks


def _records(rows: Rows) -> tuple[str, tuple[Span, ...]]:
    """Return one paragraph per row: the first cell in bold, then each cell after its column's name. Links work here."""
    head, *body = [[cell.replace(LINE_BREAK, " ") for cell in row] for row in rows]
    names = [_CELL_LINK.sub(r"\g<label>", name) for name in head]
    text = ""
    spans: list[Span] = []
    for first, *others in body:
        text += "\n\n" if text else ""
        begin = len(text)
        text, links = _with_links(text, first)
        spans += [Span(begin, len(text), "bold"), *links]
        for name, cell in zip(names[1:], others, strict=True):
            if cell:
                line_break = "" if len(text) == begin else "\n"
                text, links = _with_links(f"{text}{line_break}• {name}{': ' if name else ''}", cell)
                spans += links
    return text, tuple(spans)


def _with_links(text: str, cell: str) -> tuple[str, list[Span]]:
    """Append a cell to the text; return the text and the links of the cell."""
    links: list[Span] = []
    done = 0
    for link in _CELL_LINK.finditer(cell):
        text += cell[done : link.start()]
        links.append(Span(len(text), len(text) + len(link["label"]), "text_link", link["url"]))
        text += link["label"]
        done = link.end()
    return text + cell[done:], links
