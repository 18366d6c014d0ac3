"""Rendering of a model's Markdown as Telegram text with entities. Any text renders, also broken Markdown."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import structlog

from bot.transport.blocks import Token, parse_blocks
from bot.transport.inline_markup import FILE_TYPE, parse_inline
from bot.transport.rich_text import LINK, TRIMMED, RichText, Span, from_spans, utf16_length, valid_spans
from bot.transport.splitting import ENTITY_LIMIT, MESSAGE_LIMIT, split
from memory.characters import is_blank

log = structlog.get_logger()

Parsed: TypeAlias = tuple[str, list[Span]]

# Finds characters of Markdown anywhere, marks of a block at a line's start, blanks that Markdown or Telegram would
# remove, file names that Telegram would link, and characters that `_cleaned` changes. A text without any of these is
# rendered as it is.
_MARKUP = re.compile(
    r"[\x00-\x09\x0b-\x1f\\`*_~<>\[|$&\u030a\u0333\u033f\u2028-\u202e\ufdd0-\ufdef\ud800-\udfff]"
    r"|(?m:^(?:[ #=+-]|\d+[.)]))|\A\n| \n|\n\n\n|[ \n]\Z"
    rf"|{FILE_TYPE.pattern}"
)
MARKDOWN_LIMIT = 100_000
_LINES_LIMIT = 5_000
_RANGES_LIMIT = 10_000
"""Larger texts are sent as plain text, because rendering must not block the event loop for seconds."""
_GROWTH = 4_000
"""Characters that a rendered text may have above twice its source."""

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
# Those that a character reference such as `&#8232;` has brought back.
_SHOWN = str.maketrans(dict.fromkeys(_REPLACED + _REMOVED + "\r", " "))

_EMPTY: Parsed = ("", [])
_LINE = "————————"
_BOX = re.compile(r"\[(?P<done>[ xX])\](?:\s+|$)")
_ALERT = re.compile(r"\[!(?P<word>[A-Za-z]+)\][+-]?")
_LANGUAGE = re.compile(r"\{?\.?(?P<name>[\w+#.-]{1,32})(?=[\s:{},]|\Z)")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)


def render_messages(markdown: str, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Return the messages for a text, each of at most `limit` UTF-16 units; none for blank text."""
    rich = render(markdown)
    if rich.text and len(rich.entities) <= ENTITY_LIMIT and utf16_length(rich.text) <= limit:
        return [rich]
    return split(rich, limit)


def render(markdown: str) -> RichText:
    """Return text and entities that Telegram accepts, trimmed as Telegram trims; empty for blank text.

    Never raises: unreadable Markdown and more than 100,000 characters become plain text. HTML, mathematics and
    footnotes stay as they are. The length is at most twice that of the source and 4,000 characters.
    """
    if _MARKUP.search(markdown) is None and not is_blank(markdown):
        return RichText(text=markdown)
    return render_with(parse, markdown)


def render_with(parser: Callable[[str], Parsed], markdown: str) -> RichText:
    """Render a text with this parser, also one without any markup."""
    source = _cleaned(markdown)
    if len(source) > MARKDOWN_LIMIT or source.count("\n") > _LINES_LIMIT:
        return _finished(source, [])
    try:
        text, spans = parser(source)
    except Exception as error:  # noqa: BLE001 - the answer matters more than its formatting
        log.warning(
            "markdown_not_rendered", error=type(error).__name__
        )  # its text may have text of the message
        return _finished(source, [])
    if len(text) > 2 * len(source) + _GROWTH or len(spans) > _RANGES_LIMIT:
        return _finished(source, [])
    return _finished(text, spans)


def parse(source: str) -> Parsed:
    """Return the text as a chat shows it, and its formatted ranges, not yet valid for Telegram."""
    tokens, definitions = parse_blocks(source)
    used: set[str] = set()
    inline = [
        parse_inline(token.content, definitions, used) if token.type == "inline" else _EMPTY
        for token in tokens
    ]
    writer = _Writer(definitions, used, room=len(source) + _GROWTH)
    for token, parsed in zip(tokens, inline, strict=True):
        writer.write(token, parsed)
    return writer.written()


class _Writer:
    """The text so far. Blocks are divided as in the source: by a blank line or a line break; lists are close."""

    def __init__(self, definitions: Mapping[str, str], used: set[str], *, room: int) -> None:
        self._definitions = definitions
        self._used = used
        self._room = room
        """Characters that tables may add to their sources."""
        self._pieces: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._line_end = 0
        """The line of the source after the last block."""
        self._is_fresh = True
        """Nothing divides the next block from what is before it."""
        self._marker: str | None = None
        """The mark of a list item that has no text yet."""
        self._lists = 0
        self._quotes: list[int] = []
        self._block = 0
        self._is_quote_begun = False

    def written(self) -> Parsed:
        return "".join(self._pieces).translate(_SHOWN), self._spans

    def write(self, token: Token, parsed: Parsed) -> None:
        """Add a token; `parsed` is the text of an inline one."""
        if token.type == "inline":
            self._write_inline(parsed)
        elif token.nesting > 0:
            self._open(token)
        elif token.nesting < 0:
            self._close(token)
        elif token.type == "table":
            self._write_table(token)
        elif token.type == "definitions":
            self._write_definitions(token)
        else:
            self._write_code(token)

    def _open(self, token: Token) -> None:
        match token.type:
            case "list_item_open":
                self._begin_item(token)
            case "bullet_list_open" | "ordered_list_open":
                self._begin(token, is_container=True)
                self._lists += 1
            case "blockquote_open":
                self._begin(token, on_own_line=True)
                self._quotes.append(self._length)
                self._is_fresh = self._is_quote_begun = True
            case _:
                self._begin(token)

    def _close(self, token: Token) -> None:
        match token.type:
            case "list_item_close":
                self._is_fresh, self._marker = False, None
            case "bullet_list_close" | "ordered_list_close":
                self._lists -= 1
            case "blockquote_close":
                self._spans.append(Span(self._quotes.pop(), self._length, "blockquote"))
                self._is_fresh = False
            case "heading_close":
                kinds = ("bold", "underline") if token.tag in {"h1", "h2"} else ("bold",)
                self._spans += [Span(self._block, self._length, kind) for kind in kinds]
            case _:
                pass

    def _add(self, text: str, spans: Sequence[Span] = ()) -> None:
        self._spans += [
            span._replace(start=span.start + self._length, end=span.end + self._length) for span in spans
        ]
        self._pieces.append(text)
        self._length += len(text)

    def _begin(self, token: Token, *, on_own_line: bool = False, is_container: bool = False) -> None:
        """Divide a block from the one before it. The first line of a list item goes on after its mark."""
        start, end = token.map or (self._line_end, self._line_end)
        if self._marker is not None:
            if on_own_line:
                self._add("\n")
                self._marker = None
        elif not self._is_fresh:
            self._add("\n" if self._lists or start <= self._line_end else "\n\n")
        self._is_fresh = is_container or self._marker is not None
        self._line_end = start if is_container else end
        self._block = self._length

    def _begin_item(self, token: Token) -> None:
        """Add the mark of a list item: a bullet, or the number or plus as it is written: `+ 20` may be a sum."""
        if self._marker is not None:
            self._add(" ")
        elif not self._is_fresh:
            self._add("\n")
        if self._marker is None:
            self._add("  " * (self._lists - 1))
        is_plus = token.markup == "+" and self._lists == 1
        self._marker = f"{token.info}{token.markup}" if token.info or is_plus else "•"
        self._add(self._marker)
        self._line_end = (token.map or (self._line_end,))[0] + 1
        self._is_fresh = False

    def _write_inline(self, parsed: Parsed) -> None:
        if self._marker is not None:
            if box := _BOX.match(parsed[0]):
                if self._marker == "•":
                    self._pieces.pop()
                    self._length -= 1
                else:
                    self._add(" ")
                self._add("☐" if box["done"] == " " else "☑")
                parsed = _without(parsed, 0, box.end())
            self._add(" " if parsed[0] else "")
            self._block = self._length
        elif self._is_quote_begun and (alert := _ALERT.match(parsed[0])):
            text, spans = _without(_without(parsed, alert.end("word"), alert.end()), 0, alert.start("word"))
            parsed = text, [*spans, Span(0, len(alert["word"]), "bold")]
        self._marker = None
        self._is_fresh = self._is_quote_begun = False
        self._add(*parsed)

    def _write_code(self, token: Token) -> None:
        """Add code, a formula, or the line that divides sections."""
        self._begin(token, on_own_line=True)
        language = "latex" if token.type == "formula" else None
        if found := _LANGUAGE.match(token.info):
            language = found["name"]
        code = token.content.rstrip("\n")
        self._add(
            *((_LINE, []) if token.type == "hr" else (code, [Span(0, len(code), "pre", None, language)]))
        )
        self._is_fresh = self._is_quote_begun = False

    def _write_table(self, token: Token) -> None:
        self._begin(token, on_own_line=True)
        rows = [
            [parse_inline(_BREAK.sub("\n", cell), self._definitions, self._used) for cell in row]
            for row in token.meta["rows"]
        ]
        table = lay_out(rows, len(token.content) + self._room) or (token.content, [])
        self._room -= max(0, len(table[0]) - len(token.content))
        self._add(*table)
        self._is_fresh = self._is_quote_begun = False

    def _write_definitions(self, token: Token) -> None:
        """Add the definitions whose labels no link has used, or all of them in a list with a title."""
        keeps_all = self._lists > 0 or self._follows_title()
        lines = [line for label, line in token.meta["lines"] if keeps_all or label not in self._used]
        if lines:
            self._begin(token)
            self._write_inline(("\n".join(lines), []))

    def _follows_title(self) -> bool:
        """Return True after a heading, a line in bold, or a colon."""
        last = "".join(self._pieces[-2:]).rstrip()
        is_bold = any(span.end == self._length and span.type == "bold" for span in self._spans[-2:])
        return is_bold or last.endswith((":", "\uff1a"))


def _without(parsed: Parsed, start: int, end: int) -> Parsed:
    """Return the text without this range, which no formatting begins or ends in."""
    text, spans = parsed
    cut = end - start
    moved = [
        span._replace(
            start=span.start - cut if span.start >= end else span.start,
            end=span.end - cut if span.end >= end else span.end,
        )
        for span in spans
    ]
    return text[:start] + text[end:], moved


def _cleaned(text: str) -> str:
    """Remove characters that Telegram removes, and join or replace the surrogates of JSON."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = paired.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return lines.translate(_CLEANED)


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


Cell: TypeAlias = tuple[str, list[Span]]
Lines: TypeAlias = list[list[str]]

TABLE_WIDTH = 40
"""Columns of a code block that a phone shows in one line."""

_NUMBER = re.compile(r"[+\-\u2212]?[$€£]?\d[\d.,\u202f ]*%?")
_EMOJI_STYLE = "\ufe0f"
_ZWJ = "\u200d"


def lay_out(rows: Sequence[Sequence[Cell]], room: int) -> Cell | None:
    """Return the text of a table, the header first, and its formatting; None if it needs more than `room`.

    Tables with links, and those that are too wide for a phone, become records.
    """
    columns = max(map(len, rows))
    filled = sum(map(len, rows))
    if columns * len(rows) > filled + room:
        return None
    full = [[*row, *[("", list[Span]())] * (columns - len(row))] for row in rows]
    has_links = any(span.type == LINK for row in full for _, spans in row for span in spans)
    if not has_links or len(full) < 2:
        cells = [[[line.strip() for line in text.split("\n")] for text, _ in row] for row in full]
        widths = [
            max(display_width(line) for cell in column for line in cell)
            for column in zip(*cells, strict=True)
        ]
        if sum(widths) + 3 * (columns - 1) <= TABLE_WIDTH or len(full) < 2:
            text = _aligned(cells, widths)
            return (text, [Span(0, len(text), "pre")]) if len(text) <= room else None
    names = sum(
        len(name) for row in full[1:] for (name, _), (text, _) in zip(full[0], row, strict=True) if text
    )
    return _records(full) if names <= room else None


def display_width(text: str) -> int:
    """Return the columns in a monospaced font: 0 for marks, 2 for wide East Asian letters and emoji."""
    if text.isascii():
        return len(text)
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


def _aligned(rows: Sequence[Lines], widths: Sequence[int]) -> str:
    numeric = [
        all(_NUMBER.fullmatch(" ".join(cell)) for cell in column[1:]) for column in zip(*rows, strict=True)
    ]
    head, *body = [_row_lines(row, widths, numeric) for row in rows]
    rule = ["-+-".join("-" * width for width in widths)] if body else []
    return "\n".join([*head, *rule, *(line for lines in body for line in lines)])


def _row_lines(cells: Lines, widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """Return the lines of a row; a cell with `<br>` has several."""
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


def _records(rows: Sequence[Sequence[Cell]]) -> Cell:
    """Return one paragraph per row: the first cell in bold, then each cell, after the names of their columns.

    A column without any cell is named too, so that no word is lost.
    """
    head, *body = [[(text.replace("\n", " "), spans) for text, spans in row] for row in rows]
    named = [any(row[column][0] for row in body) for column in range(len(head))]
    pieces: list[str] = []
    spans: list[Span] = []
    length = 0

    for row in body:
        lines = [
            (name, cell)
            for name, cell, is_filled in zip(head, row, named, strict=True)
            if cell[0] or (name[0] and not is_filled)
        ]
        for number, (name, cell) in enumerate(lines):
            is_title = number == 0 and bool(row[0][0])
            for text, ranges in (
                ("" if not pieces else "\n\n" if number == 0 else "\n", []),
                ("" if is_title else "• ", []),
                name,
                (": " if name[0] and cell[0] else "", []),
                (cell[0], [*cell[1], Span(0, len(cell[0]), "bold")] if is_title else cell[1]),
            ):
                spans += [each._replace(start=length + each.start, end=length + each.end) for each in ranges]
                pieces.append(text)
                length += len(text)
    return "".join(pieces), spans
