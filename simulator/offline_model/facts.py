"""Facts by rules: sentences that hold for long, as quotations.

A correction stands behind the newest fact that it corrects.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.offline_model.answer import quote, without_opening
from simulator.offline_model.corrections import corrected_by, thing_of
from simulator.offline_model.prompt import is_question, read_line, sentences
from simulator.offline_model.words import fold, language_of, languages

_FACTS_OF_A_LINE = 2
_LONGEST = 200
"""Characters of a sentence."""
_KNOWN = re.compile(r"(\d+)\. (\{.*\})")
_NUMBERED = re.compile(r"(\d+)\. (\[.*)")
_AND = re.compile(r"(?:[,;](?: and)? me,|,|,? and|;) (?=(?:I|my)\b)", re.IGNORECASE)
_QUOTED = re.compile(r".+?: [“„«](.+)[”“»]")
_SINGLE = ("name", "called", "home", "job")
"""Kinds of which a person has one fact at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A sentence as a fact. Facts of one `topic` contradict each other."""

    statement: str
    topic: tuple[str, ...]


def read_facts(lines: Sequence[str]) -> dict[str, Any]:
    """Return the facts in the numbered lines of a request for facts, in the form of its schema."""
    known = [(int(found[1]), _known(json.loads(found[2]))) for found in map(_KNOWN.fullmatch, lines) if found]
    stated = {fold(each.statement) for _, each in known}
    facts: dict[tuple[str, ...], dict[str, Any]] = {}
    said: dict[str, list[_Told]] = {}
    spoken = [(int(found[1]), found[2]) for found in map(_NUMBERED.fullmatch, lines) if found]
    for number, line in (
        (at, each) for at, text in spoken for each in read_line(text) if each.source == "person"
    ):
        speaker, text = line.speaker or "user", line.text
        told, own = dict[str, _Told](), said.setdefault(speaker, [])
        for clause in (part for sentence in sentences(text) for part in _AND.split(sentence)):
            if fact := _fact(clause, speaker, [*(each for _, each in known[::-1]), *own]):
                told[clause] = fact
            if fact or (len(text) <= _LONGEST and not is_question(clause)):
                own.append(fact or _quoted(clause, speaker))  # a fact if a later line corrects it
        for clause, fact in [*told.items()][:_FACTS_OF_A_LINE]:
            if fold(fact.statement) not in stated:
                facts[fact.topic] = {
                    "subject": speaker,
                    "kind": "standing" if _standing(clause) else "fact",
                    "statement": fact.statement,
                    "messages": [number],
                    "replaces": [at for at, each in known if each.topic == fact.topic],
                    "confidence": 0.9,
                }
    return {"facts": [*facts.values()]}


def _known(fact: Mapping[str, str]) -> _Told:
    statement, quoted = fact["statement"], _QUOTED.fullmatch(fact["statement"])
    topic = _quoted(quoted[1], fact["subject"]).topic if quoted else (statement,)
    return _Told(statement=statement, topic=topic)


def _fact(sentence: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the sentence as a quotation, or None if it is no statement that may last."""
    language = language_of(sentence)
    is_order = language.search("remind", sentence) or language.fullmatch("erase", sentence)
    if len(sentence) > _LONGEST or is_order or is_question(sentence):
        return None
    return _correction(sentence, speaker, old) or (_quoted(sentence, speaker) if _lasting(sentence) else None)


def _standing(sentence: str) -> re.Match[str] | None:
    """Find how the speaker wants to be answered or called, or what suits the speaker.

    The sentence may be in any language: "Call me Kim" is too short to tell.
    """
    found = (each.search("standing", without_opening(sentence, each)) for each in languages())
    return next(filter(None, found), None)


def _lasting(sentence: str) -> re.Match[str] | None:
    return language_of(sentence).search("lasting", sentence) or _standing(sentence)


def _quoted(text: str, speaker: str) -> _Told:
    language, found = language_of(text), _lasting(text)
    kind = (found and found.lastgroup) or ""
    topic = "" if kind in _SINGLE else thing_of(text, language) or fold(text)
    statement = f"{speaker}: {quote(text, language)}"
    return _Told(statement=statement, topic=(fold(speaker), kind, topic))


def _correction(text: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the fact of the speaker that this text corrects, with the correction; None without any."""
    facts = {each.statement.partition(" → ")[0].rstrip("."): each for each in old}
    own = [each for each in facts if each.startswith(speaker)]
    language = language_of(text, language_of(own[-1].partition(": ")[2]) if own else None)
    first = corrected_by(text, own, language)
    is_fact = first and facts[first].topic and not language.search("remind", first)
    return replace(facts[first], statement=f"{first} → {quote(text, language)}") if is_fact else None
