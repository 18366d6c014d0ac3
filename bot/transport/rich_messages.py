"""Rich messages of Bot API 10.1 and later, such as text that was pasted from a page, as ordinary messages (pure).

They have no `text`, but nested blocks. No shape of JSON makes the reader fail, and a block of an unknown type gives its
texts. Seen in NousResearch/hermes-agent#63485 and #81368 and nanocoai/nanoclaw#3151.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from bot.transport.json_fields import NOTHING, Json, float_in, int_in, object_in, objects_in, str_in
from bot.transport.rich_text import Utf16Index, utf16_length

CHARACTERS = 32_768
"""Maximum length of the text: Telegram's own limit of a rich message."""
DEPTH = 32
"""Maximum nesting that is read. Telegram allows 16 levels of blocks."""
MORE_FILES = "more_files"
"""Field of ours with the files after the first one, each as the field of an ordinary message."""
FILES = 10
"""Maximum number of files that are read: the size of an album. Others leave a word only."""

_MEDIA = {
    "photo": ("photo", "photo"),
    "video": ("video", "video"),
    "animation": ("animation", "animation"),
    "audio": ("audio", "audio file"),
    "voice_note": ("voice", "voice message"),
    "document": ("document", "document"),
}
"""Type of a block, which is also the field with its file → the field of an ordinary message, and the word for it."""
_QUOTATIONS = ("blockquote", "expandable_blockquote", "pullquote")
_WORDS = ("text", "expression", "alternative_text", "title")
_TEXTS = (*_WORDS, "summary", "caption", "credit", "content", "description")
"""Fields with a RichText: a string, a list of RichText, or an object."""
_TARGETS = {"url": "", "email_address": "mailto:", "phone_number": "tel:"}
"""Type of a text, which is also the field with its address → the scheme that the address lacks."""
_ENTITIES = ("mention", "text_mention", "bot_command", "hashtag", "cashtag", "pre", "strikethrough")
_BARE = {
    "mention": re.compile(r"(?<![\w@/])@[A-Za-z]\w{3,31}", re.ASCII),
    "bot_command": re.compile(r"(?<![^\s])/\w{1,64}(?:@\w{4,32})?(?![^\s])", re.ASCII),
}


def as_ordinary(raw: Json) -> Json:
    """Return the raw message with its rich message as text, entities and files. Others stay as they are."""
    rich = object_in(raw, "rich_message")
    if not rich or str_in(raw, "text") or str_in(raw, "caption"):
        return raw
    reader = _Reader()
    reader.read_blocks(rich.get("blocks"), depth=0, gap="\n\n")
    media = {**(reader.files[0] if reader.files else NOTHING), MORE_FILES: reader.files[1:]}
    text = "".join(reader.pieces)
    kept = text.rstrip()
    names = ("caption", "caption_entities") if reader.files else ("text", "entities")
    entities = _fitting(reader.entities, utf16_length(kept))
    body: Json = {names[0]: kept, names[1]: [*entities, *_bare_entities(kept, entities)]}
    return {**raw, **(body if kept.strip() else NOTHING), **media}


def _fitting(entities: Sequence[Json], units: int) -> list[Json]:
    """Return the entities without blanks that were cut off at the end of the text, and without those of no text."""
    rooms = [units - (int_in(each, "offset") or 0) for each in entities]
    cut = [min(int_in(each, "length") or 0, room) for each, room in zip(entities, rooms, strict=True)]
    return [{**each, "length": length} for each, length in zip(entities, cut, strict=True) if length > 0]


def _bare_entities(text: str, found: list[Json]) -> list[Json]:
    """Return names and commands that Telegram did not mark: senders may switch its search for them off."""
    index, marked = Utf16Index(text), {entity["type"] for entity in found}
    return [
        {"type": kind, "offset": index.units(word.start()), "length": len(word[0])}
        for kind, pattern in _BARE.items()
        if kind not in marked
        for word in pattern.finditer(text)
    ]


class _Reader:
    """Writes blocks one after the other, and notes the entities of the text so far."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.entities: list[Json] = []
        self.files: list[Json] = []
        self._units = 0
        self._room = CHARACTERS
        self._gap = ""
        self._level = 0
        self._is_labelled = False
        self._is_quoting = False

    def read_blocks(self, blocks: object, *, depth: int, gap: str = "\n") -> None:
        """Write the blocks of a list or of a single object, with a gap between two that have text."""
        for block in _items(blocks):
            self._begin(gap)
            if isinstance(block, dict):
                self._read_block(cast("Json", block), depth + 1)
            else:
                self._read_text(block, depth + 1)

    def _begin(self, gap: str) -> None:
        """Write at least this gap before the next words, unless they are the first ones or follow a list's label."""
        if self.pieces and not self._is_labelled:
            self._gap = max(self._gap, gap, key=len)

    def _read_block(self, block: Json, depth: int) -> None:
        kind = str_in(block, "type")
        if depth > DEPTH or self._room <= 0:
            return
        if kind in _QUOTATIONS and not self._is_quoting:
            self._read_quotation(block, depth)
        elif (kind == "pre" and not self._is_quoting) or (not kind and "url" in block):
            self._read_marked(block, depth)
        elif kind in _MEDIA:
            self._read_media(block, kind, depth)
        elif kind == "list" and "items" in block:
            self._read_items(block, depth)
        elif kind == "table" and "cells" in block:
            self._read_text(block.get("caption"), depth)
            for row in _items(block.get("cells")):
                self._begin("\n")
                self._read_row(_items(row), depth)
        elif kind == "map":
            self._read_map(object_in(block, "location"))
            self._read_text(block.get("caption"), depth)
        else:
            self._read_fields(block, depth)

    def _read_quotation(self, block: Json, depth: int) -> None:
        """Write the block with `> ` before each of its lines, as people quote."""
        self._is_labelled = False
        self._begin("\n")
        self._is_quoting = True
        self._read_fields(block, depth)
        self._is_quoting = False

    def _read_fields(self, block: Mapping[str, object], depth: int) -> None:
        """Write the texts and the blocks of any other block, in the order of its fields."""
        for key, value in block.items():
            if key in _TEXTS:
                self._begin("\n")
                self._read_text(value, depth)
            elif isinstance(value, list | dict) and key not in _MEDIA:
                self.read_blocks(cast("object", value), depth=depth)

    def _read_items(self, block: Json, depth: int) -> None:
        """Write each item behind its label, as deep as it is nested."""
        self._level += 1
        for item in objects_in(block, "items"):
            self._begin("\n")
            box = ("[x] " if item.get("is_checked") is True else "[ ] ") if item.get("has_checkbox") else ""
            self._put(f"{'  ' * (self._level - 1)}{_label_of(item)} {box}")
            self._is_labelled = True
            self._read_text(item.get("text"), depth + 1)
            self.read_blocks(item.get("blocks"), depth=depth)
            self._is_labelled = False
        self._level -= 1

    def _read_row(self, cells: list[object], depth: int) -> None:
        for number, cell in enumerate(cells):
            self._put(" | " if number else "")
            self._read_text(cell, depth + 1)

    def _read_map(self, location: Json) -> None:
        latitude = float_in(location, "latitude", at_most=90)
        longitude = float_in(location, "longitude", at_most=180)
        if latitude is not None and longitude is not None:
            self._put(f"(map at {latitude:.5f}, {longitude:.5f})")
            self._begin("\n")

    def _read_media(self, block: Json, kind: str, depth: int) -> None:
        """Keep the file. Those after the first one leave a word at their place."""
        field, word = _MEDIA[kind]
        if self.files:
            self._put(f"(another {word})")
            self._begin("\n")
        if len(self.files) < FILES:
            self.files.append({field: block.get(kind)})
        self._read_text(block.get("caption"), depth)

    def _read_text(self, text: object, depth: int) -> None:
        """Write a RichText. Its links, mentions and commands become entities."""
        if depth > DEPTH or self._room <= 0:
            return
        if isinstance(text, str):
            self._put(text)
        elif isinstance(text, list):
            for part in cast("list[object]", text):
                self._read_text(part, depth + 1)
        elif isinstance(text, dict):
            self._read_marked(cast("Json", text), depth)

    def _read_marked(self, text: Json, depth: int) -> None:
        kind = str_in(text, "type") or "url"  # a button has no type
        start = self._units + utf16_length(self._gap)
        for key in (*_WORDS, "button"):
            self._read_text(text.get(key), depth + 1)
        if text.get("credit"):
            self._put(" – ")
            self._read_text(text.get("credit"), depth + 1)
        self.read_blocks(text.get("blocks"), depth=depth)
        place = {"offset": start, "length": self._units - start}
        if kind in _TARGETS and text.get(kind):
            address = f"{_TARGETS[kind]}{str_in(text, kind)}"
            self.entities.append({"type": "text_link", **place, "url": address})
        elif kind in _ENTITIES:
            self.entities.append({"type": kind, **place, "user": text.get("user")})

    def _put(self, text: str) -> None:
        """Write words, with the gap before them and as far as there is room."""
        text = str_in({"": text}, "")
        if text and self._is_quoting:
            is_new_line = self._gap or not self.pieces
            lines = text.splitlines(keepends=True)
            ending = "> " if lines[-1].splitlines() != lines[-1:] else ""
            text = f"{'> ' if is_new_line else ''}{'> '.join(lines)}{ending}"
        if text:
            written = f"{self._gap}{text}"[: self._room]
            self._gap, self._is_labelled = "", False
            self._room -= len(written)
            self._units += utf16_length(written)
            self.pieces.append(written)


def _label_of(item: Json) -> str:
    number = int_in(item, "value")
    return str_in(item, "label").strip() or ("•" if number is None else f"{number}.")


def _items(value: object) -> list[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    return [] if value is None else [value]
