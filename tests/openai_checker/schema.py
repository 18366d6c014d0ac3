"""Faults of a tool's parameters, which are a JSON schema."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NESTED_MAPS = ("properties", "$defs", "definitions")
_NESTED_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def schema_faults(schema: object, *, strict: bool) -> Iterator[str]:
    """Return the faults of a function's `parameters`; none for a function without any.

    With `strict`, every object must also refuse unknown properties and require all of its own.
    """
    if schema is None:
        return
    if not isinstance(schema, dict):
        yield f"{schema!r} is not of type 'object'."
        return
    fields = cast("dict[str, Any]", schema)
    if fields.get("type") != "object":
        yield f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {fields.get('type')!r}'."
        return
    yield from _faults(fields, (), strict=strict)


def _faults(schema: object, context: tuple[str, ...], *, strict: bool) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"In context={context}, {schema!r} is not of type 'object', 'boolean'."
        return
    fields = cast("dict[str, Any]", schema)
    yield from _own_faults(fields, context)
    if strict and fields.get("type") == "object":
        yield from _strict_faults(fields, context)
    for place, nested in _nested(fields):
        yield from _faults(nested, (*context, *place), strict=strict)


def _own_faults(fields: Mapping[str, Any], context: tuple[str, ...]) -> Iterator[str]:
    kind = fields.get("type", [])
    for each in cast("list[Any]", kind) if isinstance(kind, list) else [kind]:
        if not isinstance(each, str) or each not in _TYPES:
            yield f"In context={context}, {each!r} is not a valid type."
    if kind == "array" and "items" not in fields and "prefixItems" not in fields:
        yield f"In context={context}, array schema missing items."
    required: object = fields.get("required", [])
    names = cast("list[Any]", required) if isinstance(required, list) else [None]
    if not all(isinstance(name, str) for name in names):
        yield f"In context={context}, 'required' must be an array of strings."
    for key in _NESTED_MAPS:
        if key in fields and not isinstance(fields[key], dict):
            yield f"In context={context}, '{key}' is not of type 'object'."
    values = fields.get("enum")
    if "enum" in fields and not (isinstance(values, list) and values):
        yield f"In context={context}, 'enum' must be an array with at least one value."


def _strict_faults(fields: Mapping[str, Any], context: tuple[str, ...]) -> Iterator[str]:
    if fields.get("additionalProperties") is not False:
        yield f"In context={context}, 'additionalProperties' is required to be supplied and to be false."
    missing = sorted(set(fields.get("properties") or {}) - set(fields.get("required") or []))
    if missing:
        yield f"In context={context}, 'required' must include every key in properties. Missing '{missing[0]}'."


def _nested(fields: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key in _NESTED_MAPS:
        entries = fields.get(key)
        if isinstance(entries, dict):
            for name, value in cast("dict[str, object]", entries).items():
                yield (key, name), value
    for key in _NESTED_LISTS:
        options = fields.get(key)
        if isinstance(options, list):
            for index, value in enumerate(cast("list[object]", options)):
                yield (key, str(index)), value
    if "items" in fields:
        yield ("items",), fields["items"]
