"""Records at rest: frozen dataclasses as JSON and back, by pydantic's adapters.

A field that equals its default is left out, so that small records stay small.
"""

import json
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from memory.errors import RecordCorrupt

T = TypeVar("T")


def dump_json(kind: type[T], value: T) -> str:
    """Return `value` as one line of JSON, as its type `kind` describes it."""
    return encode_json(_adapter(kind), value, exclude_defaults=True)


def encode_json(
    adapter: TypeAdapter[Any], value: Any, *, exclude_defaults: bool = False, exclude_none: bool = False
) -> str:
    """Return the value as JSON. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        # `dump_json` of the adapter passes twenty options on, which takes longer than the small records themselves.
        text = adapter.serializer.to_json(value, exclude_defaults=exclude_defaults, exclude_none=exclude_none)
        return text.decode()
    except PydanticSerializationError:
        fields = adapter.dump_python(value, exclude_defaults=exclude_defaults, exclude_none=exclude_none)
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(kind: type[T], text: str | bytes) -> T:
    """Return the value that `dump_json` wrote. Raises RecordCorrupt, without the text, if it is no such value."""
    adapter: TypeAdapter[T] = _adapter(kind)
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordCorrupt(f"A stored {kind} cannot be read: {place} {first['type']}") from None


def parse_object(text: str | bytes) -> dict[str, Any] | None:
    """Return a JSON object that somebody else wrote; None for anything else, also if it is nested too deeply."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
