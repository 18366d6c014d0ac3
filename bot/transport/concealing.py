"""What the Markdown library would swallow or misread, hidden from it: HTML, mathematics, bars, products, footnotes.

Hidden characters are noncharacters of Unicode, one UTF-16 unit each as their originals, so that offsets stay true.
"""

import re

LESS, BRACKET, DOLLAR, BACKSLASH, BAR, TIMES, UNDERLINE = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"
BLANK = "\ufdd7"
"""Shown as a space: what an empty table cell, and the paragraph in front of everything, consist of."""
JOINT = "\ufdd8"
"""Taken out afterwards: it stands between punctuation and the `**` after it, which would not close there."""
LINE_BREAK = "\ufdd9"
"""A `<br>` in a table's cell, where Markdown has no other line break."""
LABEL_END, LINK_END = "\ufdda\ufddb"
"""In a table's cell, of which the library keeps the text alone: after a link's text, and after its address."""
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
# A row's backslashes are left to it, but for the one that makes a bar part of a cell.
_KEPT_BACKSLASH = re.compile(r"\\(?=[{},;:%&\"'/=?@^])")

# Names of Python that models write without backticks; other words between two underscores are bold.
_DUNDERS = "init|main|name|str|repr|call|new|len|iter|next|eq|hash|file|doc|dict|all|slots|enter|exit|getattr|getitem|version"

# Bars hide what they enclose closely, if that has a word: not `a || b`, not the norm ||v||.
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


def conceal(source: str) -> str:
    """The Markdown that the library is to read in the source's place; `REVEALED` turns its text back.

    Mathematics becomes code, with its dollars or backslashes and all. The paragraph in front makes the library put
    blocks of a first list on lines of their own.
    """
    pieces = [f"{BLANK}\n\n"]
    done = 0
    text = _fenced_formulas(source)
    for fence in _FENCED.finditer(text):
        pieces += [_concealed_prose(text[done : fence.start()]), fence[0]]
        done = fence.end()
    pieces.append(_concealed_prose(text[done:]))
    return "".join(pieces)


def _fenced_formulas(source: str) -> str:
    """Formulas on lines of their own as blocks of code, so that they can be copied; those within code stay."""
    pieces: list[str] = []
    done = 0
    for fence in _FENCED.finditer(source):
        pieces += [_DISPLAY.sub(_fenced_formula, source[done : fence.start()]), fence[0]]
        done = fence.end()
    pieces.append(_DISPLAY.sub(_fenced_formula, source[done:]))
    return "".join(pieces)


def _fenced_formula(found: re.Match[str]) -> str:
    lead, formula = found["lead"], found["formula"]
    if "```" in formula or not _is_mathematics(formula):
        return found[0]
    return f"{lead}```latex\n{lead}{formula}\n{lead}```"


def _concealed_prose(text: str) -> str:
    text = _INLINE.sub(_concealed_inline, text)
    text = _TABLE_ROW.sub(_concealed_row, text)
    text = _TAG.sub(LESS, text)
    text = _PRODUCT.sub(TIMES, text)
    text = _FOOTNOTE.sub(rf"\1{BRACKET}", text)
    text = "\n".join(_concealed_bars(line) for line in text.split("\n")) if "||" in text else text
    text = _KEPT_BACKSLASH.sub(BACKSLASH, text)
    text = _EMPHASIS.sub(_closed_emphasis, text)
    return text.replace("$", DOLLAR)


def _concealed_inline(found: re.Match[str]) -> str:
    if found["formula"]:
        return _inline_formula(found["formula"])
    if found["price"]:
        return DOLLAR
    if address := found["image"]:
        return f"![{address.replace('_', UNDERLINE).replace('*', TIMES)}]({address}"
    if found["dunder"]:
        return found[0].replace("_", UNDERLINE)
    return found[0]


def _inline_formula(formula: str) -> str:
    """As code, unless it is no mathematics, or could not be code: then its dollars alone are kept."""
    if not _is_mathematics(formula):
        return formula.replace("$", DOLLAR)
    plain = formula.replace("|", BAR)
    if "`" in formula:
        return plain.replace("\\", BACKSLASH).replace("$", DOLLAR).replace("*", TIMES).replace("_", UNDERLINE)
    return f"`{plain}`"


def _is_mathematics(formula: str) -> bool:
    """Rather than prose between two prices, or in escaped brackets."""
    return _MATHEMATICS.search(formula[2:-2]) is not None or _PROSE.search(formula) is None


def _concealed_row(row: re.Match[str]) -> str:
    """An empty cell gets a blank, lest its bars begin a spoiler."""
    line = row[0]
    if line.count("|") < 4 and not line.endswith("|"):  # no row of a table, but one more line with bars
        return line.replace("||", BAR * 2)
    line = _CODE_SPAN.sub(lambda code: code[0].replace("\\|", "|").replace("|", BAR), line)
    line = _CELL_LINK.sub(_cell_link, line)
    return _BREAK_TAG.sub(LINE_BREAK, _EMPTY_CELL.sub(f"|{BLANK}", line))


def _cell_link(link: re.Match[str]) -> str:
    address = link["url"].replace("_", UNDERLINE).replace("*", TIMES)
    return f"{link['label']}{LABEL_END}{address}{LINK_END}"


def _concealed_bars(line: str) -> str:
    return _BARS.sub(lambda found: found[0] if found["spoiler"] else found[0].replace("||", BAR * 2), line)


def _closed_emphasis(found: re.Match[str]) -> str:
    """`**重要。**请` is bold to people, but not by CommonMark's rule for punctuation beside a `**`."""
    inner = found["inner"]
    if not inner:
        return found[0]
    before = found.string[found.start() - 1 : found.start()]
    after = found.string[found.end() : found.end() + 1]
    opening = JOINT if _WORD.match(before) and not _WORD.match(inner[0]) else ""
    closing = JOINT if _WORD.match(after) and not _WORD.match(inner[-1]) else ""
    return f"**{opening}{inner}{closing}**"
