"""Markdown of an unfinished answer, completed so that its preview does not flicker."""

import re

from bot.transport.fences import set_apart

# A last line of marks only: it may still become anything, and could turn the text before it into a heading.
_LAST_MARKS = re.compile(r"(?:^|\n)[ >]*(?:[-=#*+_~`|>:. ]*|\d{1,9}[.)]?)[ ]*\Z")
_PARTIAL_FENCE = re.compile(r"\n[ >]*[`~]{1,2}\Z")
_OPEN_LINK = re.compile(r"!?\[(?P<label>[^\[\]\n]*)(?:\](?:\([^()\n]*)?)?\Z")
_CODE = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TRAILING_MARKS = re.compile(r"[*_~`|\\!<]+\Z")
_OPENING_MARKS = re.compile(r"(?:(?<=\s)|\A)[*_~`|\\!<]{1,3}\Z")
_PAIRED = re.compile(r"(?<!\\)(?:\*\*|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![*\w]))")


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
    text = _LAST_MARKS.sub("", markdown[begin:])
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
    opened = set_apart(markdown[:begin], is_growing=True).opened
    return f"{opened}\n{markdown[begin:]}" if opened else markdown[begin:]


def with_closed_code(markdown: str) -> str:
    """Return the text with its last code block closed, so that more text may follow."""
    opened = set_apart(markdown).opened
    return f"{markdown.rstrip()}\n{opened.mark}" if opened else markdown


def _closed(text: str) -> str:
    """Return one paragraph with its inline marks in pairs."""
    plain = _CODE.sub(lambda code: "\ufffd" * len(code[0]), text)
    if (tick := plain.rfind("`")) >= 0:
        return _with_open_code(text, plain, tick)
    text = _OPEN_LINK.sub(lambda link: link["label"], text) if _OPEN_LINK.search(plain) else text
    bare = _OPENING_MARKS.sub("", text)
    if _open_marks(_CODE.sub("", bare)):
        bare = _TRAILING_MARKS.sub("", bare)
    marks = _open_marks(_CODE.sub("", bare))
    return bare.rstrip(" ") + "".join(reversed(marks)) if marks else bare


def _with_open_code(text: str, plain: str, tick: int) -> str:
    """Return the paragraph with its unfinished inline code closed."""
    start = len(plain[: tick + 1].rstrip("`"))
    run, code = text[start : tick + 1], text[tick + 1 :]
    if not code.strip():
        return _closed(text[:start])
    marks = _open_marks(plain[:start])
    return text.rstrip(" `") + run + "".join(reversed(marks))


def _open_marks(plain: str) -> list[str]:
    """Return the marks that are open, in order."""
    opened: list[str] = []
    for mark in _PAIRED.finditer(plain):
        if mark[0] in opened:
            opened.remove(mark[0])
        elif mark.end() < len(plain) and not plain[mark.end()].isspace():
            opened.append(mark[0])
    return opened
