"""Message entities: reading what a bot gives, and the shape in which Telegram lets them nest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

from simulator.api.errors import BadRequest
from simulator.api.links import checked_link

MAX_ENTITIES = 100
_MAX_POSITION = 1_000_000

STYLES = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
# Telegram finds these itself and ignores a bot's.
FOUND = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number"}
)
# Nothing may be styled inside these.
_PLAIN = frozenset({"code", "pre", "date_time"})
# The one further field of a type.
DETAIL_FIELDS = {
    "text_link": "url",
    "text_mention": "user",
    "pre": "language",
    "custom_emoji": "custom_emoji_id",
    "date_time": "unix_time",
}
_GIVEN = STYLES | QUOTES | _PLAIN | frozenset(DETAIL_FIELDS)

# Among entities of one place and length the smaller comes first (tdlib's get_type_priority).
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
    """A span in UTF-16 units; `detail` is the type's further field (for text_mention the user's id)."""

    type: str
    offset: int
    length: int
    detail: str | int | None = None

    @property
    def end(self) -> int:
        return self.offset + self.length


def parse_entities(given: object) -> list[Entity]:
    """The `entities` parameter as Telegram reads it: the first 100, without the types it finds itself.

    Raises BadRequest for anything that is not a list of known entities with sane numbers.
    """
    if not isinstance(given, list):
        return []  # Telegram's server looks at arrays only and takes anything else as none.
    parsed = [_parse_entity(item) for item in cast("list[object]", given)[:MAX_ENTITIES]]
    return [entity for entity in parsed if entity is not None and entity.length > 0]


def nested(entities: Iterable[Entity]) -> list[Entity]:
    """Entities so that of any two one holds the other or they do not touch, in Telegram's order.

    Links, code, mentions and the like do not overlap each other: the first stays. Quotes neither, and
    what crosses a quote's border goes. Styles are joined, cut at the borders of the others and at each
    other's beginnings, and removed inside code.
    """
    ordered = in_order(entities)
    quotes = _without_overlap(entity for entity in ordered if entity.type in QUOTES)
    whole = _without_overlap(entity for entity in ordered if entity.type not in QUOTES | STYLES)
    whole = [entity for entity in whole if not any(_crosses(entity, quote) for quote in quotes)]
    styles = [entity for entity in ordered if entity.type in STYLES]
    return in_order([*quotes, *whole, *_cut(_joined(styles), quotes + whole)])


def in_order(entities: Iterable[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda one: (one.offset, -one.length, _PRIORITY.get(one.type, 50)))


def with_found(given: Sequence[Entity], found: Iterable[Entity]) -> list[Entity]:
    """A bot's entities and those that Telegram finds; a given link, code or mention beats a found one."""
    whole = [entity for entity in given if entity.type not in STYLES | QUOTES]
    quotes = [entity for entity in given if entity.type in QUOTES]
    fresh = [
        entity
        for entity in found
        if not any(_overlap(entity, other) for other in whole)
        and not any(_crosses(entity, quote) for quote in quotes)
    ]
    return nested([*given, *fresh])


def _parse_entity(item: object) -> Entity | None:
    if not isinstance(item, dict):
        raise BadRequest("can't parse MessageEntity: expected an Object")
    fields = cast("dict[str, Any]", item)
    offset, length = _integer(fields, "offset"), _integer(fields, "length")
    kind = _string(fields, "type")
    if kind in FOUND:
        return None
    if kind not in _GIVEN:
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
    kept: list[Entity] = []
    for entity in ordered:
        if not kept or entity.offset >= kept[-1].end:
            kept.append(entity)
    return kept


def _joined(styles: list[Entity]) -> list[Entity]:
    """One entity for those of a type that touch or overlap; the given ones are in order."""
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
    """Overlaps a quote without lying inside it."""
    return _overlap(entity, quote) and not (quote.offset <= entity.offset and entity.end <= quote.end)
