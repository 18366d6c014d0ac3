"""Records at rest: frozen dataclasses as JSON and back, by pydantic's adapters.

A field that equals its default is left out, so that small records stay small.
"""

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from memory.errors import RecordCorrupt

T = TypeVar("T")


def dump_json(kind: type[T], value: T) -> str:
    """Return `value` as one line of JSON, as its type `kind` describes it."""
    return _adapter(kind).dump_json(value, exclude_defaults=True).decode()


def parse_json(kind: type[T], text: str | bytes) -> T:
    """Return the value that `dump_json` wrote. Raises RecordCorrupt, without the text, if it is no such value."""
    adapter: TypeAdapter[T] = _adapter(kind)
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordCorrupt(f"A stored {kind} cannot be read: {place} {first['type']}") from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
