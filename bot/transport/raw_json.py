"""Reads fields of JSON objects that may have any shape: what is missing or of a wrong type is empty, 0 or None."""

from collections.abc import Mapping
from typing import TypeAlias, cast

from memory.characters import well_formed

Json: TypeAlias = Mapping[str, object]

NOTHING: Json = {}


def int_in(raw: Json, key: str) -> int | None:
    """The whole number under this key; true and false are none."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def float_in(raw: Json, key: str, *, at_most: float) -> float | None:
    """The number under this key, if its size is not beyond `at_most`."""
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= at_most else None


def str_in(raw: Json, key: str) -> str:
    """The text under this key, with lone surrogates as U+FFFD: no store and no endpoint takes them."""
    value = raw.get(key)
    return well_formed(value) if isinstance(value, str) else ""


def object_in(raw: Json, key: str) -> Json:
    """The object under this key."""
    return as_object(raw.get(key))


def objects_in(raw: Json, key: str) -> list[Json]:
    """The objects of the list under this key; what is no object in it is left out."""
    value = raw.get(key)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def as_object(value: object) -> Json:
    """The value itself if it is an object."""
    return cast("Json", value) if isinstance(value, dict) else NOTHING


def name_in(party: Json) -> str:
    """How a user or chat is called: title, first and last name, else the username, else the id."""
    full = " ".join(filter(None, (str_in(party, "first_name"), str_in(party, "last_name"))))
    number = int_in(party, "id")
    return (
        str_in(party, "title") or full or str_in(party, "username") or ("" if number is None else str(number))
    )
