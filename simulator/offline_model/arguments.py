"""Arguments for any offered tool, filled from plain text by what its JSON schema names and types."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

# At most 18 digits: int() refuses very long texts, and no plain request has more.
_NUMBER = re.compile(r"(?<![\w.])-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?!\w)")
_QUOTED = re.compile(r"[“\"«'‘]([^“”\"«»]+)[”\"»'’]")  # noqa: RUF001


def fill_arguments(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What `text` says for the properties of `schema`: `name=value` first, then by type and order.

    Numbers go to the numeric properties in their order, quoted texts to the text ones, and what is left goes to
    the one required text property that has nothing yet. A property of which nothing is said is left out.
    """
    properties = properties_of(schema)
    filled, rest = _named_values(properties, text)
    filled |= _numbers(properties, filled, rest)
    return filled | _texts(properties, required_of(schema), filled, rest)


def properties_of(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The properties of an object schema that are objects themselves; {} when it has none."""
    properties = schema.get("properties")
    found = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    return {name: value for name, value in found.items() if isinstance(value, dict)}


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """The names that the schema requires; [] when it says nothing."""
    required = schema.get("required")
    return cast("list[str]", required) if isinstance(required, list) else []


def numbers_in(text: str) -> list[int | float]:
    """The numbers written in `text` with digits, in order."""
    return [float(found) if "." in found else int(found) for found in _NUMBER.findall(text)]


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a property may have, also where it is nullable (`anyOf`, a list of types)."""
    kinds = schema.get("type")
    named: list[Any] = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
    options = schema.get("anyOf")
    nested = [types_of(option) for option in _objects(options)]
    return frozenset(kind for kind in named if isinstance(kind, str)).union(*nested)


def _objects(value: object) -> list[Mapping[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _named_values(properties: Mapping[str, Mapping[str, Any]], text: str) -> tuple[dict[str, Any], str]:
    filled: dict[str, Any] = {}
    for name, schema in properties.items():
        pattern = rf"(?<!\w){re.escape(name)}\s*[=:]\s*(?:[“\"']([^“”\"']*)[”\"']|([^\s,;]+))[,;]?"
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            filled[name] = _converted(schema, match[1] if match[1] is not None else match[2])
            text = text[: match.start()] + text[match.end() :]
    return filled, text


def _converted(schema: Mapping[str, Any], value: str) -> Any:
    kinds, numbers = types_of(schema), numbers_in(value)
    if kinds & {"number", "integer"} and numbers:
        return numbers[0]
    if "boolean" in kinds and value.lower() in ("true", "false", "yes", "no"):
        return value.lower() in ("true", "yes")
    return value


def _numbers(
    properties: Mapping[str, Mapping[str, Any]], filled: Mapping[str, Any], text: str
) -> dict[str, Any]:
    numbers = numbers_in(text)
    free = [name for name in properties if name not in filled]
    lists = [name for name in free if _is_list_of_numbers(properties[name])]
    if lists and numbers:
        return {lists[0]: numbers}
    numeric = [name for name in free if types_of(properties[name]) & {"number", "integer"}]
    return dict(zip(numeric, numbers, strict=False))


def _is_list_of_numbers(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    kinds = types_of(cast("dict[str, Any]", items)) if isinstance(items, dict) else frozenset[str]()
    return "array" in types_of(schema) and bool(kinds & {"number", "integer"})


def _texts(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str], filled: Mapping[str, Any], text: str
) -> dict[str, Any]:
    free = [name for name in properties if name not in filled and "string" in types_of(properties[name])]
    quoted = _QUOTED.findall(text)
    if quoted:
        return dict(zip(free, quoted, strict=False))
    left = text.strip(" ,.;:!?")
    wanted = [name for name in free if name in required]
    return {wanted[0]: left} if len(wanted) == 1 and left else {}
