"""Tool calls of the offline model: the tool that a line plainly asks for, its arguments, and its result."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast
from zoneinfo import available_timezones

from simulator.offline_model.answer import quote
from simulator.offline_model.prompt import text_of

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?!\w)")
"""At most 18 digits: int() refuses very long texts."""
_QUOTED = re.compile(r"[“\"«']([^“”\"«»]+)[”\"»']")
_TIME = re.compile(
    r"\bwhat(?:'s|’s| is)? (?:the )?(?:current )?(?:time|date|day)(?: is it)?\b"  # noqa: RUF001
    r"(?! (?:does|did|do|was|were))"
    r"(?:.*?\b(?:in|for|at)\s+(?P<place>[^\W\d_][\w/+ -]{0,60}?)(?: (?:right )?now)?\W*$)?",
    re.IGNORECASE,
)
_SEARCH = re.compile(r"\b(?:search|check) (?:your|the|my) memory (?:for|about)\s+(?P<text>.+)", re.IGNORECASE)
_LATER = r"(?P<when>in (?:an?|\d{1,6}) (?:minute|hour|day|week)s?|at \d{1,2}:\d\d)"
_REMIND = (
    re.compile(rf"\bremind me {_LATER},? (?:to|of|about|that)\s+(?P<text>.+)", re.IGNORECASE),
    re.compile(rf"\bremind me (?:to|of|about|that)\s+(?P<text>.+?),? {_LATER}\W*$", re.IGNORECASE),
)
_CLOCKS = ("current_time", "get_time", "get_current_time", "time", "now")
_FOUND_LISTED = 5

_Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool to call, with its arguments."""

    name: str
    arguments: Mapping[str, Any]


def tool_names(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the offered tools."""
    return [str(tool["function"]["name"]) for tool in tools]


def plan_call(line: str, tools: Sequence[Mapping[str, Any]]) -> PlannedCall | None:
    """Return the call of the first offered tool that the line asks for."""
    for tool in tools:
        name = str(tool["function"]["name"])
        schema: _Schema = tool["function"].get("parameters") or {}
        arguments = _arguments(line, name, schema)
        if arguments is not None:
            return PlannedCall(name=name, arguments=arguments)
    return None


def state_results(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the results of the tools called since the newest user message, or None if none was called."""
    calls: dict[str, Mapping[str, Any]] = {}
    stated: list[str] = []
    for message in messages:
        if message.get("role") == "user":
            calls, stated = {}, []
        for call in cast("list[dict[str, Any]]", message.get("tool_calls") or []):
            calls[str(call["id"])] = call["function"]
        if message.get("role") == "tool":
            stated.append(_state(calls.get(str(message.get("tool_call_id")), {}), text_of(message).strip()))
    return "\n\n".join(stated) if stated else None


def fill_arguments(schema: _Schema, text: str) -> dict[str, Any]:
    """Return the arguments that `text` holds: first `name=value`, then values by type and order.

    Quoted texts go to the text properties. What remains goes to the only required text property without a value.
    """
    properties = _properties(schema)
    filled, rest = _named_values(properties, text)
    numbers = _numbers_in(rest)
    for name, kinds in properties.items():
        if name not in filled and numbers and kinds & {"number", "integer"}:
            filled[name] = numbers if "array" in kinds else numbers.pop(0)
    free = [name for name, kinds in properties.items() if name not in filled and "string" in kinds]
    quotes, remainder = _QUOTED.findall(rest), rest.strip(" ,.;:!?")
    required = [name for name in free if name in schema.get("required", [])]
    if quotes:
        filled |= dict(zip(free, quotes, strict=False))
    elif remainder and len(required) == 1:
        filled[required[0]] = remainder
    return filled


def _arguments(line: str, name: str, schema: _Schema) -> dict[str, Any] | None:
    """Return the arguments if the line asks for the tool `name`.

    It does so with "use NAME with …", or if it begins with the name and holds all required arguments.
    """
    spoken = r"[\s_-]?".join(re.escape(part) for part in re.split(r"[_-]+", name) if part)
    verb = r"\b(?P<verb>use|call|run|try|invoke)\s+(?:the\s+)?(?:tool\s+|function\s+)?"
    plain = re.search(
        rf"(?:{verb}|^(?:please\s+)?)[`“\"']?{spoken}[`”\"']?(?!\w)(?:\s+tool\b)?"
        r"(?:\s+(?:with|for|on|to)\b)?[:,]?(?P<text>.*)",
        line,
        re.IGNORECASE | re.DOTALL,
    )
    if plain:
        filled = fill_arguments(schema, plain["text"])
        if plain["verb"] or set(schema.get("required", [])) <= filled.keys():
            return filled
    time, search = _TIME.search(line), _SEARCH.search(line)
    texts = [each for each, kinds in _properties(schema).items() if "string" in kinds]
    if time and name in _CLOCKS:
        return {texts[0]: _zone(time["place"])} if texts and time["place"] else {}
    remind = next((found for pattern in _REMIND if (found := pattern.search(line))), None)
    if remind and name == "set_reminder":
        return {
            "when": re.sub("^at ", "", remind["when"], flags=re.IGNORECASE),
            "text": remind["text"].strip(),
        }
    if "memory" in name and search and texts:
        return {texts[0]: search["text"].strip(" “”\"'«»?!.")}
    return None


def _properties(schema: _Schema) -> dict[str, frozenset[str]]:
    """Return the JSON types of each property. A list of numbers has "array" and "number"."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return {name: frozenset(_types(value)) for name, value in properties.items()}


def _types(schema: _Schema) -> list[str]:
    kinds = schema.get("type", [])
    nested = [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return [
        *([kinds] if isinstance(kinds, str) else kinds),
        *(kind for each in nested for kind in _types(each)),
    ]


def _numbers_in(text: str) -> list[int | float]:
    return [float(found) if "." in found else int(found) for found in _NUMBER.findall(text)]


def _named_values(properties: Mapping[str, frozenset[str]], text: str) -> tuple[dict[str, Any], str]:
    """Return the values written as `name=value`, and the rest of the text."""
    filled: dict[str, Any] = {}
    for name, kinds in properties.items():
        pattern = rf"(?<!\w){re.escape(name)}\s*[=:]\s*(?:[“\"']([^“”\"']*)[”\"']|([^\s,;]+))[,;]?"
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            value = match[1] if match[1] is not None else match[2]
            numbers = _numbers_in(value) if kinds & {"number", "integer"} else []
            filled[name] = numbers[0] if numbers else value
            text = text[: match.start()] + text[match.end() :]
    return filled, text


@cache
def _zones() -> Mapping[str, str]:
    """Return the IANA zones by the last part of their names: a city."""
    return {zone.rpartition("/")[2].replace("_", " ").lower(): zone for zone in sorted(available_timezones())}


def _zone(place: str) -> str:
    return _zones().get(place.strip().lower(), place.strip())


def _state(function: Mapping[str, Any], result: str) -> str:
    name = str(function.get("name", ""))
    try:
        arguments: object = json.loads(function.get("arguments") or "{}")
    except (ValueError, RecursionError):
        arguments = {}
    values = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
    if "memory" in name:
        lines = [line.strip() for line in result.splitlines() if line.strip().startswith("[")]
        found = (
            "\n".join(["found:", "", *(f"- {line}" for line in lines[:_FOUND_LISTED])])
            if lines
            else "found nothing."
        )
        return f"I searched my memory for {quote(', '.join(map(str, values.values())))} and {found}"
    listed = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return f"{name}({listed}) gave: {result or '(nothing)'}"
