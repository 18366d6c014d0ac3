"""Facts by rules: sentences that hold for long, as quotations.

A correction stands behind the newest fact that it corrects.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.offline_model.answer import quote
from simulator.offline_model.corrections import corrected_by, subjects
from simulator.offline_model.prompt import is_question, read_line, sentences
from simulator.offline_model.words import fold, language_of, languages

_FACTS_OF_A_LINE = 2
_LONGEST = 200
"""Characters of a sentence."""
_KNOWN = re.compile(r"(\d+)\. (\{.*\})")
_NUMBERED = re.compile(r"(\d+)\. (\[.*)")
_OPENING = re.compile(
    r"^(?:(?:also|and|but|now|well|so|hi|hello|actually|by the way|in fact|no|yes"
    r"|(?:please )?(?:remember|note)(?: that)?)(?:,\s*|\s+))+",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:[,;](?: and)? me,|,|,? and|;) (?=(?:I|my)\b)", re.IGNORECASE)
_QUOTED = re.compile(r".+?: [“„«](.+)[”“»]")
_SINGLE = ("name", "called", "home", "job")
"""Kinds of which a person has one fact at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A sentence as a fact. Facts of one `topic` contradict each other."""

    subject: str
    statement: str
    topic: tuple[str, str]


def read_facts(lines: Sequence[str]) -> dict[str, Any]:
    """Return the facts in the numbered lines of a request for facts, in the form of its schema."""
    known = list(_known(lines))
    stated = {(fold(each.subject), fold(each.statement)) for _, each in known}
    facts: dict[tuple[str, ...], dict[str, Any]] = {}
    said: dict[str, list[_Told]] = {}
    for number, speaker, text in _spoken(lines):
        clauses = [part for sentence in sentences(text) for part in _AND.split(sentence)]
        old = [*(each for _, each in known[::-1]), *said.setdefault(speaker, [])]
        told = [
            (fact, "standing" if _standing(clause) else "fact")
            for clause in clauses
            if (fact := _fact(clause, speaker, old))
        ]
        if not told and len(text) <= _LONGEST and not is_question(text):
            said[speaker].append(_quoted(text, speaker))  # a fact if a later line corrects it
        said[speaker] += [fact for fact, _ in told]
        for fact, kind in told[:_FACTS_OF_A_LINE]:
            if (fold(fact.subject), fold(fact.statement)) in stated:
                continue
            key = (fold(fact.subject), *fact.topic)
            facts[key] = {
                "subject": fact.subject,
                "kind": kind,
                "statement": fact.statement,
                "messages": [number],
                "replaces": [at for at, each in known if (fold(each.subject), *each.topic) == key],
                "confidence": 0.9,
            }
    return {"facts": [*facts.values()]}


def _known(lines: Sequence[str]) -> Iterator[tuple[int, _Told]]:
    for line in lines:
        match = _KNOWN.fullmatch(line)
        if match:
            fact: Mapping[str, str] = json.loads(match[2])
            subject, statement = str(fact["subject"]), str(fact["statement"])
            quoted = _QUOTED.fullmatch(statement)
            old = _Told(subject=subject, statement=statement, topic=("", statement))
            yield int(match[1]), _quoted(quoted[1], subject) if quoted else old


def _spoken(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    for line in lines:
        match = _NUMBERED.fullmatch(line)
        if match:
            for each in read_line(match[2]):
                if each.source == "person":
                    yield int(match[1]), each.speaker or "user", each.text


def _fact(sentence: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the sentence as a quotation, or None if it is no statement that may last."""
    plain, language = _OPENING.sub("", sentence), language_of(sentence)
    is_order = language.search("remind", plain) or language.fullmatch("erase", plain)
    if len(plain) > _LONGEST or is_order or is_question(plain):
        return None
    return _correction(sentence, speaker, old) or (_quoted(sentence, speaker) if _lasting(sentence) else None)


def _standing(sentence: str) -> re.Match[str] | None:
    """Find how the speaker wants to be answered or called, or what suits the speaker.

    The sentence may be in any language: "Call me Kim" is too short to tell.
    """
    plain = _OPENING.sub("", sentence)
    return next(filter(None, (each.search("standing", plain) for each in languages())), None)


def _lasting(sentence: str) -> re.Match[str] | None:
    return language_of(sentence).search("lasting", sentence) or _standing(sentence)


def _quoted(text: str, speaker: str) -> _Told:
    """Return the text as a fact. "My bike is red" and "My bike is blue" have one topic; those about people do not."""
    language, found = language_of(text), _lasting(text)
    kind = (found and found.lastgroup) or ""
    is_thing = found and kind == "thing" and subjects(text, language) <= {"me"}
    topic = "" if kind in _SINGLE else fold(found[0] if found and is_thing else text)
    return _Told(subject=speaker, statement=f"{speaker}: {quote(text, language)}", topic=(kind, topic))


def _correction(text: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the fact of the speaker that this text corrects, with the correction; None without any."""
    facts = {each.statement.partition(" → ")[0].rstrip("."): each for each in old}
    own = [each for each in facts if each.startswith(speaker)]
    language = language_of(text, language_of(own[-1].partition(": ")[2]) if own else None)
    first = corrected_by(text, own, language)
    return replace(facts[first], statement=f"{first} → {quote(text, language)}") if first else None
