"""The text that a reader of an HTML page sees, found in one pass however the page is written (pure)."""

import html
import re
from collections.abc import Iterator

_UNSEEN = ("script", "style", "template", "svg", "noscript", "iframe", "object")
_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)")
_BREAKS = re.compile(
    "address|article|aside|blockquote|br|d[dlt]|div|footer|form|h[1-6]|header|hr|li|main|nav|[ou]l|p|pre|section"
    "|table|t[dhr]|title"
)
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def readable_text(page: str) -> str:
    """The page's text without markup, scripts and styles, a line for each block; "" where nothing is left.

    Linear in the page's length: no search is made twice over what it has not found. The parser of the standard
    library is not (CVE-2025-6069), and holds up every chat while it searches.
    """
    text = html.unescape("".join(_pieces(page)))
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def _pieces(page: str) -> Iterator[str]:
    at = 0
    while (opening := page.find("<", at)) >= 0:
        yield page[at:opening]
        name = _NAME.match(page, opening)
        if page.startswith("<!--", opening):
            at = _after(page, "-->", opening + 4)
        elif name is None and not page.startswith(("<!", "<?"), opening):
            yield "<"
            at = opening + 1
        else:
            at = _after(page, ">", opening)
            tag = name[1].lower() if name else ""
            if tag in _UNSEEN and not page.startswith("</", opening):
                at = _after_element(page, tag, at)
            elif _BREAKS.fullmatch(tag):
                yield "\n"
    yield page[at:]


def _after(page: str, mark: str, start: int) -> int:
    found = page.find(mark, start)
    return len(page) if found < 0 else found + len(mark)


def _after_element(page: str, tag: str, start: int) -> int:
    found = re.compile(f"</{tag}", re.IGNORECASE).search(page, start)
    return len(page) if found is None else _after(page, ">", found.end())
