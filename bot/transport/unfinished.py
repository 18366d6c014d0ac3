"""Markdown that is still being written, made such that what is shown of it does not flicker."""

import re

_FENCE = re.compile(r"^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)?(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
# A line of nothing but marks may yet become anything; after text it would make a heading of that.
_LAST_MARKS = re.compile(r"(?:^|\n)[ >]*(?:[-=#*+_~`|>:. ]*|\d{1,9}[.)]?)[ ]*\Z")
_PARTIAL_FENCE = re.compile(r"\n[ >]*[`~]{1,2}\Z")
_OPEN_LINK = re.compile(r"!?\[(?P<label>[^\[\]\n]*)(?:\](?:\([^()\n]*)?)?\Z")
_CODE = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TRAILING_MARKS = re.compile(r"[*_~`|\\!<]+\Z")
_OPENING_MARKS = re.compile(r"(?:(?<=\s)|\A)[*_~`|\\!<]{1,3}\Z")
_PAIRED = re.compile(r"(?<!\\)(?:\*\*|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![*\w]))")


def without_loose_ends(markdown: str) -> str:
    """The text so far with open emphasis, code and links ended, and without marks that are not yet of anything.

    Render it as any other. An open block of code stays as it is: it runs to the end of the text. Empty where there
    is nothing to show yet.
    """
    begin = _after_fences(markdown)
    if begin is None:
        return _PARTIAL_FENCE.sub("", markdown)
    begin = max(begin, markdown.rfind("\n\n") + 1)
    text = _LAST_MARKS.sub("", markdown[begin:])
    if text.lstrip(" >\n").startswith("|") and text.strip("\n").count("\n") < 1:
        text = ""  # a table's head, which is one only with the next line
    return markdown[:begin] + _closed(text)


def ending(markdown: str, *, step: int = 8_000) -> str:
    """Of a very long text its last one to two `step` characters, from a line's beginning; in a block of code that too.

    So that to show it costs the same however long it has become. It begins at the same place for `step` characters.
    """
    begin = len(markdown) // step * step - step
    if begin < step:
        return markdown
    begin = max(begin, markdown.find("\n", begin, begin + step // 2) + 1)
    opened = None
    for fence in _FENCE.finditer(markdown, 0, begin):
        opened = _fence_after(opened, fence)
    return f"{opened[0]}\n{markdown[begin:]}" if opened else markdown[begin:]


def _after_fences(markdown: str) -> int | None:
    """Where the last block of code ends: 0 without one, None where the text ends within it."""
    opened = None
    end = 0
    for fence in _FENCE.finditer(markdown):
        was, opened = opened, _fence_after(opened, fence)
        if was and not opened:
            end = fence.end()
    return None if opened else end


def _fence_after(opened: re.Match[str] | None, fence: re.Match[str]) -> re.Match[str] | None:
    """What opened the block of code that the text is in after this fence; None where it is in none."""
    mark, info = fence["mark"], fence["info"].strip()
    if opened is None:
        return fence if "`" not in info or mark[0] == "~" else None
    return None if mark.startswith(opened["mark"]) and not info else opened


def _closed(text: str) -> str:
    """One paragraph with its inline marks in pairs."""
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
    """Code that is being written: closed as it was opened, where there is any of it yet."""
    start = len(plain[: tick + 1].rstrip("`"))
    run, code = text[start : tick + 1], text[tick + 1 :]
    if not code.strip():
        return _closed(text[:start])
    marks = _open_marks(plain[:start])
    return text.rstrip(" `") + run + "".join(reversed(marks))


def _open_marks(plain: str) -> list[str]:
    """The pairs of marks that were opened and not closed, in order."""
    opened: list[str] = []
    for mark in _PAIRED.finditer(plain):
        if mark[0] in opened:
            opened.remove(mark[0])
        elif mark.end() < len(plain) and not plain[mark.end()].isspace():
            opened.append(mark[0])
    return opened
