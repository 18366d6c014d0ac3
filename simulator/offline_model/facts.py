"""Facts by rules: English sentences in the third person, and those of all languages that last, as quotations.

A correction stands behind the newest fact that it corrects.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.offline_model.answer import quote
from simulator.offline_model.corrections import corrected_by
from simulator.offline_model.prompt import is_question, read_line, sentences
from simulator.offline_model.words import fold, folded_words, language_of, languages

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
_PLAIN = "live work like love hate prefer play speak own drive collect"
_OTHER = "am=is 'm=is have=has study=studies was=was moved=moved"
_THIRD_PERSON = {
    **{own: other for own, _, other in (pair.partition("=") for pair in _OTHER.split())},
    **{verb: f"{verb}s" for verb in _PLAIN.split()},
}
_OWN = re.compile(rf"I(?: |(?='))({'|'.join(_THIRD_PERSON)})\s+(.+)", re.IGNORECASE)
_VERBS = "|".join(dict.fromkeys((*_THIRD_PERSON.values(), "are")))
_POSSESSION = re.compile(rf"my\s+((?:[\w'-]+ ){{0,3}}?[\w'-]+)\s+({_VERBS})\s+(.+)", re.IGNORECASE)
_NAMED = re.compile(rf"([^\W\d_a-z][\w'-]+(?: [^\W\d_a-z][\w'-]+)?)\s+({_VERBS})\s+(.+)")
_STATED = re.compile(rf"(.+?)\s+({_VERBS})\s+(.+)", re.IGNORECASE)
_MOMENTARY = re.compile(
    r"(?:\w+ing|here|sorry|fine|ok|okay|back|sure|not|so|glad|happy|tired|afraid)\b", re.IGNORECASE
)
_QUOTED = re.compile(r".+?: [“„«](.+)[”“»]")
_SINGLE = frozenset(["lives", "works", "moved", "name", "called", "home", "job"])
"""Verbs and kinds of which a person has one object at a time."""


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
            quoted, stated = _QUOTED.fullmatch(statement), _STATED.fullmatch(statement.rstrip("."))
            topic = _topic(subject, stated[1], stated[2], stated[3]) if stated else ("", statement)
            old = _Told(subject=subject, statement=statement, topic=topic)
            yield int(match[1]), _quoted(quoted[1], subject) if quoted else old


def _spoken(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    for line in lines:
        match = _NUMBERED.fullmatch(line)
        if match:
            for each in read_line(match[2]):
                if each.source == "person":
                    yield int(match[1]), each.speaker or "user", each.text


def _fact(sentence: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the sentence in the third person, or None if it is no statement that may last."""
    plain = _OPENING.sub("", sentence)
    plain = plain.replace("’", "'").strip().rstrip(".!…")  # noqa: RUF001
    language = language_of(sentence)
    is_order = language.search("remind", plain) or language.fullmatch("erase", plain)
    if len(plain) > _LONGEST or is_order or is_question(plain):
        return None
    if match := _OWN.match(plain):
        verb, rest = _THIRD_PERSON[match[1].lower()], match[2]
        is_name = {*folded_words(rest)} <= {*folded_words(speaker)}
        return None if is_name or _MOMENTARY.match(rest) else _told(speaker, speaker, verb, rest)
    match = _POSSESSION.match(plain)
    if match and match[1].casefold() != "name":
        name = re.search(r"\s([^\W\d_a-z][\w'-]+)$", match[1])
        owned = f"{speaker}'s {match[1]}"
        return _told(name[1] if name else owned, owned, match[2].lower(), match[3])
    match = _NAMED.match(plain)
    is_word = match and (language.is_small(fold(match[1])) or fold(match[1]) in language.words("kinds"))
    if match and not is_word and language.name == "english":
        return _told(match[1], match[1], match[2], match[3])
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
    language = language_of(text)
    found = _lasting(text)
    kind = (found and found.lastgroup) or ""
    topic = (kind, "" if kind in _SINGLE else fold(text))
    return _Told(subject=speaker, statement=f"{speaker}: {quote(text, language)}", topic=topic)


def _correction(text: str, speaker: str, old: Sequence[_Told]) -> _Told | None:
    """Return the fact of the speaker that this text corrects, with the correction; None without any."""
    facts = {each.statement.partition(" → ")[0].rstrip("."): each for each in old}
    own = [each for each in facts if each.startswith(speaker)]
    language = language_of(text, language_of(own[-1].partition(": ")[2]) if own else None)
    first = corrected_by(text, own, language)
    return replace(facts[first], statement=f"{first} → {quote(text, language)}") if first else None


def _told(subject: str, named: str, verb: str, rest: str) -> _Told:
    rest = re.sub(r"\b(?:my|our)\b", "their", rest, flags=re.IGNORECASE)
    return _Told(
        subject=subject, statement=f"{named} {verb} {rest}.", topic=_topic(subject, named, verb, rest)
    )


def _topic(subject: str, named: str, verb: str, rest: str) -> tuple[str, str]:
    """Return the verb alone if there can be one such fact of a subject, else with its object."""
    is_thing = "'s " in subject and verb in ("is", "are")
    return (verb, "") if verb in _SINGLE or is_thing else (verb, fold(rest))
