"""Records at rest: frozen dataclasses as JSON and back, by pydantic's adapters.

A field that equals its default is left out, so that small records stay small. Fields that Lua scripts change are on a
second line, and ids and times that scripts copy are strings: Lua has only doubles, and writes them in its own way.
"""

import json
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import PlainSerializer, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from memory.errors import RecordCorrupt

T = TypeVar("T")
Id = Annotated[int, PlainSerializer(str, when_used="json-unless-none")]
"""An integer that is a string at rest."""
Seconds = Annotated[float, PlainSerializer(repr, when_used="json-unless-none")]
"""Unix seconds that are a string at rest."""


def dump_json(kind: type[T], value: T) -> str:
    """Return `value` as JSON, as its type `kind` describes it.

    The fields that a class names in `SCRIPT_FIELDS` are on a second line, if there are any to write.
    """
    adapter, apart = _adapter(kind), getattr(kind, "SCRIPT_FIELDS", None)
    if apart is None:
        return encode_json(adapter, value, exclude_defaults=True)
    first = encode_json(adapter, value, exclude_defaults=True, exclude=apart)
    second = encode_json(adapter, value, exclude_defaults=True, include=apart)
    return first if second == "{}" else f"{first}\n{second}"


def encode_json(adapter: TypeAdapter[Any], value: Any, **options: Any) -> str:
    """Return the value as JSON. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        # `dump_json` of the adapter passes twenty options on, which takes longer than the small records themselves.
        return adapter.serializer.to_json(value, **options).decode()
    except PydanticSerializationError:
        fields = adapter.dump_python(value, mode="json", **options)
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(kind: type[T], text: str | bytes) -> T:
    """Return the value that `dump_json` wrote. Raises RecordCorrupt, without the text, if it is no such value."""
    adapter: TypeAdapter[T] = _adapter(kind)
    if isinstance(text, str):
        text = text.replace("}\n{", ",")  # no string in JSON has a line end
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
