"""Fields of raw JSON objects. A field that is missing or has a wrong type is empty, 0 or None (pure)."""

from collections.abc import Mapping
from typing import TypeAlias, cast

from memory.characters import well_formed

Json: TypeAlias = Mapping[str, object]

NOTHING: Json = {}


def int_in(raw: Json, key: str) -> int | None:
    """Return the whole number under this key; True and False are not numbers."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def float_in(raw: Json, key: str, *, at_most: float) -> float | None:
    """Return the number under this key if its absolute value is at most `at_most`."""
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= at_most else None


def str_in(raw: Json, key: str) -> str:
    """Return the text under this key. Lone surrogates become U+FFFD, because no store or endpoint accepts them."""
    value = raw.get(key)
    return well_formed(value) if isinstance(value, str) else ""


def object_in(raw: Json, key: str) -> Json:
    """Return the object under this key."""
    value = raw.get(key)
    return cast("Json", value) if isinstance(value, dict) else NOTHING


def objects_in(raw: Json, key: str) -> list[Json]:
    """Return the objects of the list under this key, without its other items."""
    value = raw.get(key)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def buttons_in(message: Json) -> list[Json]:
    """Return the inline buttons below a raw message."""
    rows = object_in(message, "reply_markup").get("inline_keyboard")
    listed = cast("list[object]", rows) if isinstance(rows, list) else []
    return [button for row in listed for button in objects_in({"row": row}, "row")]


def name_in(party: Json) -> str:
    """Return the title or full name of a user or chat, else the username, else the id."""
    full = " ".join(filter(None, (str_in(party, "first_name"), str_in(party, "last_name"))))
    number = int_in(party, "id")
    return (
        str_in(party, "title") or full or str_in(party, "username") or ("" if number is None else str(number))
    )
