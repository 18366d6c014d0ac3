"""Answers to questions out of what the prompt holds: quoted, dated, and honest when nothing fits."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simulator.offline_model.extract import direct_answer
from simulator.offline_model.recollection import Ask, Recollection
from simulator.offline_model.words import (
    content_stems,
    fold,
    folded_words,
    function_words,
    name_stems,
    question_weights,
)

UNKNOWN = (
    "I do not know that from what is in front of me. I am the offline stand-in: "
    "I can only go by what was said in this chat."
)
# None repeats what was said: forgetting a message must not leave its echo in a reply.
ACKNOWLEDGEMENTS = (
    "Noted. You can ask me about it later.",
    "Noted. I will go by that when you ask me.",
    "Got it, that is noted.",
    "Understood. I will go by that from now on.",
)

_LISTED = 10
_QUOTED_LENGTH = 300
_ENOUGH = 0.5
_QUESTIONS_BEGIN = """what whats where wheres when who whos whom whose why how which do does did is are am was were can
could will would has have should donde cuando quien que cual como cuanto cuantos por где куда откуда кто что когда
почему зачем как какой какая какое какие сколько чей"""
_TELL_ME = re.compile(
    r"^(?:please )?(?:tell me|remind me|do you (?:know|remember)|list|summari[sz]e|recuerdame|dime|напомни|расскажи)\b"
)
_ALL_ABOUT = re.compile(
    r"\b(?:tell|told|said|say|know|remember|mention(?:ed)?|talk(?:ed)?)\b.{0,30}?\babout\s+(?P<english>.+)"
    r"|\b(?:dije|cont[eé]|sabes|recuerdas)\b.{0,30}?\b(?:sobre|de)\s+(?P<spanish>.+)"
    r"|(?:говорил|рассказ|сказал|знаешь|помнишь).{0,30}?\s(?:о|об|обо|про)\s+(?P<russian>.+)",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset(
    {"i", "my", "me", "mine", "yo", "mi", "mis", "я", "мой", "моя", "мое", "мне", "меня"}
)


def is_question(text: str) -> bool:
    """Whether `text` asks something: a question mark at its end, a question word first, or "tell me …"."""
    plain = text.strip()
    words = folded_words(plain)
    asks = plain.endswith("?") or plain.startswith("¿") or bool(_TELL_ME.match(fold(plain)))
    return asks or (bool(words) and words[0] in _QUESTIONS_BEGIN.split())


def answer(ask: Ask) -> str:
    """The best answer that the prompt holds, as a quotation; `UNKNOWN` when it holds none."""
    about = _ALL_ABOUT.search(ask.text)
    matches = _matches(ask, about[about.lastgroup or 0] if about else ask.text)
    statements = [
        match for match in matches if match.said.source != "own" and not is_question(match.said.text)
    ]
    if statements and about:
        return _listing(ask, statements)
    if statements:
        return _quotation(ask, statements[0])
    return _second_best(matches)


def quote(text: str) -> str:
    """`text` on one line in quotation marks, cut when it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= _QUOTED_LENGTH else line[: _QUOTED_LENGTH - 1] + '…'}”"


def dated(said: Recollection) -> str:
    """The quotation of one thing said, with its time when the prompt tells it."""
    return quote(said.text) + (f" ({said.when})" if said.when else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    said: Recollection
    is_full: bool  # everything that is asked about occurs in it, not just most of it


def _matches(ask: Ask, question: str) -> list[_Match]:
    """What fits the question, best first; among equals what names its function words, then the newest."""
    weights, names, asked = question_weights(question), name_stems(question), function_words(question)
    ranked: list[tuple[float, int, int, int, _Match]] = []
    for position, said in enumerate(_once_each(ask.recollections)):
        covered = _coverage(weights, question, said)
        if covered > _ENOUGH and names <= _stems(said):
            match = _Match(said=said, is_full=_is_full(weights, said))
            alike = len(asked & function_words(said.text))
            ranked.append((covered, int(said.source == "person"), alike, position, match))
    return [entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1], reverse=True)]


def _once_each(said: Iterable[Recollection]) -> list[Recollection]:
    """Each text once, at its newest place, but with the time that any of its copies knows."""
    newest: dict[str, Recollection] = {}
    for each in said:
        key = " ".join(folded_words(each.text))
        before = newest.pop(key, None)
        newest[key] = before if before and before.when and not each.when else each
    return list(newest.values())


def _coverage(weights: Mapping[str, float], question: str, said: Recollection) -> float:
    if not weights:  # "what do you know about me?": any statement about the speaker
        about_speaker = _FIRST_PERSON & set(folded_words(question))
        return 1.0 if about_speaker and _is_about_speaker(said) else 0.0
    found = _stems(said)
    return sum(weight for word, weight in weights.items() if word in found) / sum(weights.values())


def _is_full(weights: Mapping[str, float], said: Recollection) -> bool:
    return {word for word, weight in weights.items() if weight == 1.0} <= _stems(said)


def _stems(said: Recollection) -> frozenset[str]:
    """What was said is about these: in "my bike is red" by Ben, about Ben too."""
    spoken = content_stems(said.text)
    return spoken | content_stems(said.speaker) if said.speaker and _is_about_speaker(said) else spoken


def _is_about_speaker(said: Recollection) -> bool:
    return bool(_FIRST_PERSON & set(folded_words(said.text)))


def _quotation(ask: Ask, best: _Match) -> str:
    # A partial match may be about something else: it is quoted, but nothing is concluded from it.
    short = direct_answer(ask.text, best.said.text) if best.is_full else None
    told = f"{_who(ask, best.said)}: {dated(best.said)}."
    return f"{short}. {told}" if short else told


def _listing(ask: Ask, matches: list[_Match]) -> str:
    if len(matches) == 1:
        return f"{_who(ask, matches[0].said)}: {dated(matches[0].said)}."
    lines = [f"- {_who(ask, match.said)}: {dated(match.said)}" for match in matches[:_LISTED]]
    left = len(matches) - _LISTED
    more = [f"… and {left} more."] if left > 0 else []
    return "\n".join(["This is what I find:", "", *lines, *more])


def _who(ask: Ask, said: Recollection) -> str:
    if said.source == "note":
        return "My notes say"
    if said.speaker is None or said.speaker == ask.speaker:
        return "You told me"
    return f"{said.speaker} said"


def _second_best(matches: list[_Match]) -> str:
    asked = next((match.said for match in matches if match.said.source == "person"), None)
    own = next((match.said for match in matches if match.said.source == "own"), None)
    if own and not own.text.startswith((*ACKNOWLEDGEMENTS, UNKNOWN, "You asked")):
        return f"I only find something that I said myself: {dated(own)}."
    if asked:
        return f"You asked that before ({quote(asked.text)}), but no answer to it is in front of me."
    return UNKNOWN
