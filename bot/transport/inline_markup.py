"""Markdown within a paragraph: its text as a chat shows it, and the ranges that are formatted.

One pass over the marks, as CommonMark reads them, except where a chat needs the characters: `2**10`, `__init__`,
globs, addresses, formulas and backslashes stay as they are written. The time is linear in the length.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from html.entities import html5
from itertools import accumulate
from typing import NamedTuple

from bot.transport.rich_text import LINK, Span, is_sendable_url

# Endings that are both file types and top-level domains: Telegram makes links of such names (openclaw#6932).
_FILE_TYPES = "md|py|sh|rs|pl|pm|ps|cc|so|mk|ml|mm|gd|tf|zip|mov|pub|cab|properties"
_FILE = re.compile(
    rf"(?<![\w@/.\\~:-])(?!www\.)(?:~?/|[a-z]:[/\\])?(?:[\w.-]+(?:/|\\(?=[^\W_])))*+"
    rf"[\w.-]*\w\.(?:{_FILE_TYPES})(?![\w/@]|[.-]\w)",
    re.IGNORECASE,
)
FILE_TYPE = re.compile(rf"\w\.(?i:{_FILE_TYPES})(?!\w)")
_CJK_MARKS = "\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65"
_REFERENCE = re.compile(r"&(?:#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6})|[a-zA-Z][a-zA-Z0-9]{1,31});")
_TOKEN = re.compile(
    r"(?=[`$\\*_~|!\[\]<&:.])(?:(?P<ticks>`+)"
    r"|(?P<formula>\$\$(?:[^$\\]|\\.|\$(?!\$)){1,4000}+\$\$|\$(?=[^\s$])(?:\\.|[^$\n\\]){1,400}+(?<=\S)\$(?!\d)"
    r"|\\\((?:\\\\|(?!\\[()]).){1,1000}+\\\)|\\\[(?:\\\\|(?!\\[\[\]]).){1,4000}+\\\]"
    r"|\\begin\{(?P<name>[a-zA-Z]+\*?)\}(?:[^\\]|\\(?!(?:begin|end)\{)){0,4000}+\\end\{(?P=name)\})"
    r"|(?P<address>(?:://|(?<=\bwww)\.|(?<=[a-zA-Z]):(?=\\)|(?<=[%~])\\(?=[._]\w)"
    r"|\\(?=(?:[._][\w.$-]{0,64}\\){0,8}[a-zA-Z]))"
    rf"(?:[^\s<>\[\]`|{_CJK_MARKS}]|\[[^\s<>\[\]`]*\](?!\())*+)"
    r"|\\(?P<escaped>[]!#$()*+.<=>[_`|~\n\\-])"
    r"|(?P<dunder>(?<!\w)__[a-z][a-z0-9]*(?:_[a-z0-9]+)*+__(?!\w))"
    r"|(?P<marks>\*+|_+|~+)|(?P<bars>\|\|)|(?P<opening>!?\[)|(?P<closing>\])"
    r"|<(?P<autolink>(?:https?|tg|mailto):[^\s<>]*)>"
    rf"|(?P<reference>{_REFERENCE.pattern}))",
    re.DOTALL,
)
_DESTINATION = re.compile(
    r"\(\s{0,9}+(?:<(?P<angled>[^<>\n]{0,2000})>|(?P<bare>(?:[^\s()\\]|\\.|\((?:[^\s()]|\([^\s()]*\))*+\)){0,2000}))"
    r"(?:\s{1,9}(?:\"[^\"]{0,500}\"|'[^']{0,500}'|\([^()]{0,500}\)))?\s{0,9}\)"
)
_LABEL = re.compile(r"\[(?P<label>[^\[\]\n]{0,200})\]")
_CALLED = re.compile(r"(?:[^\W_]|[)\]])\[")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HOST = re.compile(
    r"(?:[\w-]+\.)+(?:[a-z]{2}|com|org|net|info|dev|app|edu|gov|xyz|wiki|cloud|online|site|tech|blog|shop|page|news)"
    r"(?::\d+)?(?P<path>[/?#]\S*)?",
    re.IGNORECASE,
)
_CODE_FILE = re.compile(r"(?:js|ts|go|rb|cs|kt|hs|ex|vb|vi|gz|xz|db|as|ml|nb|in|am)\Z", re.IGNORECASE)
_PROSE = re.compile(r"(?<![\\{a-zA-Z])[^\W\d_]{3}")
_MATHEMATICS = re.compile(r"\\[a-zA-Z\\]|(?<!\\)[\^=_<>]")
_OPERATOR = re.compile(r"\\[a-zA-Z\\{]|(?<!\\)[\^=_<>+*/]")
_ESCAPED_PROSE = re.compile(r"\\[.#+-]")
_SPOKEN = re.compile(r"[^\W\d_]{3}|\A\W?\d|[\u2e80-\ud7ff]")
_GLOB = re.compile(r"/(?:[^\s*/]{1,99}/)*+\*")
_WORD_START = re.compile(r"(?<![\w*])\*\*[^\W_]{1,40}\Z")
_WORD_END = re.compile(r"[^\W\d_]{1,40}\*\*(?![\w*])")
"""The bold part of a word: **S**trengths, **1**st, and BAS**E**."""
_LINE_BREAK = re.compile(" *\n *")
_TICKS = re.compile("`+")
_TRAILING = "*_~.,:;!?'\")\u201d\u2019\u00bb"
_ENCLOSURES = frozenset({"()", "[]", "{}", '""', "''", "<>", "\u201c\u201d"})
_CLOSABLE = ".:;!?)`\"'%\u2026\u201d\u2019\u201c\u00bb\u203a"
_LONGEST_RUN = 4
_DEEPEST_BRACKETS = 32
PICTURE = "🖼 "


@dataclass(slots=True)
class _Run:
    """A run of one mark that may begin or end emphasis."""

    piece: int
    mark: str
    length: int
    opens: bool
    closes: bool
    unused: int = field(init=False)

    def __post_init__(self) -> None:
        self.unused = self.length


class _Bracket(NamedTuple):
    """An opening bracket: its piece, the numbers of runs and ranges before it, and its place in the text."""

    piece: int
    runs: int
    ranges: int
    start: int
    end: int


def parse_inline(text: str, definitions: Mapping[str, str], used: set[str]) -> tuple[str, list[Span]]:
    """Return the shown text and its ranges. Adds the labels of `definitions` that became links to `used`."""
    return _Paragraph(text, definitions, used).parsed()


def is_mathematics(formula: str) -> bool:
    """Return False for prose between two prices or in escaped brackets, and for a number such as `\\[1\\]`."""
    inner = formula[2:-2]
    if formula.startswith("\\[") and not _OPERATOR.search(inner):
        return False
    if _MATHEMATICS.search(inner):
        return True
    return not (_PROSE.search(formula) or _ESCAPED_PROSE.search(inner))


def address_of(target: str) -> str | None:
    """Return the address for a link to this target; None if Telegram would refuse it. A host needs no scheme."""
    if is_sendable_url(target):
        return target
    host = _HOST.fullmatch(target)
    is_file = (
        host
        and not (host["path"] or "").startswith("/")
        and (FILE_TYPE.search(target) or _CODE_FILE.search(target))
    )
    address = f"http://{target}"
    return address if host and not is_file and is_sendable_url(address) else None


def label_of(text: str) -> str:
    """Return the label as links and definitions compare it."""
    return " ".join(text.split()).casefold()


class _Paragraph:
    """One text while it is read. Ranges are in boundaries of pieces, because marks are removed at the end."""

    def __init__(self, text: str, definitions: Mapping[str, str], used: set[str]) -> None:
        self._text = _LINE_BREAK.sub("\n", text) if " \n" in text or "\n " in text else text
        self._definitions = definitions
        self._used = used
        self._pieces: list[str] = []
        self._ranges: list[tuple[int, int, str, str | None]] = []
        self._runs: list[_Run] = []
        self._brackets: deque[_Bracket] = deque(maxlen=_DEEPEST_BRACKETS)
        self._first_active = 0
        """The place before which a bracket begins no link, because links contain no links."""
        self._spoilers: dict[int, int] = {}
        self._address_end = -1
        self._ticks: dict[int, list[int]] | None = None

    def parsed(self) -> tuple[str, list[Span]]:
        """Return the text and its ranges."""
        text = self._text
        names = list(_FILE.finditer(text))[::-1] if FILE_TYPE.search(text) else []
        position = 0
        token = _TOKEN.search(text)
        while names or token:
            if token and token.start() < position:
                token = _TOKEN.search(text, position)
            if names and (token is None or _comes_first(names[-1], token)):
                name = names.pop()
                if name.start() >= position:
                    self._pieces.append(text[position : name.start()])
                    self._add(name[0], "code")
                    position = name.end()
            elif token:
                self._pieces.append(text[position : token.start()])
                position = self._take(token)
        self._pieces.append(text[position:])
        if not self._ranges and not self._runs:
            return "".join(self._pieces), []
        self._pair(0)
        starts = list(accumulate(map(len, self._pieces), initial=0))
        spans = [Span(starts[start], starts[end], kind, url) for start, end, kind, url in self._ranges]
        return "".join(self._pieces), [span for span in spans if span.start < span.end]

    def _take(self, token: re.Match[str]) -> int:
        """Add what this token shows. Return where the text goes on."""
        match token.lastgroup:
            case "marks":
                return self._take_marks(token)
            case "ticks":
                return self._take_code(token)
            case "closing":
                return self._take_closing(token)
            case "formula":
                return self._take_formula(token)
            case "bars":
                return self._take_bars(token)
            case _:
                return self._take_text(token)

    def _take_text(self, token: re.Match[str]) -> int:
        """Add a token that shows its own characters or the one that it stands for."""
        match token.lastgroup:
            case "opening":
                self._brackets.append(
                    _Bracket(len(self._pieces), len(self._runs), len(self._ranges), *token.span())
                )
                self._pieces.append(token[0])
            case "address":
                end = token.start() + len(token[0].rstrip(_TRAILING))
                self._address_end = end = max(end, token.start() + 1)
                self._pieces.append(token.string[token.start() : end])
                return end
            case "autolink" if is_sendable_url(token["autolink"]):
                self._add(token["autolink"], LINK, token["autolink"])
            case "autolink":
                self._pieces.append(token["autolink"].removeprefix("mailto:"))
            case "escaped":
                self._pieces.append("\\\\" if token["escaped"] == "\\" else token["escaped"])
            case "reference":
                self._pieces.append(_unescaped(token[0]))
            case _:
                self._pieces.append(token[0])
        return token.end()

    def _add(self, text: str, kind: str, url: str | None = None) -> None:
        self._ranges.append((len(self._pieces), len(self._pieces) + 1, kind, url))
        self._pieces.append(text)

    def _take_code(self, ticks: re.Match[str]) -> int:
        if self._ticks is None:
            self._ticks = defaultdict(list)
            for run in _TICKS.finditer(self._text):
                self._ticks[len(run[0])].append(run.start())
        length = len(ticks[0])
        places = self._ticks[length]
        following = bisect_left(places, ticks.end())
        if following == len(places):
            self._pieces.append(ticks[0])
            return ticks.end()
        code = self._text[ticks.end() : places[following]].replace("\n", " ")
        if length > 1 and code[0] == code[-1] == " " and code.strip():
            code = code[1:-1]
        self._add(code, "code")
        return places[following] + length

    def _take_formula(self, formula: re.Match[str]) -> int:
        if is_mathematics(formula[0]):
            self._add(formula[0], "code")
            return formula.end()
        escaped = formula[0][0] == "\\"
        self._pieces.append(formula[0][1] if escaped else "$")
        return formula.start() + (2 if escaped else 1)

    def _take_marks(self, marks: re.Match[str]) -> int:
        mark, length = marks[0][0], len(marks[0])
        if length <= _LONGEST_RUN and (mark != "~" or length == 2):
            opens, closes = flanking(self._text, marks.start(), marks.end())
            opens &= marks.start() != self._address_end
            if opens or closes:
                self._runs.append(_Run(len(self._pieces), mark, length, opens, closes))
        self._pieces.append(marks[0])
        return marks.end()

    def _take_bars(self, bars: re.Match[str]) -> int:
        """Begin or end a spoiler: double bars around words, but not `a || b` or the norm ||v||."""
        text, start, end = self._text, *bars.span()
        if start in self._spoilers:
            self._ranges.append((self._spoilers[start], len(self._pieces), "spoiler", None))
            return end
        closing = text.find("||", end)
        hidden = text[end:closing]
        before, after = text[start - 1 : start], text[closing + 2 : closing + 3]
        if (
            closing > end
            and hidden.strip() == hidden
            and _SPOKEN.search(hidden)
            and not _touches(before)
            and not _touches(after)
        ):
            self._spoilers[closing] = len(self._pieces)
        else:
            self._pieces.append(bars[0])
        return end

    def _take_closing(self, bracket: re.Match[str]) -> int:
        """End a link or a picture if its address follows, or if its label is defined. Else add the bracket."""
        end = bracket.end()
        if not self._brackets:
            self._pieces.append("]")
            return end
        opening = self._brackets.pop()
        is_picture = self._pieces[opening.piece] == "!["
        if not is_picture and opening.start < self._first_active:
            self._pieces.append("]")
            return end
        label = self._text[opening.end : bracket.start()]
        if found := _DESTINATION.match(self._text, end):
            target = found["bare"] if found["angled"] is None else found["angled"]
            address = address_of(_unescaped(_ESCAPE.sub(r"\1", target)))
            if address or not _CALLED.match(self._text, max(0, opening.start - 1)):  # `call[0](x)` is code
                self._close_link(opening, target, address)
                return found.end()
        name, end = self._defined(label, end)
        if name is None:
            self._pieces.append("]")
            return bracket.end()
        self._used.add(name)
        address = self._definitions[name]
        beside = self._text[opening.start - 1 : opening.start] + self._text[end : end + 1]
        if end == bracket.end() and (label.isdecimal() or "[" in beside or "]" in beside):  # [1][2], not 12
            self._pieces.append("]")
            self._ranges.append((opening.piece, len(self._pieces), LINK, address))
        else:
            self._close_link(opening, address, address)
        return end

    def _defined(self, label: str, end: int) -> tuple[str | None, int]:
        """Return the defined label of `[text][label]`, `[label][]` or `[label]`, and the end of the link."""
        if not self._definitions:
            return None, end
        own = label_of(label)
        if found := _LABEL.match(self._text, end):
            name = label_of(found["label"]) or own
            if name in self._definitions and not (own in self._definitions and own != name):
                return name, found.end()
        return (own, end) if own in self._definitions else (None, end)

    def _close_link(self, opening: _Bracket, target: str, address: str | None) -> None:
        """Make a link of the pieces since the bracket. Without an address that Telegram takes, write out its target."""
        self._pair(opening.runs)
        is_picture = self._pieces[opening.piece] == "!["
        self._pieces[opening.piece] = PICTURE if is_picture else ""
        shown = "".join(self._pieces[opening.piece + 1 :])
        plain = target.removeprefix("mailto:")
        is_blank = not shown.strip()
        if is_blank or (address is None and plain not in shown):
            self._pieces.append("" if is_blank else " (")
            if address is None and FILE_TYPE.search(plain):
                self._ranges.append((len(self._pieces), len(self._pieces) + 1, "code", None))
            self._pieces += [plain, "" if is_blank else ")"]
        if address:
            inner = [each for each in self._ranges[opening.ranges :] if each[2] not in {LINK, "code"}]
            self._ranges[opening.ranges :] = [*inner, (opening.piece + 1, len(self._pieces), LINK, address)]
        if not is_picture:
            self._first_active = opening.start

    def _pair(self, first: int) -> None:
        """Make emphasis of the runs from `first` on, which no later one may pair with (almost CommonMark's rules)."""
        if len(self._runs) == first:
            return
        runs, self._runs[first:] = self._runs[first:], []
        waiting: dict[tuple[str, int], list[_Run]] = defaultdict(list)
        for run in runs:
            while run.closes and run.unused and (opener := _opener(waiting, run)):
                use = 2 if run.unused > 1 and opener.unused > 1 else 1
                run.unused -= use
                opener.unused -= use
                kind = "strikethrough" if run.mark == "~" else "bold" if use == 2 else "italic"
                self._ranges.append((opener.piece + 1, run.piece, kind, None))
                for stack in waiting.values():
                    while stack and (
                        stack[-1].piece > opener.piece or (stack[-1] is opener and not opener.unused)
                    ):
                        stack.pop()
            if run.opens and run.unused:
                waiting[run.mark, run.length].append(run)
        for run in runs:
            self._pieces[run.piece] = run.mark * run.unused


def _comes_first(name: re.Match[str], token: re.Match[str]) -> bool:
    """Return True if the file's name begins before the token, or with its underscores."""
    if name.start() == token.start():
        return token.lastgroup in {"dunder", "marks"}
    return name.start() < token.start()


def _opener(waiting: Mapping[tuple[str, int], list[_Run]], closer: _Run) -> _Run | None:
    """Return the last opener that fits: one mark is no half of two, as in `**the A* search**`."""
    fitting = [
        stack[-1]
        for (mark, _), stack in waiting.items()
        if stack and mark == closer.mark and stack[-1].unused + closer.unused != 3
    ]
    return max(fitting, key=lambda run: run.piece, default=None)


def flanking(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Return True for a run that may open, and for one that may close, by the characters around it."""
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    mark, is_single = text[start], end - start == 1
    inner, outer = _is_word(before), _is_word(after)
    if inner and outer:  # not within a word or a number, except where marks touch words
        within = mark != "_" and (_touches_marks(before) or _touches_marks(after))
        is_strong = text[start:end] == "**" and after.isalpha()
        opens = within or (is_strong and before.isalpha() and _WORD_END.match(text, end) is not None)
        closes = within or (is_strong and _WORD_START.search(text, max(0, start - 43), start) is not None)
        return opens, closes
    if before + after in _ENCLOSURES or _is_in_path(text, start, end):
        return False, False
    opens = not after.isspace() and (outer or not inner)
    closes = not before.isspace() and (inner or not outer)
    if inner and not after.isspace():  # punctuation follows
        opens = _touches_marks(before) or _touches_marks(after)
    elif outer and not before.isspace():  # punctuation comes before
        closes = (
            _touches_marks(before)
            or _touches_marks(after)
            or (not is_single and mark != "_" and before in _CLOSABLE)
        )
    if before in ")]}" and not _touches_marks(after):
        opens, closes = False, closes and not (is_single and after in "([{")  # (a+b)*(c+d)
    opens &= after not in ",;)]}"
    if mark == "*" and (before in "{," or (is_single and after in "./?") or _GLOB.match(text, end)):
        opens = False  # {**a, **b}, *.py, */5, **/build/**
    return opens, closes


def _is_in_path(text: str, start: int, end: int) -> bool:
    """Return True for the marks of globs, patterns, paths and names: `src/**/*.ts`, `^.*$`, `/__x__/`, `_v1_.md`."""
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    if text[start] == "_":
        return (
            before in "/\\.:@=#&%?-"
            or after in "/\\@=#&%-"
            or (after == "." and text[end + 1 : end + 2].isalnum())
        )
    return before == "^" or (before in "/_.-=" and after in "./_-?$|^\\")


def _is_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) in {"Mn", "Mc", "Me", "Cf"}


def _touches_marks(character: str) -> bool:
    """Return True for scripts in which marks of emphasis touch the words around them, as in Chinese and Hebrew."""
    is_wide = unicodedata.east_asian_width(character) in "WFH"
    return (is_wide or "\u0590" <= character <= "\u18ff") and not character.isdigit()


def _touches(neighbour: str) -> bool:
    return neighbour == "|" or neighbour == "_" or neighbour.isalnum()


def _unescaped(text: str) -> str:
    """Return the text with its character references replaced; unknown ones stay."""
    return _REFERENCE.sub(_referenced, text)


def _referenced(reference: re.Match[str]) -> str:
    is_known = reference[0][1] == "#" or reference[0][1:] in html5
    return unescape(reference[0]) if is_known else reference[0]
