"""Placeholders for text that the Markdown library would drop or misread: HTML, mathematics, bars, footnotes.

A placeholder is a noncharacter of Unicode with one UTF-16 unit, as its original, so that offsets stay the same.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

LESS, BRACKET, DOLLAR, BACKSLASH, BAR, TIMES, UNDERLINE = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"
BLANK = "\ufdd7"
"""Content of an empty table cell, and of the paragraph before the text; shown as a space."""
JOINT = "\ufdd8"
"""Mark between punctuation and a `**` that would not close after it; removed afterwards."""
LINE_BREAK = "\ufdd9"
"""A `<br>` in a table cell."""
LABEL_END, LINK_END = "\ufdda\ufddb"
"""Ends of a link's text and of its address in a table cell, because the library keeps only text there."""
REVEALED = {
    LESS: "<",
    BRACKET: "[",
    DOLLAR: "$",
    BACKSLASH: "\\",
    BAR: "|",
    TIMES: "*",
    UNDERLINE: "_",
    BLANK: " ",
}

_FENCED = re.compile(
    r"^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)?(?:(?P<ticks>`{3,})[^`\n]*|(?P<waves>~{3,})[^\n]*)\n"
    r"(?s:.*?)(?:^[ >]*(?:(?P=ticks)`*|(?P=waves)~*)[ \t]*$|\Z)",
    re.MULTILINE,
)
_CODE = r"(?P<code>(?<![`\\])(?P<tick>`+)(?!`)(?:(?!\n\n)(?s:.)){1,2000}?(?<!`)(?P=tick)(?!`))"
_CODE_SPAN = re.compile(_CODE)
_TAG = re.compile(r"(?<!\\)(?<!\]\()<(?=[A-Za-z/!?])(?!(?:https?|tg|mailto):[^\s<>]*>)")
_BREAK_TAG = re.compile(r"<br ?/?>", re.IGNORECASE)
_PRODUCT = re.compile(r"(?<=\d)\*(?=\d)")
_FOOTNOTE = re.compile(r"^( {0,3})\[(?=\^[^\]\s]+\]:)", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ >]*\|(?!\|[^|\n]*\|\|).*$", re.MULTILINE)
_CELL_LINK = re.compile(r"!?\[(?P<label>[^\[\]|\n]+)\]\((?P<url>https?://[^\s()|<>]+)\)")
_EMPTY_CELL = re.compile(r"\|(?=\|)")
# Backslashes that Markdown would remove.
_BACKSLASH = re.compile(r"\\(?=[{},;:%&\"'/=?@^])")

# Python names that models write without backticks. Other words between double underscores are bold.
_DUNDERS = (
    "init|main|name|str|repr|call|new|len|iter|next|eq|hash|file|doc|dict|all|slots|enter|exit|getattr|getitem"
    "|version"
)

# Double bars around a word are a spoiler, but not `a || b` or the norm ||v||.
_SPOILER = r"(?P<spoiler>(?<![\w|\\])\|\|(?=[^\s|])(?=[^|\n]*[^\W\d_]{3})(?:(?!\|\|)[^\n])*?(?<=[^\s|])\|\|(?![\w|]))"
_BARS = re.compile(rf"{_CODE}|{_SPOILER}|\|\|")

_DISPLAY = re.compile(
    r"^(?P<lead>[ >]*)(?P<formula>\$\$(?:(?!\$\$|\n[ >]*\n)(?s:.))++\$\$"
    r"|\\\[(?:\\\\|(?!\\[\[\]]|\n[ >]*\n)(?s:.))++\\\])[ \t]*$",
    re.MULTILINE,
)
_INLINE = re.compile(
    rf"{_CODE}"
    r"|(?P<formula>\$\$(?:(?!\$\$|\n\n)(?s:.))++\$\$"
    r"|\$(?=[^\s$])(?:\\.|[^$\n\\]){1,400}+(?<=\S)\$(?!\d)"
    r"|\\\((?:\\\\|(?!\\[()]|\n\n)(?s:.))++\\\)"
    r"|\\\[(?:\\\\|(?!\\[\[\]]|\n\n)(?s:.))++\\\])"
    r"|\\(?P<price>\$)"
    r"|!\[[ ]*\]\((?P<image>[^\s()]+)"
    rf"|(?P<dunder>(?<!\w)__(?:{_DUNDERS})__(?!\w))"
)
_PROSE = re.compile(r"(?<![\\{a-zA-Z])[^\W\d_]{3}")
_MATHEMATICS = re.compile(r"\\[a-zA-Z]|[\^=_<>]")
_EMPHASIS = re.compile(rf"{_CODE}|(?<![\\*])\*\*(?P<inner>[^\s*](?:[^*\n]*[^\s*])?)\*\*(?!\*)")
_WORD = re.compile(r"\w")


def hide(source: str) -> str:
    """Return the Markdown for the library; `REVEALED` restores the text of its result.

    Mathematics becomes code, including its dollars or backslashes. The first paragraph makes the library put the
    blocks of a list at the beginning on lines of their own.
    """
    pieces = [f"{BLANK}\n\n"]
    done = 0
    text = _fenced_formulas(source)
    for fence in _FENCED.finditer(text):
        pieces += [_hidden_prose(text[done : fence.start()]), fence[0]]
        done = fence.end()
    pieces.append(_hidden_prose(text[done:]))
    return "".join(pieces)


def _fenced_formulas(source: str) -> str:
    """Turn formulas on lines of their own into code blocks, which can be copied; formulas in code stay."""
    pieces: list[str] = []
    done = 0
    for fence in _FENCED.finditer(source):
        pieces += [_DISPLAY.sub(_fenced_formula, source[done : fence.start()]), fence[0]]
        done = fence.end()
    pieces.append(_DISPLAY.sub(_fenced_formula, source[done:]))
    return "".join(pieces)


def _fenced_formula(match: re.Match[str]) -> str:
    lead, formula = match["lead"], match["formula"]
    if "```" in formula or not _is_mathematics(formula):
        return match[0]
    return f"{lead}```latex\n{lead}{formula}\n{lead}```"


def _hidden_prose(text: str) -> str:
    for marks, change in _CHANGES:
        for mark in marks:
            if mark in text:
                text = change(text)
                break
    return text


def _hidden_inline(match: re.Match[str]) -> str:
    if match["formula"]:
        return _inline_formula(match["formula"])
    if match["price"]:
        return DOLLAR
    if address := match["image"]:
        return f"![{address.replace('_', UNDERLINE).replace('*', TIMES)}]({address}"
    if match["dunder"]:
        return match[0].replace("_", UNDERLINE)
    return match[0]


def _inline_formula(formula: str) -> str:
    """Return the formula as code. If it is not mathematics or cannot be code, only hide its characters."""
    if not _is_mathematics(formula):
        return formula.replace("$", DOLLAR)
    plain = formula.replace("|", BAR)
    if "`" in formula:
        return plain.replace("\\", BACKSLASH).replace("$", DOLLAR).replace("*", TIMES).replace("_", UNDERLINE)
    return f"`{plain}`"


def _is_mathematics(formula: str) -> bool:
    """Return False for prose between two prices or in escaped brackets."""
    return _MATHEMATICS.search(formula[2:-2]) is not None or _PROSE.search(formula) is None


def _hidden_row(row: re.Match[str]) -> str:
    """Hide the contents of a row. An empty cell gets a blank, or its bars would begin a spoiler."""
    line = row[0]
    if line.count("|") < 4 and not line.endswith("|"):  # not a table row, only a line with bars
        return line.replace("||", BAR * 2)
    line = _CODE_SPAN.sub(lambda code: code[0].replace("\\|", "|").replace("|", BAR), line)
    line = _CELL_LINK.sub(_cell_link, line)
    return _BREAK_TAG.sub(LINE_BREAK, _EMPTY_CELL.sub(f"|{BLANK}", line))


def _cell_link(link: re.Match[str]) -> str:
    address = link["url"].replace("_", UNDERLINE).replace("*", TIMES)
    return f"{link['label']}{LABEL_END}{address}{LINK_END}"


def _hidden_bars(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        [
            _BARS.sub(lambda bars: bars[0] if bars["spoiler"] else bars[0].replace("||", BAR * 2), line)
            for line in lines
        ]
    )


def _closed_emphasis(match: re.Match[str]) -> str:
    """Close emphasis as in `**重要。**请`, which CommonMark does not close after punctuation."""
    inner = match["inner"]
    if not inner:
        return match[0]
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    opening = JOINT if _WORD.match(before) and not _WORD.match(inner[0]) else ""
    closing = JOINT if _WORD.match(after) and not _WORD.match(inner[-1]) else ""
    return f"**{opening}{inner}{closing}**"


_CHANGES: Sequence[tuple[Sequence[str], Callable[[str], str]]] = (
    (("$", "\\", "![", "__"), partial(_INLINE.sub, _hidden_inline)),
    (("|",), partial(_TABLE_ROW.sub, _hidden_row)),
    (("<",), partial(_TAG.sub, LESS)),
    (("*",), partial(_PRODUCT.sub, TIMES)),
    (("[^",), partial(_FOOTNOTE.sub, rf"\1{BRACKET}")),
    (("||",), _hidden_bars),
    (("\\",), partial(_BACKSLASH.sub, BACKSLASH)),
    (("**",), partial(_EMPHASIS.sub, _closed_emphasis)),
    (("$",), lambda text: text.replace("$", DOLLAR)),
)
"""What is done to prose, in order. Each needs one of its marks in the text; most texts have none."""
