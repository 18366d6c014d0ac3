"""Structured replies by rules: the JSON objects that the bot asks for when it compresses or reads for facts."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, cast

from simulator.offline_model.answer import says_own
from simulator.offline_model.catch_up import write_points
from simulator.offline_model.facts import read_facts
from simulator.offline_model.prompt import Statement, is_question, read_line, read_object, sentences, text_of
from simulator.offline_model.words import language_of

_ALLOWED_WORDS = re.compile(r"[Aa]t most (\d+) words")
_USUAL_WORDS = 600
_FACTS_SHARE = 0.6
_LONGEST_ITEM = 200
"""Characters."""
_PART = re.compile(r" \(part \d+ of \d+\)$")


def structured_reply(schema: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str:
    """Return a JSON object of this schema with what the last message holds; unknown fields stay empty."""
    allowed = _ALLOWED_WORDS.search(text_of(messages[0]))
    words = int(allowed[1]) if allowed else _USUAL_WORDS
    blank = cast("dict[str, Any]", _blank(schema))
    lines = text_of(messages[-1]).split("\n")
    if blank.keys() == {"facts"}:
        return json.dumps(read_facts(lines))
    if blank.keys() == {"points"}:
        return json.dumps(write_points(lines))
    objects = [read_object(line) for line in lines]
    before: Mapping[str, Any] = next((found for found in objects if "overview" in found), blank)
    records = [found for found in objects if "input" in found]
    statements = [each for line in lines if line.startswith("[") for each in read_line(line)]
    filled = _digest(lines, records, words) if "found" in blank else _summary(before, statements, words)
    return json.dumps({name: filled.get(name, before.get(name, value)) for name, value in blank.items()})


def _summary(before: Mapping[str, Any], statements: Sequence[Statement], words: int) -> dict[str, Any]:
    """Keep the statements of people, first those about people."""
    facts = {(fact["about"], fact["fact"]): None for fact in before.get("facts", [])}
    for each in statements:
        if each.source == "person":
            about = _PART.sub("", each.speaker) or "user"
            facts |= {(about, _short(fact)): None for fact in sentences(each.text) if _tells_something(fact)}
    people = list(dict.fromkeys(about for about, _ in facts))
    fitting = _within(facts, int(words * _FACTS_SHARE))
    last = f"The last message was: {_short(statements[-1].text)}" if statements else before.get("next", "")
    return {
        "overview": f"A conversation with {', '.join(people[:6]) or 'user'}.",
        "facts": [{"about": about, "fact": fact} for about, fact in facts if (about, fact) in fitting],
        "next": last,
    }


def _digest(lines: Sequence[str], records: Sequence[Mapping[str, Any]], words: int) -> dict[str, Any]:
    """Keep the items of the digest so far, and add the calls; the oldest are dropped if they are too many."""
    so_far = [str(json.loads(line)) for line in lines if line.startswith('"')]
    found = [item for item in "\n".join(so_far[-1:]).splitlines() if item.startswith("- ")]
    found += [_call(record) for record in records]
    while len(found) > 1 and sum(len(item.split()) for item in found) > words:
        del found[0]
    return {"found": [item.removeprefix("- ") for item in found]}


def _call(record: Mapping[str, Any]) -> str:
    kind = next(kind for kind in ("tool", "delegation", "transfer", "input") if kind in record)
    result = str(record.get("output", record.get("error", "")))
    return f"{kind} {record[kind]} {_short(str(record['input']))}: {_short(result)}"


def _tells_something(sentence: str) -> bool:
    language = language_of(sentence)
    is_named = any(word[:1].isupper() or word[:1].isdigit() for word in sentence.split()[1:])
    is_specific = is_named or says_own(sentence, language)
    return is_specific and not is_question(sentence) and len(language.stems(sentence)) >= 2


def _within(facts: Iterable[tuple[str, str]], words: int) -> set[tuple[str, str]]:
    """Return the facts that fit: those about people before others, the older before the newer."""
    ordered = sorted(facts, key=lambda each: not says_own(each[1], language_of(each[1])))
    needed = accumulate(len(fact.split()) + 1 for _, fact in ordered)
    return {each for each, total in zip(ordered, needed, strict=True) if total <= words}


def _blank(schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "object":
        return {name: _blank(value) for name, value in schema.get("properties", {}).items()}
    return [] if schema.get("type") == "array" else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_ITEM else f"{line[: _LONGEST_ITEM - 1]}…"
