"""Message entities: parsing, nesting, links, and those that Telegram finds in a text by itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

from simulator.api.errors import BadRequest
from simulator.api.utf16 import utf16_length

MAX_ENTITIES = 100
_MAX_POSITION = 1_000_000

STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
# Telegram finds these itself; it ignores those of a bot.
DETECTED = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number"}
)
# No styles are possible inside these.
_PLAIN = frozenset({"code", "pre", "date_time"})
# The additional field of a type.
DETAIL_FIELDS = {
    "text_link": "url",
    "text_mention": "user",
    "pre": "language",
    "custom_emoji": "custom_emoji_id",
    "date_time": "unix_time",
}
_ACCEPTED = STYLES | QUOTES | _PLAIN | frozenset(DETAIL_FIELDS)

# Among entities with equal offset and length the smaller number comes first (tdlib, get_type_priority).
_PRIORITY = {
    "blockquote": 0,
    "expandable_blockquote": 0,
    "pre": 11,
    "code": 20,
    "text_link": 49,
    "text_mention": 49,
    "bold": 90,
    "italic": 91,
    "underline": 92,
    "strikethrough": 93,
    "spoiler": 94,
    "custom_emoji": 99,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A span in UTF-16 units. `detail` is the additional field of its type; for text_mention the user's id."""

    type: str
    offset: int
    length: int
    detail: str | int | None = None

    @property
    def end(self) -> int:
        return self.offset + self.length


def parse_entities(parameter: object) -> list[Entity]:
    """Parse the `entities` parameter: the first 100, without the types that Telegram finds itself.

    Raises BadRequest for unknown entities and for numbers out of range.
    """
    if not isinstance(parameter, list):
        return []  # Telegram ignores other values than arrays.
    parsed = [_parse_entity(item) for item in cast("list[object]", parameter)[:MAX_ENTITIES]]
    return [entity for entity in parsed if entity is not None and entity.length > 0]


def nested(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities in Telegram's order, so that two of them are nested or disjoint.

    Of overlapping links, mentions or pieces of code the first stays, and of overlapping quotes too. An entity that
    crosses the border of a quote is dropped. Styles are joined, cut at the borders of others, and removed inside code.
    """
    ordered = in_order(entities)
    quotes = _without_overlap(entity for entity in ordered if entity.type in QUOTES)
    whole = _without_overlap(entity for entity in ordered if entity.type not in QUOTES | STYLES)
    whole = [entity for entity in whole if not any(_crosses(entity, quote) for quote in quotes)]
    styles = [entity for entity in ordered if entity.type in STYLES]
    return in_order([*quotes, *whole, *_cut(_joined(styles), quotes + whole)])


def in_order(entities: Iterable[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda one: (one.offset, -one.length, _PRIORITY.get(one.type, 50)))


def with_detected(own: Sequence[Entity], detected: Iterable[Entity]) -> list[Entity]:
    """Combine the entities of a bot with those that Telegram finds. A link, code or mention of the bot has priority."""
    whole = [entity for entity in own if entity.type not in STYLES | QUOTES]
    quotes = [entity for entity in own if entity.type in QUOTES]
    fresh = [
        entity
        for entity in detected
        if not any(_overlap(entity, other) for other in whole)
        and not any(_crosses(entity, quote) for quote in quotes)
    ]
    return nested([*own, *fresh])


def _parse_entity(item: object) -> Entity | None:
    if not isinstance(item, dict):
        raise BadRequest("can't parse MessageEntity: expected an Object")
    fields = cast("dict[str, Any]", item)
    offset, length = _integer(fields, "offset"), _integer(fields, "length")
    kind = _string(fields, "type")
    if kind in DETECTED:
        return None
    if kind not in _ACCEPTED:
        raise BadRequest(f"can't parse MessageEntity: {_refused_type(kind)}")
    for name, value in (("offset", offset), ("length", length)):
        if not 0 <= value <= _MAX_POSITION:
            raise BadRequest(f"receive an entity with incorrect {name} {value}")
    return Entity(type=kind, offset=offset, length=length, detail=_detail(fields, kind))


def _refused_type(kind: str) -> str:
    return "Unsupported type specified" if kind else "Type is not specified"


def _detail(fields: dict[str, Any], kind: str) -> str | int | None:
    match kind:
        case "text_link":
            return checked_link(_string(fields, "url"))
        case "text_mention":
            user = fields.get("user")
            if not isinstance(user, dict):
                raise BadRequest("can't parse MessageEntity: Can't find field \"user\"")
            return _integer(cast("dict[str, Any]", user), "id")
        case "custom_emoji":
            return _string(fields, "custom_emoji_id")
        case "date_time":
            return _integer(fields, "unix_time")
        case "pre":
            return str(fields.get("language") or "") or None
        case _:
            return None


def _integer(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if value is None:
        raise BadRequest(f"can't parse MessageEntity: Can't find field \"{name}\"")
    try:
        if isinstance(value, bool | float):
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise BadRequest(f'can\'t parse MessageEntity: Field "{name}" must be a Number') from None


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        raise BadRequest(f"can't parse MessageEntity: Can't find field \"{name}\"")
    if not isinstance(value, str):
        raise BadRequest(f'can\'t parse MessageEntity: Field "{name}" must be of type String')
    return value


def _without_overlap(ordered: Iterable[Entity]) -> list[Entity]:
    disjoint: list[Entity] = []
    for entity in ordered:
        if not disjoint or entity.offset >= disjoint[-1].end:
            disjoint.append(entity)
    return disjoint


def _joined(styles: list[Entity]) -> list[Entity]:
    """Join ordered entities of one type that touch or overlap."""
    joined: list[Entity] = []
    for kind in sorted({entity.type for entity in styles}):
        last: Entity | None = None
        for entity in (one for one in styles if one.type == kind):
            if last is not None and entity.offset <= last.end:
                last = replace(last, length=max(last.end, entity.end) - last.offset)
                joined[-1] = last
            else:
                last = entity
                joined.append(last)
    return joined


def _cut(styles: list[Entity], others: list[Entity]) -> list[Entity]:
    cuts = {one.offset for one in styles} | {edge for one in others for edge in (one.offset, one.end)}
    plain = [one for one in others if one.type in _PLAIN]
    pieces: list[Entity] = []
    for style in styles:
        edges = sorted({style.offset, style.end} | {cut for cut in cuts if style.offset < cut < style.end})
        pieces += [replace(style, offset=start, length=end - start) for start, end in pairwise(edges)]
    return [piece for piece in pieces if not any(_overlap(piece, one) for one in plain)]


def _overlap(one: Entity, other: Entity) -> bool:
    return one.offset < other.end and other.offset < one.end


def _crosses(entity: Entity, quote: Entity) -> bool:
    """Return True if an entity overlaps a quote without lying inside it."""
    return _overlap(entity, quote) and not (quote.offset <= entity.offset and entity.end <= quote.end)


# tdlib knows every top-level domain; these are enough to distinguish an address from a file name.
_DOMAINS = "com|org|net|io|dev|app|info|edu|gov|me|ai|co|uk|us|de|fr|es|it|nl|eu|ru|ua|pl|pt|br|in|jp|cn|xyz"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL = re.compile(
    rf"(?<![\w.+-])[A-Za-z0-9][A-Za-z0-9._%+-]{{0,63}}@(?:{_LABEL}\.)+[A-Za-z]{{2,24}}(?![\w@])"
)
_URL = re.compile(
    rf"(?:(?<!\w)(?:https?|ftp)://(?:[^\s@/?#<>\"]+@)?(?:{_LABEL}\.)+\w{{2,}}|"
    rf"(?<![\w@.#/$])(?:{_LABEL}\.)+(?:{_DOMAINS})(?![\w@-]|\.\w))"
    r"(?::\d{1,5})?(?:[/?#][^\s<>\"]*)?",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"(?<![\w/<>@#])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>@])")
_MENTION = re.compile(r"(?<![\w/@])@[A-Za-z0-9_]{3,32}(?!\w)")
_HASHTAG = re.compile(r"(?<![\w#&/])#(?=\w*[^\W\d])\w{1,256}(?![\w#])")

# The first match at a place has priority.
_FINDERS = (
    ("email", _EMAIL),
    ("url", _URL),
    ("bot_command", _COMMAND),
    ("mention", _MENTION),
    ("hashtag", _HASHTAG),
)


def find_entities(text: str) -> list[Entity]:
    """Return the entities that Telegram finds in a text, in order and without overlap."""
    spans: list[tuple[int, int, str]] = []
    for kind, pattern in _FINDERS:
        for start, end in _matches(kind, pattern, text):
            if all(end <= other or start >= other_end for other, other_end, _ in spans):
                spans.append((start, end, kind))
    return in_order(_as_entities(text, spans))


def _matches(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        end = match.end()
        if kind == "url":
            end = match.start() + len(_without_punctuation(match.group()))
        yield match.start(), end


def _without_punctuation(url: str) -> str:
    """Cut an address before a full stop, and before a bracket that it did not open."""
    while url and (url[-1] in ".,:;!?'" or (url[-1] in ")]" and url.count(url[-1]) > _opened(url))):
        url = url[:-1]
    return url


def _opened(url: str) -> int:
    return url.count("(" if url[-1] == ")" else "[")


def _as_entities(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Entity]:
    return [
        Entity(type=kind, offset=utf16_length(text[:start]), length=utf16_length(text[start:end]))
        for start, end, kind in spans
    ]


_PARTS = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://)?)?(?P<host>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_OWN_SCHEMES = frozenset({"tg", "ton", "tonsite"})
_HOST = re.compile(r"(?:[^@]*@)?(?P<name>\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::\d{1,5})?")


def checked_link(url: str, *, subject: str = "entity URL", http_only: bool = False) -> str:
    """Return the URL as Telegram stores it: with a scheme, a host in lower case and a path.

    Raises BadRequest for other schemes than http, https, tg and ton, and for hosts without a dot. Its text begins with
    `subject`.
    """
    stripped = url.strip()
    parts = _PARTS.fullmatch(stripped)
    scheme = (parts["scheme"] or "").lower() if parts else ""
    if parts is None or any(char <= " " or char == "\x7f" for char in stripped):
        raise _refusal(subject, url, "Wrong HTTP URL")
    if scheme in _OWN_SCHEMES:
        if http_only:
            raise _refusal(subject, url, "Only HTTP links are allowed")
        return f"{scheme}://{parts['host']}{parts['rest']}"
    if _is_port_of_host(parts["scheme"], parts["host"]):
        return checked_link(f"http://{stripped}", subject=subject)
    if scheme not in {"", "http", "https"}:
        raise _refusal(subject, url, "Unsupported URL protocol")
    host = _HOST.fullmatch(parts["host"])
    if host is None or not _is_host_name(host["name"]):
        raise _refusal(subject, url, "Wrong HTTP URL")
    rest = parts["rest"] if parts["rest"].startswith("/") else f"/{parts['rest']}"
    return f"{scheme or 'http'}://{parts['host'].lower()}{rest}"


def _is_port_of_host(scheme: str | None, host: str) -> bool:
    """Return True for `example.com:80/x`, which looks like a scheme and its rest."""
    return scheme is not None and "." in scheme and host.isdigit()


def _is_host_name(name: str) -> bool:
    if name.startswith("["):
        return True
    labels = name.split(".")
    return len(labels) > 1 and all(label and not re.search(r"[\s<>\"'`]", label) for label in labels)


def _refusal(subject: str, url: str, reason: str) -> BadRequest:
    return BadRequest(f"{subject} '{url}' is invalid: {reason}")
