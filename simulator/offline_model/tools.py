"""Tool calls of the offline model: the tool that a line plainly asks for, and its result in a sentence."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from babel import Locale
from babel.dates import format_date

from simulator.offline_model.answer import quote
from simulator.offline_model.prompt import read_line, read_object, sentences, text_of, unwrapped
from simulator.offline_model.words import Language, languages

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?!\w)")
"""At most 18 digits: int() refuses very long texts."""
_QUOTED = re.compile(r"[“\"«']([^“”\"«»]+)[”\"»']")
_SEARCH = re.compile(r"\b(?:search|check) (?:your|the|my) memory (?:for|about)\s+(?P<text>.+)", re.IGNORECASE)
LACKS_ZONE = "set_reminder again with zone"
REMINDER = re.compile(
    r"(?P<id>\w+): (?P<task>task )?for (?P<at>\w+ (?P<date>\S+) (?P<time>\S+) \([^)]*\))"
    r"(?:, repeats (?P<rule>\S+))?, by \"[^\"]*\": (?P<text>\".*\")"
)
_CLOCKS = ("current_time", "get_time", "get_current_time", "time", "now")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d)[^(]*\(([^)]+)\)")
_REPEATS = re.compile(r"repeats (?:FREQ=)?(\w+)(?:;BYDAY=(\w\w(?:,\w\w)*))?")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_EXCERPT = re.compile(r"\d+: (\".*\")")
_LISTED = 5

_Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool to call, with its arguments."""

    name: str
    arguments: Mapping[str, Any]


def plan_call(line: str, tools: Sequence[Mapping[str, Any]]) -> PlannedCall | None:
    """Return the call of the first offered tool that the line asks for."""
    for tool in tools:
        name = str(tool["function"]["name"])
        arguments = _arguments(line, name, tool["function"].get("parameters") or {})
        if arguments is not None:
            return PlannedCall(name=name, arguments=arguments)
    return None


def results_of(messages: Sequence[Mapping[str, Any]]) -> list[tuple[PlannedCall, str]]:
    """Return the calls since the newest user message with their results."""
    calls: dict[str, Mapping[str, Any]] = {}
    found: list[tuple[PlannedCall, str]] = []
    for message in messages:
        if message.get("role") == "user":
            calls, found = {}, []
        for call in cast("list[dict[str, Any]]", message.get("tool_calls") or []):
            calls[str(call["id"])] = call["function"]
        if message.get("role") == "tool":
            function = calls.get(str(message.get("tool_call_id")), {})
            call = PlannedCall(
                name=str(function.get("name", "")), arguments=read_object(function.get("arguments") or "{}")
            )
            found.append((call, text_of(message).strip()))
    return found


def tell_result(call: PlannedCall, result: str, language: Language) -> str:
    """Return the result as a person would tell it."""
    moments, name = _MOMENT.findall(result), call.name
    if name == "set_reminder" and LACKS_ZONE in result:
        return language.text("which_city")
    if name == "set_reminder" and len(moments) == 2:
        due, now = moments
        city = str(call.arguments.get("zone", ""))
        there = language.text("there", city=city, zone=due[2]) if city else ""
        when = _when(due, language, is_today=due[0] == now[0]) + _often(result, language) + there
        return language.text("set", when=when, text=str(call.arguments.get("text", "")))
    if name in _CLOCKS and moments:
        date = format_date(datetime.fromisoformat(moments[0][0]), "full", locale=language.text("locale"))
        return language.text("now", time=moments[0][1], date=date, name=moments[0][2])
    if name == "list_reminders" and (listed := [*REMINDER.finditer(result)]):
        return "\n".join(
            f"- {_when(at, language)}{_often(each[0], language)}: {json.loads(each['text'])}"
            for each in listed
            for at in _MOMENT.findall(each["at"])
        )
    if name == "list_reminders" and result.startswith("No "):
        return language.text("no_reminders")
    if "memory" in name:
        found = [
            f"- {quote(each.text, language)}" for line in result.splitlines() for each in read_line(line)
        ]
        return (
            "\n".join([language.text("listed"), "", *found[:_LISTED]]) if found else language.text("unknown")
        )
    return f"{name.replace('_', ' ')}: {result or '—'}"


def _often(result: str, language: Language) -> str:
    """Return how often a reminder comes, in parentheses; "" for one that comes once."""
    often = dict(pair.split("=") for pair in language.text("repeats").split("|"))
    repeats = _REPEATS.search(result)
    if repeats is None:
        return ""
    names = Locale.parse(language.text("locale")).days["stand-alone"]["wide"]
    days = repeats[2].split(",") if repeats[2] else []
    if days == [*_DAYS[:5]]:
        return f" ({often['weekdays']})"
    named = ", ".join(names[_DAYS.index(each)] for each in days)
    return f" ({often.get(repeats[1].lower(), repeats[1])}{named and f': {named}'})"


def excerpts_of(results: Sequence[tuple[PlannedCall, str]]) -> list[str]:
    """Return the sentences of documents that searches found, without the torn words at the ends of excerpts."""
    found = [
        json.loads(each)
        for call, text in results
        if call.name == "read_artifact"
        for each in _EXCERPT.findall(text)
    ]
    whole = [unwrapped(each).partition(" ")[2].rpartition(" ")[0] or each for each in found]
    return list(dict.fromkeys(sentence for each in whole for sentence in sentences(each)))


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

    It does so with "use NAME with …", or if it begins with the name and holds all required arguments. Helpers are also
    asked by their names: "ask the researcher …".
    """
    spoken = r"[\s_-]?".join(re.escape(part) for part in re.split(r"[_-]+", name) if part)
    helper = re.sub(r"^(?:delegate|transfer)_to_", "", name)
    verb = r"\b(?P<verb>use|call|run|try|invoke)\s+(?:the\s+)?(?:tool\s+|function\s+)?"
    who = re.escape(helper).replace("_", "[ _]") if helper != name else "(?!)"
    patterns = (
        rf"(?:{verb}|^(?:please\s+)?)[`“\"']?{spoken}[`”\"']?(?!\w)(?:\s+tool\b)?"
        r"(?:\s+(?:with|for|on|to)\b)?[:,]?(?P<text>.*)",
        rf"(?P<verb>ask|tell|let) (?:the )?{who}\b(?: to\b| about\b)?[:,]?(?P<text>.*)",
    )
    found = (re.search(each, line, re.IGNORECASE | re.DOTALL) for each in patterns)
    plain = next(filter(None, found), None)
    if plain:
        filled = fill_arguments(schema, plain["text"])
        if plain["verb"] or set(schema.get("required", [])) <= filled.keys():
            return filled
    texts = [each for each, kinds in _properties(schema).items() if "string" in kinds]
    time = next((found for each in languages() if (found := each.search("time", line))), None)
    if time and name in _CLOCKS:
        place = line[slice(*time.span("place"))] if time["place"] else ""
        return {texts[0]: place.strip()} if texts and place else {}
    if name == "list_reminders" and any(each.search("reminders", line) for each in languages()):
        return {}
    search = _SEARCH.search(line)
    if "memory" in name and search and texts:
        return {texts[0]: search["text"].strip(" “”\"'«»?!.")}
    return None


def _properties(schema: _Schema) -> dict[str, frozenset[str]]:
    """Return the JSON types of each property. A list of numbers has "array" and "number"."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return {name: frozenset(_types(value)) for name, value in properties.items()}


def _types(schema: _Schema) -> Iterator[str]:
    kinds = schema.get("type", [])
    yield from [kinds] if isinstance(kinds, str) else kinds
    for each in [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]:
        yield from _types(each)


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


def _when(moment: tuple[str, str, str], language: Language, *, is_today: bool = False) -> str:
    date, time, zone = moment
    time = f"{time} UTC" if zone == "UTC" else time
    if is_today:
        return language.text("at_time", time=time)
    day = format_date(
        datetime.fromisoformat(date), language.text("day_format"), locale=language.text("locale")
    )
    return language.text("on_day", date=day, time=time)
