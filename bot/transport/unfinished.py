"""Markdown of an unfinished answer, completed so that its preview does not flicker."""

import re

from bot.transport.fences import Fence, set_apart
from bot.transport.inline_markup import flanking
from bot.transport.rendering import MARKDOWN_LIMIT

# A last line of marks only: it may still become anything, and could turn the text before it into a heading.
_ONLY_MARKS = re.compile(r"[ >]*+(?:\d{1,9}[.)]? *|[-=#*+_~`|>:. ]*)")
_PARTIAL_FENCE = re.compile(r"\n[ >]*+[`~]++[\w+#-]*+ *\Z")
_OPEN_LINK = re.compile(
    r"!?\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)(?:\](?:\((?:[^()\n]|\([^()\n]*+\)?)*+)?)?\Z"
)
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_CODE = "\ufffd"
_TRAILING_MARKS = r"*_~|\!<"
_OPENING_MARKS = re.compile(
    r"(?:(?<=\s)|\A)[*_~`|\\!<]{1,3}\Z|\\?[*~]{1,3} *\Z|(?<![\w|])\|\|(?:[^\s|][^|\n]{0,3})?\Z"
)
_MARKS = re.compile(r"(?<!\\)(?:\*{1,3}|~~|\|\|)")


def without_loose_ends(markdown: str) -> str:
    """Return the text so far with open emphasis, code and links closed, and without trailing marks.

    An open code block stays open, because it runs to the end of the text. Empty if there is nothing to show yet.
    """
    fenced = set_apart(markdown, is_growing=True)
    markdown = "\n".join(fenced.lines)
    if fenced.opened:
        return _PARTIAL_FENCE.sub("", markdown)
    begin = len("\n".join(fenced.lines[: fenced.prose]))
    begin = max(begin, markdown.rfind("\n\n") + 1)
    text = markdown[begin:]
    last_line = text.rfind("\n")
    if _ONLY_MARKS.fullmatch(text, last_line + 1):
        text = text[: max(last_line, 0)]
    if text.lstrip(" >\n").startswith("|") and text.strip("\n").count("\n") < 1:
        text = ""  # the header of a table needs the next line
    return markdown[:begin] + _closed(text)


def ending(markdown: str, *, step: int = 8_000) -> str:
    """Return the last one to two `step` characters of a very long text, from the beginning of a line.

    A cut inside a code block repeats its opening. So a preview costs the same for any length, and its beginning stays
    in place for `step` characters.
    """
    begin = len(markdown) // step * step - step
    if begin < step:
        return markdown
    begin = max(begin, markdown.find("\n", begin, begin + step // 2) + 1)
    opened = _opened_in(markdown[:begin], is_growing=True)
    return f"{opened}\n{markdown[begin:]}" if opened else markdown[begin:]


def with_closed_code(markdown: str) -> str:
    """Return the text with its last code block closed, so that more text may follow."""
    opened = _opened_in(markdown)
    return f"{markdown.rstrip()}\n{opened.mark}" if opened else markdown


def _opened_in(markdown: str, *, is_growing: bool = False) -> Fence | None:
    """Return the fence that is open at the end; None for a text that is too long to be sent as Markdown."""
    return None if len(markdown) > MARKDOWN_LIMIT else set_apart(markdown, is_growing=is_growing).opened


def _closed(text: str) -> str:
    """Return one paragraph with its inline marks in pairs."""
    plain = _without_code(text)
    shown = len(plain.replace("`", " ").rstrip())
    if (opened := plain.find("`", shown)) >= 0:  # nothing is in it yet
        text, plain = text[:opened], plain[:opened]
    if (tick := plain.rfind("`")) >= 0:
        return _with_open_code(text, plain, tick)
    if _OPEN_LINK.search(plain):
        text = _OPEN_LINK.sub(r"\g<label>", _OPEN_LINK.sub(r"\g<label>", text))  # a picture may be in it
    bare = _OPENING_MARKS.sub("", text)
    if _open_marks(_without_code(bare)):
        bare = bare.rstrip(_TRAILING_MARKS)
    marks = _open_marks(_without_code(bare))
    return bare.rstrip(" ") + "".join(reversed(marks)) if marks else bare


def _with_open_code(text: str, plain: str, tick: int) -> str:
    """Return the paragraph with its unfinished inline code closed."""
    start = len(plain[: tick + 1].rstrip("`"))
    run = text[start : tick + 1]
    marks = _open_marks(f"{plain[:start]}{_CODE}")
    return text.rstrip(" `") + run + "".join(reversed(marks))


def _without_code(text: str) -> str:
    """Return the text with a letter's replacement for each character of inline code.

    A run of backticks is closed by the next one of the same length on its line.
    """
    return _INLINE_CODE.sub(lambda code: _CODE * len(code[0]), text)


def _open_marks(plain: str) -> list[str]:
    """Return the marks that are open, in order."""
    opened: list[str] = []
    for found in _MARKS.finditer(plain):
        mark = found[0]
        opens, closes = flanking(plain, *found.span())
        if closes and mark in opened:
            opened.remove(mark)
        elif closes and mark[0] == "*" and "***" in opened:
            opened[opened.index("***")] = "***"[len(mark) :]
        elif opens and mark not in opened and "***" not in opened:
            opened.append(mark)
    return opened
