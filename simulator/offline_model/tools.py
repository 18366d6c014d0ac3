"""When the offline model calls a tool: what a plain request asks for, and its arguments."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from simulator.offline_model.arguments import fill_arguments, numbers_in, properties_of, required_of, types_of
from simulator.offline_model.words import fold

_ADD = re.compile(
    r"\b(?:add|sum|plus|total of|suma|сложи|прибавь|плюс)\b|[0-9]\s*\+\s*-?[0-9]", re.IGNORECASE
)
_UPPER = (
    re.compile(r"\b(?:upper ?-?case|upper|capitali[sz]e|in capitals)\b[:,]?\s+(?P<text>\S.*)", re.IGNORECASE),
    re.compile(
        r"\b(?:make|put|turn|write|say)\s+(?P<text>\S.*?)\s+(?:in(?:to)? )?(?:upper ?-?case|capitals)\b",
        re.IGNORECASE,
    ),
)
_TIME = re.compile(
    r"\bwhat(?:'s|’s| is)? (?:the )?(?:current )?(?:time|date|day)(?: is it| of day)?\b(?! (?:does|did|do|was|were))"
    r"|\b(?:tell me|give me|show) the (?:current )?(?:time|date)\b|\bcurrent (?:time|date)\b"
    r"|который час|сколько времени|qu[eé] hora es",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|for|at|en|в)\s+([^\W\d_][\w/+ -]*)", re.IGNORECASE)
_SEARCH = (
    re.compile(
        r"\b(?:search|look in|check|go through)\s+(?:in\s+)?(?:your|the|my)?\s*memor(?:y|ies)\s+(?:for|about)\s+(?P<text>.+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:search|look)(?: up)?(?: for)?\s+(?P<text>.+?)\s+in\s+(?:your|the|my)\s+memory\b", re.IGNORECASE
    ),
    re.compile(r"\bdo you (?:still )?remember(?: anything about)?\s+(?P<text>.+)", re.IGNORECASE),
    re.compile(r"\bпоищи в памяти\s+(?P<text>.+)|\b(?:busca en tu memoria)\s+(?P<spanish>.+)", re.IGNORECASE),
)

# Cities whose zone does not end in their own name come after the zones that do.
_ZONES = (
    *("Europe/Lisbon", "Europe/London", "Europe/Paris", "Europe/Berlin", "Europe/Madrid", "Europe/Rome"),
    *("Europe/Vienna", "Europe/Athens", "Europe/Dublin", "Europe/Moscow", "Europe/Kyiv", "Europe/Istanbul"),
    *(
        "Europe/Amsterdam",
        "Europe/Brussels",
        "Europe/Prague",
        "Europe/Warsaw",
        "Europe/Stockholm",
        "Europe/Oslo",
    ),
    *("Europe/Helsinki", "Europe/Zurich", "America/New_York", "America/Chicago", "America/Los_Angeles"),
    *("America/Toronto", "America/Mexico_City", "America/Sao_Paulo", "Africa/Cairo", "Africa/Nairobi"),
    *("Asia/Tokyo", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Dubai", "Asia/Kolkata"),
    *("Asia/Bangkok", "Asia/Jakarta", "Australia/Sydney", "Pacific/Auckland"),
)
_OTHER_NAMES = {
    "utc": "UTC",
    "gmt": "UTC",
    "beijing": "Asia/Shanghai",
    "delhi": "Asia/Kolkata",
    "kiev": "Europe/Kyiv",
}

_KINDS = {
    "add": frozenset({"add", "sum", "plus", "add_numbers"}),
    "upper": frozenset({"upper", "uppercase", "to_upper", "upper_case"}),
    "time": frozenset({"current_time", "time", "now", "get_time", "get_current_time"}),
    "search": frozenset({"search_memory", "memory_search", "recall", "search_history"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool that should be called, with its arguments; who sends it gives it an id."""

    name: str
    arguments: Mapping[str, Any]


def plan_calls(text: str, tools: Sequence[Mapping[str, Any]]) -> tuple[PlannedCall, ...]:
    """The offered tools that `text` plainly asks for, in the order of the offer; () when there is none."""
    offered = [cast("Mapping[str, Any]", tool["function"]) for tool in tools if "function" in tool]
    calls = (_plan_call(text, function) for function in offered)
    return tuple(call for call in calls if call is not None)


def tool_kind(name: str) -> str | None:
    """Which of the tools that are known by name this is: "add", "upper", "time", "search", or None."""
    return next((kind for kind, names in _KINDS.items() if name.casefold() in names), None)


def _plan_call(text: str, function: Mapping[str, Any]) -> PlannedCall | None:
    name = str(function.get("name", ""))
    schema = cast("Mapping[str, Any]", function.get("parameters") or {})
    plain = re.search(_plain_call(name), text, re.IGNORECASE | re.DOTALL)
    if plain:
        return PlannedCall(name=name, arguments=fill_arguments(schema, plain["text"]))
    fillers: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any] | None]] = {
        "add": _add_arguments,
        "upper": _upper_arguments,
        "time": _time_arguments,
        "search": _search_arguments,
    }
    fill = fillers.get(tool_kind(name) or "")
    arguments = fill(text, schema) if fill else None
    return None if arguments is None else PlannedCall(name=name, arguments=arguments)


def _plain_call(name: str) -> str:
    """A pattern for "use roll_dice with …"; a name of several words may begin the text: "roll dice with …"."""
    parts = [re.escape(part) for part in re.split(r"[_-]+", name) if part]
    verb = r"\b(?:use|call|run|try|invoke)\s+(?:the\s+)?(?:tool\s+|function\s+)?"
    start = rf"(?:{verb}|^(?:please\s+)?)" if len(parts) > 1 else verb
    spoken = r"[\s_-]?".join(parts)
    return (
        rf"{start}[`“\"']?{spoken}[`”\"']?(?!\w)(?:\s+tool\b)?(?:\s+(?:with|for|on|to)\b)?[:,]?(?P<text>.*)"
    )


def _add_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    spaced = re.sub(r"(?<=[0-9])\s*\+\s*", " + ", text)
    return fill_arguments(schema, spaced) if _ADD.search(text) and len(numbers_in(spaced)) >= 2 else None


def _upper_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    for pattern in _UPPER:
        match = pattern.search(text)
        if match:
            said = re.sub(
                r"^(?:the )?(?:word|text|phrase)s?\s+(?=\S)", "", match["text"].strip(), flags=re.IGNORECASE
            )
            return _first_text(schema, said.strip(" “”\"'«»"))
    return None


def _time_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    match = _TIME.search(text)
    names = [name for name, value in properties_of(schema).items() if "string" in types_of(value)]
    if not match or not names:
        return {} if match else None
    place = _PLACE.search(text, match.end())
    if place:
        where = place[1].strip().removesuffix(" now").removesuffix(" right")
        return {names[0]: _zone(where) if _wants_zone(names[0], schema) else where}
    needed = names[0] in required_of(schema) or re.search(r"\b(?:utc|gmt)\b", text, re.IGNORECASE)
    return {names[0]: "UTC"} if needed else {}


def _wants_zone(name: str, schema: Mapping[str, Any]) -> bool:
    described = str(properties_of(schema)[name].get("description", ""))
    return "zone" in fold(name) or fold(name) == "tz" or "IANA" in described


def _zone(place: str) -> str:
    """The IANA zone of a well-known city; otherwise the words as they are, for the tool to judge."""
    known = {zone.rpartition("/")[2].replace("_", " ").lower(): zone for zone in _ZONES} | _OTHER_NAMES
    return known.get(place.lower(), place)


def _search_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    for pattern in _SEARCH:
        match = pattern.search(text)
        if match:
            return _first_text(schema, (match[match.lastgroup or 0]).strip(" “”\"'«»?!."))
    return None


def _first_text(schema: Mapping[str, Any], value: str) -> dict[str, Any] | None:
    """`value` for the first text property, a required one before others; None when there is none."""
    texts = [name for name, kind in properties_of(schema).items() if "string" in types_of(kind)]
    wanted = [name for name in texts if name in required_of(schema)] or texts
    return {wanted[0]: value} if wanted and value else None
