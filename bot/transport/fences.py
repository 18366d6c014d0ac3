"""Fences of code blocks, also those that share their line with other text, as models write them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_LEAD = r"(?P<lead>[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*)"
_FENCE = re.compile(rf"{_LEAD}(?P<mark>`{{3,}}|~{{3,}})[ \t]*(?P<info>.*?)[ \t]*")
_NO_FENCE = r"(?:[^`~]++|`{1,2}+(?!`)|~{1,2}+(?!~))*+"
_GLUED = re.compile(rf"(?P<words>{_NO_FENCE})(?P<mark>`{{3,}}+|~{{3,}}+)(?P<info>(?![\"'\\\\])[^`~]*)")
_LEADING = re.compile(_LEAD)
_LANGUAGE = re.compile(r"(?:\.?[a-zA-Z][\w+#.-]*)?", re.ASCII)
_MARKDOWN = frozenset({"md", "mdx", "markdown"})
_INFO = re.compile(r"[^\s()\[\];<>\"'|&$!?\\]*(?:$|\s+)")
_ATTRIBUTES = re.compile(r"[\w\s.,:/{}-]*+(?:$|=\S)")


class Fence(NamedTuple):
    """An opening fence: what stands before it on its line, its marks, and the language."""

    lead: str
    mark: str
    info: str

    def __str__(self) -> str:
        return f"{self.lead}{self.mark}{self.info}"


@dataclass(slots=True)
class Fenced:
    """A text with each fence on a line of its own."""

    lines: list[str] = field(default_factory=list[str])
    opened: Fence | None = None
    """The fence of the code block that is open at the end."""
    prose: int = 0
    """The number of the first line after the last code block that is closed."""

    def open(self, fence: Fence) -> None:
        """Add an opening fence. Text behind it is the first line of code, except a language and its attributes."""
        info = found[0] if (found := _INFO.match(fence.info)) else ""
        code = fence.info[len(info) :]
        if info and _ATTRIBUTES.match(code):
            info, code = fence.info, ""
        self.lines.append(str(fence._replace(info=info.rstrip())))
        lead = re.sub("[^>]", " ", fence.lead)
        self.lines += [f"{lead}{code}"] if code else []
        self.opened = fence._replace(lead=lead)

    def close(self, *, code: str = "", text: str = "") -> None:
        """Add a closing fence, between the code before it and the text behind it."""
        if self.opened:
            self.lines += [code] if code.strip() else []
            self.lines.append(f"{self.opened.lead}{self.opened.mark}")
            self.prose = len(self.lines)
            self.lines += [f"{self.opened.lead}{text.strip()}"] if text.strip() else []
        self.opened = None


def set_apart(markdown: str, *, is_growing: bool = False) -> Fenced:
    """Return the text with each fence of a code block on a line of its own.

    An opening fence behind words counts if a closing one follows, or while the text `is_growing`. Text behind a
    closing fence and code before it get lines of their own (agent-os#2005, tdesktop#30685).
    """
    lines = markdown.split("\n")
    if "```" not in markdown and "~~~" not in markdown:
        return Fenced(lines)
    fenced = Fenced()
    ahead = _fences_ahead(lines)
    nested_end = 0
    for number, line in enumerate(lines):
        if number < nested_end:
            fenced.lines.append(line)
        elif number == nested_end > 0:
            fenced.close()
        elif fenced.opened:
            _take_code(fenced, fenced.opened, line, ahead[number])
        elif (fence := _FENCE.fullmatch(line)) and fence["mark"][0] not in fence["info"]:
            if not (fence["info"] or ahead[number] or is_growing) and 0 < fenced.prose == len(fenced.lines):
                continue  # the block before it is closed twice
            nested_end = _end_of_nested(lines, number, fence, ahead) if nested_end >= 0 else nested_end
            mark = 2 * fence["mark"] if nested_end > 0 else fence["mark"]
            fenced.open(Fence(fence["lead"], mark, fence["info"]))
        elif (glued := _GLUED.fullmatch(line)) and _begins_code(
            glued, ahead[number], is_growing=is_growing and number < len(lines) - 1
        ):
            lead = re.sub("[^>]", " ", found[0]) if (found := _LEADING.match(line)) else ""
            following = lines[number + 1] if number + 1 < len(lines) else ""
            fenced.lines.append(glued["words"].rstrip())
            if following.strip() and not following.startswith(lead):
                lead = ""
            fenced.open(Fence(lead, glued["mark"], glued["info"].strip()))
        else:
            fenced.lines.append(line)
    return fenced


def _end_of_nested(lines: Sequence[str], begin: int, outer: re.Match[str], ahead: Sequence[int]) -> int:
    """Return the line that closes a block with code blocks in it, as if its fence were longer than theirs.

    Models write three backticks for both, around Markdown and prompts (open-webui#26034). Zero if the first fence in it
    closes it, or if it was not closed and the fences after it would be inverted; -1 if no line closes it.
    """
    is_markdown, depth, blocks = outer["info"].lower() in _MARKDOWN, 0, 0
    for number in range(begin + 1, len(lines)):
        fence = _FENCE.fullmatch(lines[number]) if outer["mark"] in lines[number] else None
        if fence and fence["mark"] == outer["mark"]:
            depth += 1 if fence["info"] else -1
            blocks += depth > 0
            if depth < 0:
                return number if blocks and (is_markdown or ahead[number] % 2 == 0) else 0
        elif depth == 0 and not is_markdown and lines[number].endswith(outer["mark"]):
            return 0  # the end of the code is behind its last line
    return -1


def _fences_ahead(lines: Sequence[str]) -> list[int]:
    """Return for each line the number of fences that may end code after it, up to the next with a language."""
    ahead = [0] * len(lines)
    count = 0
    for number in range(len(lines) - 1, -1, -1):
        ahead[number] = count
        if "```" in lines[number] or "~~~" in lines[number]:
            fence = _FENCE.fullmatch(lines[number]) or _GLUED.fullmatch(lines[number])
            if fence and "`" not in fence["info"]:
                has_language = fence["info"].strip() and _LANGUAGE.fullmatch(fence["info"].strip())
                count = 0 if has_language else count + 1
    return ahead


def _begins_code(glued: re.Match[str], ahead: int, *, is_growing: bool) -> bool:
    """Return True if this fence behind words opens a code block, judged by the fences after it."""
    info = glued["info"].strip()
    if not glued["words"].strip() or not _LANGUAGE.fullmatch(info):
        return False
    return ahead > 0 if info else ahead % 2 == 1 or (is_growing and ahead == 0)


def _take_code(fenced: Fenced, opened: Fence, line: str, ahead: int) -> None:
    """Add a line of an open code block, which may end it before its end or after its beginning."""
    if ">" in opened.lead and not line.lstrip().startswith(">"):
        fenced.opened, fenced.prose = None, len(fenced.lines)  # the quote has ended, and its code with it
        fenced.lines.append(line)
        return
    found = _FENCE.fullmatch(line)
    if found and found["mark"].startswith(opened.mark) and not found["info"]:
        fenced.close()
        return
    glued = _GLUED.fullmatch(line)
    if glued and glued["mark"].startswith(opened.mark) and ahead % 2 == 0:
        info = glued["info"]
        is_glued, is_first = not info.startswith(" "), not glued["words"].strip()
        may_open = (is_glued and is_first) or (ahead > 0 and (is_glued or is_first))
        if not (may_open and info.strip() and _LANGUAGE.fullmatch(info.strip())):
            fenced.close(code=glued["words"], text=info)
            return
    missing = len(opened.lead) - (len(line) - len(line.lstrip(" ")))
    if ahead and line.strip() and missing > 0 and ">" not in opened.lead:
        line = " " * missing + line  # code that is less indented than its fence would end a list
    fenced.lines.append(line)
