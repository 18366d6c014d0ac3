"""What called tools answered, put into sentences by the offline model."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from simulator.offline_model.answer import dated, quote
from simulator.offline_model.recollection import Recollection, read_line, text_of
from simulator.offline_model.tools import tool_kind

_FOUND_LISTED = 5
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")


def state_results(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What the tools called since the last user message answered, a paragraph each; None if none was called."""
    last_user = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    sentences: list[str] = []
    for message in messages[last_user + 1 :]:
        for call in cast("list[dict[str, Any]]", message.get("tool_calls") or []):
            calls[str(call.get("id"))] = _called(call)
        if message.get("role") == "tool":
            name, arguments = calls.get(str(message.get("tool_call_id")), ("", {}))
            sentences.append(_state(name, arguments, text_of(message).strip()))
    return "\n\n".join(sentences) if sentences else None


def _called(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    function = cast("Mapping[str, Any]", call.get("function") or {})
    arguments = _parsed(str(function.get("arguments", "")))
    known = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
    return str(function.get("name", "")), known


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _state(name: str, arguments: Mapping[str, Any], result: str) -> str:
    sentences: dict[str, Callable[[Mapping[str, Any], str], str | None]] = {
        "add": _state_sum,
        "upper": _state_capitals,
        "time": _state_time,
        "search": _state_findings,
    }
    sentence = sentences.get(tool_kind(name) or "")
    stated = sentence(arguments, result) if sentence else None
    return stated or f"The tool {name or 'that was called'} says: {result or '(nothing)'}"


def _state_sum(arguments: Mapping[str, Any], result: str) -> str | None:
    terms = [value for value in arguments.values() if isinstance(value, int | float)]
    plain = result.strip('"')
    return f"{' + '.join(map(str, terms))} = {plain}." if terms and _NUMBER.fullmatch(plain) else None


def _state_capitals(arguments: Mapping[str, Any], result: str) -> str | None:
    given = next((value for value in arguments.values() if isinstance(value, str)), None)
    parsed = _parsed(result)
    said = parsed if isinstance(parsed, str) else result
    return f"{quote(given)} in capitals is {quote(said)}." if given and said == given.upper() else None


def _state_time(arguments: Mapping[str, Any], result: str) -> str | None:
    try:
        now = datetime.fromisoformat(result.strip('"'))
    except ValueError:
        return None
    where = next((value for value in arguments.values() if isinstance(value, str)), now.tzname() or "")
    spoken = f"It is {now:%H:%M} on {now:%A}, {now.day} {now:%B %Y}"
    return f"{spoken} ({where})." if where else f"{spoken}."


def _state_findings(arguments: Mapping[str, Any], result: str) -> str | None:
    query = next((value for value in arguments.values() if isinstance(value, str)), "")
    found = _findings(result)
    if not result or _parsed(result) == []:
        return f"I searched my memory for {quote(query)} and found nothing."
    if not found:
        return None
    lines = [f"- {dated(each)}" for each in found[:_FOUND_LISTED]]
    return "\n".join([f"I searched my memory for {quote(query)} and found:", "", *lines])


def _findings(result: str) -> list[Recollection]:
    """The quoted messages of a search result, whether it is JSON or lines; [] when it quotes nobody."""
    parsed = _parsed(result)
    entries = cast("list[object]", parsed) if isinstance(parsed, list) else []
    lines = [
        entry if isinstance(entry, str) else json.dumps(entry) for entry in entries
    ] or result.splitlines()
    read = [read_line(line) for line in lines]
    return [each for each in read if each and (each.source != "note" or entries)]
