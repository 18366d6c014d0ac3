"""Real texts, and the letters and digits of a source that its rendering must have, in order."""

import ast
import re
from collections.abc import Iterator
from html import unescape
from importlib.metadata import distributions
from pathlib import Path

from bot.transport.rich_text import RichText

_TARGET = re.compile(
    r"(?P<picture>!\[[^\]\n]*)?\]\(\s*<?(?P<url>(?:[^\s()<>]|\([^\s()]*\))+)>?(?:\s+\"[^\"]*\")?\s*\)"
)
_IN_LINK = re.compile(r"(?<=\[)(?P<alt>!\[[^\]\n]+\])\((?:[^()\s]|\([^()\s]*\))*\)(?=\]\()")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEFINITION = re.compile(r"^[ >]*\[(?P<label>[^\]\n]+)\]:[ ]*<?(?P<url>[^\s<>]+)>?.*$", re.MULTILINE)
_FENCE = re.compile(r"^(?P<mark>[ >]*(?:[-*+] +|\d+[.)] +)?(?:`{3,}|~{3,}))[^`\n]*$", re.MULTILINE)
_TABLE = re.compile(r"^[ >|]*:?-+:?[ ]*\|[-:| ]*$", re.MULTILINE)
_SHORTEST = 30


def installed_texts() -> Iterator[str]:
    """Yield the descriptions and docstrings of the installed packages, each once."""
    seen: set[str] = set()
    for package in distributions():
        texts = [package.metadata["Description"] or ""]
        paths = [Path(str(package.locate_file(file))) for file in package.files or () if file.suffix == ".py"]
        texts += [text for path in paths if path.is_file() for text in _docstrings(path)]
        for text in texts:
            if len(text) >= _SHORTEST and text not in seen:
                seen.add(text)
                yield text


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text; code that a fence opens stays whole with it."""
    pieces = text.split("```")
    if len(pieces) % 2 == 0:
        return []
    parts = re.split(
        r"\n[ \t]*\n",
        "```".join(piece if at % 2 == 0 else piece.replace("\n\n", "\n") for at, piece in enumerate(pieces)),
    )
    return [part for part in parts if len(part) >= _SHORTEST and part.count("```") % 2 == 0]


def difference(source: str, rich: RichText) -> str:
    """Return the place where source and rendering part; empty if their letters are the same.

    Not counted: targets of shown links and pictures, used definitions, languages of fences. In code all of these are
    text. A table may become records that repeat its header, so there only missing words count.
    """
    urls = {_bare(entity.url) for entity in rich.entities if entity.url}

    def without_target(found: re.Match[str]) -> str:
        is_shown = _bare(unescape(found["url"])) in urls or found["url"] in found.string[: found.start()]
        if "picture" in found.re.groupindex:
            return f"{found['picture'] or ''}]" if is_shown else found[0]
        return "" if is_shown and letters(found[0]) not in letters(rich.text) else found[0]

    shown = letters(rich.text)
    linked = _DEFINITION.sub(without_target, _TARGET.sub(without_target, _IN_LINK.sub(r"\g<alt>", source)))
    written = _DEFINITION.sub(without_target, _TARGET.sub(without_target, source))  # with pictures' addresses
    variants = [
        letters(text)
        for each in (linked, written, source)
        for fenced in (_FENCE.sub(r"\g<mark>", each), each)
        for text in (unescape(fenced), fenced, fenced.replace("mailto:", ""))
    ]
    if shown in variants:
        return ""
    wanted = variants[0]
    if _TABLE.search(source):
        missing = [word for word in re.findall(r"[^\W_]+", linked) if word not in shown and word != "br"]
        return f"missing of a table: {missing}" if missing else ""
    both = zip(wanted, shown, strict=False)
    at = next((n for n, (a, b) in enumerate(both) if a != b), min(len(wanted), len(shown)))
    return f"{wanted[max(0, at - 24) : at]}|{wanted[at : at + 24]}| and not |{shown[at : at + 24]}"


def _bare(url: str) -> str:
    return _ESCAPED.sub(r"\1", url).removeprefix("http://").removeprefix("https://")


def letters(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(filter(str.isalnum, text))


def _docstrings(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
