"""Blocks of a model's Markdown, by markdown-it with the rules of a chat.

No link definitions of its own and no HTML, because both would hide text. Quotes and lists nest DEEPEST deep; deeper
ones are text. Formulas on lines of their own and tables are blocks of ours.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, lheading, list_block, paragraph
from markdown_it.rules_block.fence import make_fence_rule
from markdown_it.token import Token

from bot.transport.fences import set_apart
from bot.transport.inline_markup import address_of, is_mathematics, label_of

DEEPEST = 8
"""Levels of lists and quotes; each further one would indent its lines more."""

__all__ = ["DEEPEST", "Token", "parse_blocks"]

Rule: TypeAlias = Callable[[StateBlock, int, int, bool], bool]

_LONGEST_FORMULA = 64
_MOST_COLUMNS = 64
_PROMPT = re.compile(r">(?:>>|[=\d])")
_COMPARISON = re.compile(r">(?:>>|=| ?[$€£¥~≈]?\d)")
_DEFINITION = re.compile(
    r"\[(?!\^)(?P<label>[^\[\]\n]{1,200})\]:[ ]*<?(?P<url>[^\s<>]+)>?(?:[ ]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ ]*"
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]) |>|`{3}|~{3}")
_RULE = re.compile(r"\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*+\|?[ ]*")
_UNDER = re.compile(r"=+[ ]*|-{4,}[ ]*")
_BAR = re.compile(r"\||\\.|(?P<ticks>`+)[^`]*(?P=ticks)(?!`)|`+")
_OPENED = re.compile(r"\$\$|\\\[|\\begin\{(?P<environment>[a-zA-Z]+\*?)\}")


def parse_blocks(markdown: str) -> tuple[list[Token], dict[str, str]]:
    """Return the blocks, and the addresses of the labels that are defined.

    Besides markdown-it's tokens: `table` with `rows`, `formula`, and `definitions` with `lines` (label and text).
    """
    tokens: list[Token] = []
    definitions: dict[str, str] = {}
    _PARSER.block.parse(
        "\n".join(set_apart(markdown).lines), _PARSER, {"definitions": definitions, "depth": 0}, tokens
    )
    return tokens, definitions


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _bounded(rule: Rule) -> Rule:
    """Return the rule of a list or quote, which applies DEEPEST levels deep only.

    Prompts, `>=` and `> 5` at the beginning of an item are no quotes (streamdown#376).
    """

    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        begin, place = state.bMarks[start], state.bMarks[start] + state.tShift[start]
        is_item = bool(state.src[begin:place].strip())
        if state.env["depth"] >= DEEPEST or (_COMPARISON if is_item else _PROMPT).match(state.src, place):
            return False
        state.env["depth"] += 1
        try:
            return rule(state, start, end, silent)
        finally:
            state.env["depth"] -= 1

    return bounded


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise a paragraph. It keeps wide blanks at its ends, such as the indentation of Chinese texts."""
    paragraph(state, start, end, silent)
    state.tokens[-2].content = state.getLines(start, state.line, state.blkIndent, False).strip(" \n")
    return True


def _indented_code(state: StateBlock, start: int, end: int, _silent: bool) -> bool:
    """Recognise indented code. Items and fences are none: models indent them as they like (textgen#7401)."""
    indent = state.blkIndent + 4
    if state.sCount[start] < indent or _ITEM.match(_line(state, start)):
        return False
    after = next((at for at in range(start, end) if state.sCount[at] < indent and not state.isEmpty(at)), end)
    while state.isEmpty(after - 1):
        after -= 1
    token, state.line = state.push("code_block", "code", 0), after
    token.content, token.map = state.getLines(start, after, indent, False), [start, after]
    return True


def _title(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise a title above a line of `=`, or of more than the three dashes that divide."""
    return (
        start + 1 < end
        and bool(_UNDER.fullmatch(_line(state, start + 1)))
        and lheading(state, start, end, silent)
    )


def _formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise `$$…$$`, `\\[…\\]` and LaTeX environments that have their lines for themselves."""
    opened = _OPENED.match(state.src, state.bMarks[start] + state.tShift[start])
    if opened is None:
        return False
    name = opened["environment"]
    closing = f"\\end{{{name}}}" if name else "\\]" if opened[0] == "\\[" else "$$"
    for number in range(start, min(end, start + _LONGEST_FORMULA)):
        line = _line(state, number)
        if line and state.sCount[number] < state.blkIndent:
            return False
        if number > start and closing == "\\]" and line.startswith("\\["):
            return False
        if line.rstrip().endswith(closing) and (number > start or len(line.rstrip()) > 3):
            break
    else:
        return False
    formula = state.getLines(start, number + 1, state.blkIndent, False).strip()
    if not is_mathematics(formula) or (formula.count("$$") > 2):
        return False
    if not silent:
        token, state.line = state.push("formula", "", 0), number + 1
        token.content, token.map = formula, [start, state.line]
    return True


def _definitions(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise lines `[label]: address`. They define nothing if Telegram would refuse the address."""
    if not state.src.startswith("[", state.bMarks[start] + state.tShift[start]):
        return False
    lines: list[tuple[str, str]] = []
    while start + len(lines) < end and (found := _DEFINITION.fullmatch(_line(state, start + len(lines)))):
        address, label = address_of(found["url"]), label_of(found["label"])
        if silent or address is None or state.sCount[start + len(lines)] < state.blkIndent:
            break
        if state.env["definitions"].setdefault(label, address) != address:
            label = ""  # the first definition counts, and this one stays text
        lines.append((label, found[0]))
    if not lines:
        return False
    token = state.push("definitions", "", 0)
    token.meta["lines"] = lines
    state.line = start + len(lines)
    token.map = [start, state.line]
    return True


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise a table, also behind words on the line of its header (KiroCrew#3209).

    Its rows may have more or fewer cells than its header.
    """
    head = _line(state, start)
    if "|" not in head or start + 2 > end or _ITEM.match(head):
        return False
    rule = _line(state, start + 1)
    if not _RULE.fullmatch(rule) or state.sCount[start + 1] < state.blkIndent:
        return False
    rows = [_cells(head)]
    columns = len(_cells(rule))
    if columns > _MOST_COLUMNS or (len(rows[0]) != columns and min(len(rows[0]), columns) < 2):
        return False
    if silent:
        return True
    if head.rstrip().endswith("|") and not head.startswith("|") and len(rows[0]) == columns + 1:
        state.push("paragraph_open", "p", 1).map = [start, start + 1]
        state.push("inline", "", 0).content = rows[0].pop(0)
        state.push("paragraph_close", "p", -1)
    line = start + 2
    while line < end and state.sCount[line] >= state.blkIndent and "|" in _line(state, line):
        rows.append(_cells(_line(state, line)))
        line += 1
    token = state.push("table", "", 0)
    token.meta["rows"], token.map = rows, [start, line]
    token.content = "\n".join(_line(state, number) for number in range(start, line))
    state.line = line
    return True


def _cells(line: str) -> list[str]:
    """Return the cells of a row; a bar in code or behind a backslash divides none."""
    row = line.strip().removeprefix("|")
    places = [-1, *(bar.start() for bar in _BAR.finditer(row) if bar[0] == "|"), len(row)]
    cells = [row[before + 1 : after].replace("\\|", "|").strip() for before, after in pairwise(places)]
    return cells if cells[-1] or len(cells) == 1 else cells[:-1]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 10 * DEEPEST})
    ruler = parser.block.ruler
    ruler.disable(["code", "reference", "html_block"])
    interrupting: Sequence[str] = ["paragraph", "blockquote", "list"]
    ruler.before("table", "formula", _formula, {"alt": list(interrupting)})
    ruler.at("table", _table, {"alt": ["paragraph"]})
    ruler.enable("table")
    ruler.at("blockquote", _bounded(blockquote), {"alt": list(interrupting)})
    ruler.at("list", _bounded(list_block), {"alt": ["paragraph", "blockquote"]})
    ruler.at("fence", make_fence_rule(disallow_marker_in_info=("~", "`")), {"alt": list(interrupting)})
    ruler.before("fence", "indented_code", _indented_code, {"alt": []})
    ruler.at("lheading", _title, {"alt": []})
    ruler.at("paragraph", _paragraph, {"alt": []})
    ruler.before("paragraph", "definitions", _definitions, {"alt": []})
    return parser


_PARSER = _parser()
