"""Hidden parts of a text in words: addresses under words, people under names, quotations and code (pure).

The model reads `the article (https://…)` for a text_link, `my boss (@Anna Silva)` for a text_mention, `> ` before each
line of a quotation, lines of backticks around code, and `~~` around words that are struck through. The received text
itself stays as it is, because entities, commands and mentions are found in it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from operator import attrgetter

from bot.transport.json_fields import Json, buttons_in, int_in, name_in, object_in, objects_in, str_in
from bot.transport.rich_text import Utf16Index
from memory.characters import one_line
from memory.history.message import MENTION

ADDRESS_CHARACTERS = 500
"""Maximum length of one address."""
ADDED_CHARACTERS = 8_000
"""Maximum length of all that is hidden in one text, and of all marks of quotations. Later ones are left out."""
_NAME_CHARACTERS = 64
_HIDING = frozenset(["text_link", "text_mention"])
_PASSED_ON = frozenset(["forward_origin", "forward_date", "via_bot"])
_QUOTATIONS = frozenset(["blockquote", "expandable_blockquote"])

_QUOTE, _STRIKE = "> ", "~~"
_BACKTICKS = re.compile("`+")

_NO_BRACKETS = str.maketrans("()", "  ")
_ENCODED = str.maketrans({"(": "%28", ")": "%29", " ": "%20"})
"""Signs that an address in round brackets must not have: facts leave it out as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Words that belong into a received text."""

    at: int
    """Place in the text, in code points."""
    text: str


def additions_in(raw: Json, text: str = "text", entities: str = "entities") -> tuple[Addition, ...]:
    """Return the additions to the text under the key `text`, in order. An entity that does not fit it has none."""
    if entities not in raw and "reply_markup" not in raw:
        return ()
    shown = str_in(raw, text)
    found = objects_in(raw, entities)
    hidden = _within_limit(_merged(shown, _spans(shown, found)))
    marks = chain.from_iterable(find(shown, found) for find in (_quotations, _fences, _strikes))
    quotations = _within_limit(marks)
    buttons = _within_limit(_buttons(raw, len(shown)))
    return tuple(sorted([*hidden, *quotations, *buttons], key=attrgetter("at")))


def with_additions(text: str, additions: Sequence[Addition], start: int = 0) -> str:
    """Return the text from the code point `start`, with the additions behind it."""
    pieces, done = list[str](), start
    for addition in additions:
        if addition.at > start:
            pieces += [text[done : addition.at], addition.text]
            done = addition.at
        elif addition.at == start and addition.text.endswith((_QUOTE, _STRIKE, "\n")):
            pieces.append(addition.text.removeprefix("\n"))
    return "".join([*pieces, text[done:]])


def read_text(raw: Json) -> str:
    """Return the text or caption of a raw message or TextQuote, with its additions."""
    text, entities = ("text", "entities") if str_in(raw, "text") else ("caption", "caption_entities")
    return with_additions(str_in(raw, text), additions_in(raw, text, entities))


def _ranges(text: str, entities: Iterable[Json], types: Set[object]) -> Iterator[tuple[Json, int, int]]:
    """Yield the entities of these types that fit the text, with their first code point and the one after the last."""
    index = Utf16Index(text)
    for entity in entities:
        offset, length = int_in(entity, "offset"), int_in(entity, "length")
        if entity.get("type") not in types or offset is None or length is None:
            continue
        start, end = index.position(offset), index.position(offset + length)
        if start is not None and end is not None and start < end:
            yield entity, start, end


def _quotations(text: str, entities: Iterable[Json]) -> Iterable[Addition]:
    """Yield `> ` for the beginning of each line of a block quotation, which begins and ends with a line."""
    for _, start, end in _ranges(text, entities, _QUOTATIONS):
        lines = text[start:end].splitlines(keepends=True)
        places = accumulate(map(len, lines[:-1]), initial=start)
        gap = "" if _ends_line(text[max(0, start - 1) : start]) else "\n"
        yield Addition(at=start, text=f"{gap}{_QUOTE}")
        yield from (Addition(at=place, text=_QUOTE) for place in islice(places, 1, None))
        if not (_ends_line(text[end - 1 : end]) or _ends_line(text[end : end + 1])):
            yield Addition(at=end, text="\n")


def _fences(text: str, entities: Iterable[Json]) -> Iterable[Addition]:
    """Yield the lines around each block of code. They have more backticks than any run in it."""
    for _, start, end in _ranges(text, entities, {"pre"}):
        fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(text, start, end))])

        before = "" if _ends_line(text[max(0, start - 1) : start]) else "\n"
        within = "" if _ends_line(text[end - 1 : end]) else "\n"
        after = "" if _ends_line(text[end : end + 1]) else "\n"
        yield Addition(at=start, text=f"{before}{fence}\n")
        yield Addition(at=end, text=f"{within}{fence}{after}")


def _strikes(text: str, entities: Iterable[Json]) -> Iterable[Addition]:
    """Yield the marks around words that are struck through, such as the finished tasks of a list."""
    for _, start, end in _ranges(text, entities, {"strikethrough"}):
        yield from (Addition(at=start, text=_STRIKE), Addition(at=end, text=_STRIKE))


def _buttons(raw: Json, end: int) -> Iterable[Addition]:
    """Yield the addresses of the buttons that a message was forwarded with, or sent via a bot (tgcf#209)."""
    for button in buttons_in(raw) if _PASSED_ON & raw.keys() else ():
        if address := _address(button):
            yield Addition(at=end, text=f"\n{one_line(str_in(button, 'text'), _NAME_CHARACTERS)} ({address})")


def _ends_line(character: str) -> bool:
    """Return True for the end of a line, and for "", the end of the text."""
    return character.splitlines() != [character]


def _spans(text: str, entities: Iterable[Json]) -> list[tuple[int, Addition]]:
    """Return the first code point of each entity that hides something, and its addition."""
    found = list[tuple[int, Addition]]()
    for entity, start, end in _ranges(text, entities, _HIDING):
        hidden = _hidden_in(entity)
        if hidden and _plain(hidden) != _plain(text[start:end]):
            at = start + len(text[start:end].rstrip()) or end
            found.append((start, Addition(at=end if at == start else at, text=hidden)))
    return sorted(found, key=lambda span: (span[1].at, span[0]))


def _hidden_in(entity: Json) -> str:
    if entity["type"] == "text_mention":
        user = object_in(entity, "user")
        has_name = str_in(user, "first_name") or str_in(user, "last_name") or str_in(user, "username")
        name = one_line(name_in(user), _NAME_CHARACTERS).translate(_NO_BRACKETS).strip()
        return f"{MENTION}{name}" if has_name and name else ""
    return _address(entity)


def _address(raw: Json) -> str:
    address = one_line(str_in(raw, "url")).translate(_ENCODED)
    return address if len(address) <= ADDRESS_CHARACTERS else f"{address[:ADDRESS_CHARACTERS]}…"


def _plain(words: str) -> str:
    """Return an address or name as people compare it: without scheme, last slash and letter case."""
    plain = words.strip().casefold().removeprefix("@").translate(_ENCODED)
    for scheme in ("https://", "http://", "mailto:", "tel:"):
        plain = plain.removeprefix(scheme)
    return plain.rstrip("/")


def _merged(text: str, spans: Iterable[tuple[int, Addition]]) -> list[Addition]:
    """Return one addition for neighbours with the same one: bold words inside a link may divide it."""
    merged: list[Addition] = []
    for start, addition in spans:
        is_same = merged and merged[-1].text == addition.text
        if is_same and not text[merged[-1].at : start].strip():
            merged.pop()
        merged.append(addition)
    return [
        replace(each, text=f"{'' if text[each.at - 1].isspace() else ' '}({each.text})") for each in merged
    ]


def _within_limit(additions: Iterable[Addition]) -> Iterable[Addition]:
    room = ADDED_CHARACTERS
    for addition in additions:
        if len(addition.text) <= room:
            room -= len(addition.text)
            yield addition
