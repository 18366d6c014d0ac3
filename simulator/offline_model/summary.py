"""Summaries by rules: what the offline model answers when it is asked for one of our structured forms."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from bot.agent.digest import DIGEST_SO_FAR, STEPS_AFTER
from bot.agent.summarizer import MESSAGES_AFTER, SUMMARY_SO_FAR
from bot.agent.summary_format import DIGEST_SCHEMA, SUMMARY_SCHEMA, parse_answer, read_summary, summary_fields
from memory.history.summary import ArtifactNote, Fact, SummaryText
from simulator.offline_model.answer import UNKNOWN, is_question
from simulator.offline_model.facts import is_decision, is_fact, is_strong_fact, sentences, shape_of
from simulator.offline_model.recollection import Recollection, read_line, text_of

STRUCTURED = (SUMMARY_SCHEMA.name, DIGEST_SCHEMA.name)
"""The names of the forms that rules can fill."""

_ALLOWED_WORDS = re.compile(r"[Aa]t most (\d+) words")
_USUAL_WORDS = 600
_COUNTED = re.compile(r"^(\d+) messages")
_WANTED = re.compile(
    r"\b(?:i want|i need|i would like|help me|please|can you|could you|quiero|хочу|помоги)\b", re.IGNORECASE
)
_PART = re.compile(r" \(part \d+ of \d+\)$")
_FACTS_SHARE = 0.6
_OUTPUT_CHARACTERS = 200
_LISTED = 6
_ARTIFACTS_LISTED = 12
_ALIKE = 2
"""Statements that differ in their numbers only are a series: of more than these the newest are kept."""


def structured_reply(name: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The JSON of the form `name` (one of STRUCTURED) for a request as bot/agent/summarizer.py makes it."""
    lines = text_of(messages[-1]).split("\n")
    allowed = _ALLOWED_WORDS.search(text_of(messages[0]))
    words = int(allowed[1]) if allowed else _USUAL_WORDS
    filled = _digest(lines, words) if name == DIGEST_SCHEMA.name else summary_fields(_summary(lines, words))
    return json.dumps(filled)


def _summary(lines: Sequence[str], words: int) -> SummaryText:
    before = _previous(_after(lines, SUMMARY_SO_FAR)[:1])
    new = _after(lines, MESSAGES_AFTER)
    records = [record for line in new if (record := _record(line))]
    said = [_spoken(read) for line in new if not _record(line) and (read := read_line(line))]
    people = [each for each in said if each.source == "person"]
    stated = [
        (each, sentence) for each in people for sentence in sentences(each.text) if not is_question(sentence)
    ]
    facts = [
        Fact(about=each.speaker or "user", fact=sentence) for each, sentence in stated if is_fact(sentence)
    ]
    decided = [sentence for _, sentence in stated if is_decision(sentence)]
    wanted = (each.text for each in people if _WANTED.search(each.text))
    return SummaryText(
        overview=_overview(before, people, len(said)),
        primary_goal=before.primary_goal or _short(next(wanted, "")),
        done=_last([*before.done, *map(_told_of_call, records)]),
        facts=_kept_facts([*before.facts, *facts], int(words * _FACTS_SHARE)),
        decisions=_last([*before.decisions, *decided]),
        open_questions=_last([*before.open_questions, *_unanswered(said)]),
        artifacts=_artifacts([*before.artifacts, *filter(None, map(_artifact, records))]),
        next=f"The last message was: {_short(people[-1].text)}" if people else before.next,
    )


def _digest(lines: Sequence[str], words: int) -> dict[str, Any]:
    """The steps in short after what the digest so far says, its oldest lines left out where that is too much."""
    quoted = _after(lines, DIGEST_SO_FAR)[:1]
    known: object = json.loads(quoted[0]) if quoted else ""
    records = [record for line in _after(lines, STEPS_AFTER) if (record := _record(line))]
    found = [item.removeprefix("- ") for item in str(known).splitlines() if item.startswith("- ")]
    found += [f"{_told_of_call(record)}: {_short(_given(record))}" for record in records]
    while len(found) > 1 and sum(len(item.split()) for item in found) > words:
        del found[0]
    notes = _artifacts(filter(None, map(_artifact, records)))
    artifacts = [{"id": note.id, "tool": note.tool, "holds": note.holds} for note in notes]
    return {"done": [], "found": found, "artifacts": artifacts, "left": ""}


def _after(lines: Sequence[str], heading: str) -> list[str]:
    """The lines below a heading, up to a blank one."""
    below = list(lines[lines.index(heading) + 1 :]) if heading in lines else []
    return below[: below.index("")] if "" in below else below


def _previous(lines: Sequence[str]) -> SummaryText:
    try:
        return read_summary(parse_answer("".join(lines), SUMMARY_SCHEMA))
    except ValueError:
        return SummaryText()


def _record(line: str) -> dict[str, Any] | None:
    """The record of a call, if the line is one."""
    if not line.startswith("{"):
        return None
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and "input" in found else None


def _spoken(read: Recollection) -> Recollection:
    return replace(read, speaker=_PART.sub("", read.speaker)) if read.speaker else read


def _overview(before: SummaryText, people: Iterable[Recollection], count: int) -> str:
    counted = _COUNTED.match(before.overview)
    speakers = dict.fromkeys(
        [*(fact.about for fact in before.facts), *(each.speaker or "user" for each in people)]
    )
    named = ", ".join(list(speakers)[:_LISTED]) or "user"
    return f"{count + (int(counted[1]) if counted else 0)} messages were exchanged with {named}."


def _kept_facts(facts: Iterable[Fact], words: int) -> tuple[Fact, ...]:
    """The facts that fit, in their order: strong ones before others, the older before the newer."""
    once = {(fact.about, " ".join(fact.fact.casefold().split())): fact for fact in facts}
    series: dict[str, list[Fact]] = {}
    for fact in once.values():
        series.setdefault(shape_of(fact.fact), []).append(fact)
    candidates = [fact for alike in series.values() for fact in alike[-_ALIKE:]]
    kept: set[Fact] = set()
    for fact in sorted(candidates, key=lambda fact: not is_strong_fact(fact.fact)):
        words -= len(fact.fact.split()) + 1
        if words < 0:
            break
        kept.add(fact)
    return tuple(fact for fact in once.values() if fact in kept)


def _unanswered(said: Sequence[Recollection]) -> list[str]:
    """Questions that the offline model could not answer, and one that nothing follows."""
    replies = [*(each.text for each in said[1:]), UNKNOWN]
    return [
        _short(each.text)
        for each, reply in zip(said, replies, strict=True)
        if each.source == "person" and is_question(each.text) and reply.startswith(UNKNOWN)
    ]


def _told_of_call(record: Mapping[str, Any]) -> str:
    kind = next(kind for kind in ("tool", "delegation", "transfer", "input") if kind in record)
    return f"{kind} {record[kind]} {_short(str(record['input']))}"


def _given(record: Mapping[str, Any]) -> str:
    return str(record.get("output", record.get("error", "")))


def _artifact(record: Mapping[str, Any]) -> ArtifactNote | None:
    found = record.get("artifact")
    if not isinstance(found, str) or not found:
        return None
    return ArtifactNote(id=found, tool=str(record.get("tool", "")), holds=_short(_given(record)))


def _artifacts(notes: Iterable[ArtifactNote]) -> tuple[ArtifactNote, ...]:
    return tuple({note.id: note for note in notes}.values())[-_ARTIFACTS_LISTED:]


def _last(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))[-_LISTED:]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _OUTPUT_CHARACTERS else f"{line[: _OUTPUT_CHARACTERS - 1]}…"
