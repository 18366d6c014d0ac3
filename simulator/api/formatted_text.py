"""A text with its entities as Telegram stores it: cleaned, trimmed and nested."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from simulator.api.entities import Entity, find_entities, in_order, nested, with_detected
from simulator.api.errors import BadRequest
from simulator.api.utf16 import clean_text, is_blank, utf16_length, utf16_slice

MAX_TEXT = 4096
MAX_CAPTION = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedText:
    text: str
    entities: tuple[Entity, ...] = ()

    @property
    def length(self) -> int:
        """UTF-16 units."""
        return utf16_length(self.text)


def format_text(text: str, entities: Sequence[Entity] = ()) -> FormattedText:
    """Return the text that a chat shows, with the entities that Telegram finds. A blank text becomes empty.

    Raises BadRequest for an entity that begins or ends outside the text or inside a surrogate pair. It does not check
    the length: see `MAX_TEXT`.
    """
    _check_places(text, entities)
    clean, moved = clean_text(text)
    if is_blank(clean):
        return FormattedText(text="")
    placed = [
        replace(entity, offset=moved[entity.offset], length=moved[entity.end] - moved[entity.offset])
        for entity in nested(entities)
    ]
    ended = clean.rstrip(" \n")
    # tdlib, fix_formatted_text: blanks before the first entity are removed, those inside it stay.
    blanks = len(ended) - len(ended.lstrip(" \n"))
    skipped = min([blanks, *(entity.offset for entity in placed if _covers_text(entity, ended))])
    trimmed = ended[skipped:]
    own = nested(_trimmed(placed, trimmed, skipped))
    final = _trimmed(with_detected(own, find_entities(trimmed)), trimmed, 0)
    return FormattedText(text=trimmed, entities=tuple(in_order(final)))


def _check_places(text: str, entities: Iterable[Entity]) -> None:
    size = utf16_length(text)
    starts = _byte_offsets(text)
    for entity in in_order(entities):
        if entity.offset > size:
            raise BadRequest(f"entity begins after the end of the text at UTF-16 offset {entity.offset}")
        if entity.offset not in starts:
            raise BadRequest(
                f"entity begins in a middle of a UTF-16 symbol at byte offset {starts[entity.offset + 1]}"
            )
        if entity.end > size:
            raise BadRequest(
                f"entity beginning at UTF-16 offset {entity.offset} ends after the end of the text"
                f" at UTF-16 offset {entity.end}"
            )
        if entity.end not in starts:
            raise BadRequest(
                f"entity beginning at UTF-16 offset {entity.offset} ends in a middle of a UTF-16 symbol"
                f" at byte offset {starts[entity.end + 1]}"
            )


def _byte_offsets(text: str) -> dict[int, int]:
    """Map the UTF-16 offset of each place between two characters to its UTF-8 offset."""
    offsets = {0: 0}
    units = size = 0
    for char in text:
        units += 2 if char > "\uffff" else 1
        size += len(char.encode())
        offsets[units] = size
    return offsets


def _trimmed(entities: Iterable[Entity], text: str, skipped: int) -> list[Entity]:
    """Move entities into a trimmed text. Cut their leading blanks; drop those that cover only blanks."""
    size = utf16_length(text)
    moved_entities: list[Entity] = []
    for entity in entities:
        start, end = max(entity.offset - skipped, 0), min(entity.end - skipped, size)
        covered = utf16_slice(text, start, end - start) if start < end else ""
        if not is_blank(covered):
            start += len(covered) - len(covered.lstrip(" \n"))
            moved_entities.append(replace(entity, offset=start, length=end - start))
    return moved_entities


def _covers_text(entity: Entity, text: str) -> bool:
    length = min(entity.end, utf16_length(text)) - entity.offset
    return length > 0 and not is_blank(utf16_slice(text, entity.offset, length))
