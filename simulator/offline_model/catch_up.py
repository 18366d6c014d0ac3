"""Catching up by rules: lines that ask the reader, lines that decide something, and lines that tell something."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from simulator.offline_model.answer import quote
from simulator.offline_model.prompt import is_question, read_object, unquoted
from simulator.offline_model.words import Language, folded_words, language_of

_POINTS = 8
_LINE = re.compile(r'(\d+) \[[^\]]*\] ([^:"]{1,80}): (".*")')
_READER = re.compile(r'Reader: (".*")')
_LONGEST_QUOTE = 160
"""Characters."""
_LONGEST_POINT = 300
"""Characters: the bot cuts longer points."""
_NAMING = re.compile("[^“„«]+(?=[“„«])")
_LEAST_WORDS = 2
"""A shorter line is small talk."""
_KINDS = ("asked", "decided", "told")


def write_points(lines: Sequence[str]) -> dict[str, Any]:
    """Return the points about the lines of a request, or of the points in it, in the form of its schema."""
    reader = next((unquoted(match[1]) for line in lines if (match := _READER.fullmatch(line))), "")
    spoken = [(match[2], unquoted(match[3])) for line in lines if (match := _LINE.fullmatch(line))]
    own = "\n".join(said for name, said in spoken if name == reader)
    answered = {said for (_, said), (name, _) in pairwise(spoken) if name == "assistant"}
    points = [
        point
        for line in lines
        if (point := _point(line, reader, answered, language_of(own) if own else None)) is not None
    ]
    points.sort(key=lambda point: _KINDS.index(point["kind"]))
    return {"points": _joined(points)[:_POINTS]}


def _joined(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the points, with those of one kind and writer that follow each other in one that names the writer once."""
    joined: list[dict[str, Any]] = []
    for point in points:
        naming, last = _NAMING.match(point["text"]), joined[-1] if joined else {"kind": "", "text": ""}
        text = f"{last['text']} {point['text'][naming.end() :]}" if naming else ""
        is_same = naming and last["kind"] == point["kind"] and last["text"].startswith(naming[0])
        if is_same and len(text) <= _LONGEST_POINT:
            joined[-1] = {**last, "text": text, "messages": [*last["messages"], *point["messages"]]}
        else:
            joined.append({**point})
    return joined


def _point(
    line: str, reader: str, answered: Collection[str], language: Language | None
) -> dict[str, Any] | None:
    """Return the point about a line, or the point that the line is. The sentence is in the reader's language, if known.

    None for small talk, for the bot's answers, and for questions that the bot has answered.
    """
    if line.startswith("{"):
        found = read_object(line)
        return found if found.get("kind") in _KINDS else None
    match = _LINE.fullmatch(line)
    if match is None or match[2] in ("assistant", reader):
        return None
    said = " ".join(unquoted(match[3]).split())
    if is_question(said) and unquoted(match[3]) in answered:
        return None
    names = {word for word in folded_words(reader) if len(word) > 1}
    is_for_reader = bool(names & set(folded_words(said)))
    is_asked = is_for_reader and (is_question(said) or said.lower().startswith(tuple(names)))
    spoken = language_of(said)
    is_decided = spoken.search("decides", said)
    if not is_asked and not is_decided and len(spoken.stems(said)) < _LEAST_WORDS:
        return None
    kind = "asked" if is_asked else "decided" if is_decided else "told"
    language = language or spoken
    text = language.text(
        "asks_you" if is_asked else "says", name=match[2], text=quote(said[:_LONGEST_QUOTE], language)
    )
    return {"kind": kind, "text": text, "messages": [int(match[1])]}
