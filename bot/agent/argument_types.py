"""Arguments of a call brought to the types of their JSON Schema, as far as weak models write them in others (pure)."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from bot.agent.loose_json import decode

_ABSENT = frozenset(["", "null", "none"])
"""Words for nothing."""
_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def fit_arguments(sent: Mapping[str, object], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, in which a null or a word for it leaves out an optional property that takes none.

    A text becomes the number, truth value, list or object that it spells if the schema takes no text. Models write
    these at any depth (microsoft/autogen#4997, punkpeye/mcp-remote#319). All else stays as it is: the owner of the
    schema checks it.
    """
    return _Fit(schema.get("$defs", {})).fit(dict(sent), schema)


class _Fit:
    """Fits the values of one call; `definitions` are those of its schema."""

    def __init__(self, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self._definitions = definitions

    def fit(self, value: object, schema: Mapping[str, Any]) -> Any:
        """Return the value in a type that the schema takes, if it spells one."""
        options = self._options(schema)
        types = {kind for option in options for kind in _types(option)}
        if isinstance(value, str) and types and "string" not in types:
            value = _spelled(value, types)
        if isinstance(value, list):
            items = _first(options, "items")
            return [self.fit(each, items) for each in cast("list[object]", value)]
        if not isinstance(value, dict):
            return value
        properties = _first(options, "properties")
        required = {name for option in options for name in option.get("required", ())}
        return {
            name: self.fit(each, properties.get(name, {}))
            for name, each in cast("dict[str, object]", value).items()
            if name in required or name not in properties or not self._is_absent(each, properties[name])
        }

    def _is_absent(self, value: object, schema: Mapping[str, Any]) -> bool:
        options = self._options(schema)
        types = {kind for option in options for kind in _types(option)}
        if not all(map(_types, options)):  # one of them takes anything
            return False
        is_word = isinstance(value, str) and value.strip().casefold() in _ABSENT
        return (value is None and "null" not in types) or (is_word and "string" not in types)

    def _options(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the schemas of which a value may fit any, with their references replaced."""
        name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        schema = self._definitions.get(name, schema)
        several = [option for key in ("anyOf", "oneOf") for option in schema.get(key, ())]
        return [option for each in several for option in self._options(each)] or [schema]


def _types(schema: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema names; empty if it takes any."""
    kind: str | Iterable[str] = schema.get("type", ())
    if kind:
        return {kind} if isinstance(kind, str) else set(kind)
    values = cast("Iterable[object]", schema.get("enum", [schema["const"]] if "const" in schema else ()))
    return {_KINDS[type(value)] for value in values}


def _first(options: Iterable[Mapping[str, Any]], key: str) -> Mapping[str, Any]:
    found = (
        cast("Mapping[str, Any]", option[key]) for option in options if isinstance(option.get(key), dict)
    )
    nothing: Mapping[str, Any] = {}
    return next(found, nothing)


def _spelled(text: str, types: set[str]) -> object:
    """Return the value of one of these types that the text spells, else the text."""
    try:
        value = decode(text.lower() if types <= {"boolean", "null"} else text)
    except (ValueError, RecursionError):
        return text
    kind = _KINDS[type(value)]
    if isinstance(value, float) and value.is_integer() and "number" not in types and "integer" in types:
        return int(value)
    return value if kind in types or (kind == "integer" and "number" in types) else text
