"""What is asked of a model that summarises: the form of its answer, and the facts in it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from bot.agent.model import JsonSchema
from memory.characters import well_formed
from memory.history.summary import ArtifactNote, Fact, SummaryText

_LONGEST_ITEM = 1_000
_OBJECTS_TRIED = 500
"""Places where an answer's object may begin: prose around it, and what a model thinks aloud, have braces too."""

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def _object(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_ARTIFACTS: Mapping[str, Any] = {"type": "array", "items": _object(id=_TEXT, tool=_TEXT, holds=_TEXT)}

SUMMARY_SCHEMA = JsonSchema(
    name="conversation_summary",
    schema=_object(
        overview=_TEXT,
        goals=_object(primary=_TEXT, secondary=_TEXTS),
        outcomes=_object(done=_TEXTS, partial=_TEXTS, discovered=_TEXTS),
        facts={"type": "array", "items": _object(about=_TEXT, fact=_TEXT)},
        decisions=_TEXTS,
        open_questions=_TEXTS,
        artifacts=_ARTIFACTS,
        next=_TEXT,
    ),
)
"""The fields of row I4."""

DIGEST_SCHEMA = JsonSchema(
    name="run_digest",
    schema=_object(done=_TEXTS, found=_TEXTS, artifacts=_ARTIFACTS, left=_TEXT),
)


def parse_answer(text: str, schema: JsonSchema) -> Mapping[str, Any]:
    """The last JSON object of this schema in the text, whatever stands around it; unknown fields are passed over.

    Earlier ones are drafts of a model that thinks aloud. Raises ValueError where there is none.
    """
    answer = None
    for found in _objects_in(text):
        if _conforms(found, schema.schema):
            answer = cast("Mapping[str, Any]", found)
    if answer is None:
        raise ValueError(f"no JSON object of the form {schema.name}")
    return answer


def read_summary(answer: Mapping[str, Any]) -> SummaryText:
    """The summary that an answer of SUMMARY_SCHEMA tells; blank and repeated items are left out."""
    goals, outcomes = answer["goals"], answer["outcomes"]
    facts = (Fact(about=_tidy(each["about"]), fact=_tidy(each["fact"])) for each in answer["facts"])
    return SummaryText(
        overview=_tidy(answer["overview"], at_most=None),
        primary_goal=_tidy(goals["primary"]),
        secondary_goals=_items(goals["secondary"]),
        done=_items(outcomes["done"]),
        partial=_items(outcomes["partial"]),
        discovered=_items(outcomes["discovered"]),
        facts=tuple(dict.fromkeys(fact for fact in facts if fact.fact)),
        decisions=_items(answer["decisions"]),
        open_questions=_items(answer["open_questions"]),
        artifacts=_artifacts(answer["artifacts"]),
        next=_tidy(answer["next"]),
    )


def read_digest(answer: Mapping[str, Any]) -> SummaryText:
    """What an answer of DIGEST_SCHEMA tells, in the fields of a summary."""
    return SummaryText(
        done=_items(answer["done"]),
        discovered=_items(answer["found"]),
        artifacts=_artifacts(answer["artifacts"]),
        next=_tidy(answer["left"]),
    )


def summary_fields(text: SummaryText) -> dict[str, Any]:
    """The inverse of `read_summary`: the summary in the form that the model is asked for."""
    return {
        "overview": text.overview,
        "goals": {"primary": text.primary_goal, "secondary": list(text.secondary_goals)},
        "outcomes": {
            "done": list(text.done),
            "partial": list(text.partial),
            "discovered": list(text.discovered),
        },
        "facts": [{"about": fact.about, "fact": fact.fact} for fact in text.facts],
        "decisions": list(text.decisions),
        "open_questions": list(text.open_questions),
        "artifacts": [{"id": note.id, "tool": note.tool, "holds": note.holds} for note in text.artifacts],
        "next": text.next,
    }


def with_true_artifacts(text: SummaryText, known: Iterable[ArtifactNote]) -> SummaryText:
    """The summary with each known artifact, the newest first: a model may forget an id, or make one up."""
    told = {note.id: note for note in text.artifacts}
    notes = {note.id: note for note in known}
    kept = (
        replace(note, holds=told[note.id].holds or note.holds) if note.id in told else note
        for note in reversed(notes.values())
    )
    return replace(text, artifacts=tuple(kept))


def _objects_in(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_OBJECTS_TRIED):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _conforms(value: object, schema: Mapping[str, Any]) -> bool:
    kind = schema["type"]
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list) and all(
            _conforms(item, schema["items"]) for item in cast("list[object]", value)
        )
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, object]", value)
    properties = cast("Mapping[str, Mapping[str, Any]]", schema["properties"])
    return all(name in fields and _conforms(fields[name], inner) for name, inner in properties.items())


def _artifacts(values: Sequence[Mapping[str, str]]) -> tuple[ArtifactNote, ...]:
    notes = (
        ArtifactNote(id=_tidy(each["id"]), tool=_tidy(each["tool"]), holds=_tidy(each["holds"]))
        for each in values
    )
    return tuple({note.id: note for note in notes if note.id}.values())


def _items(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for value in values if (item := _tidy(value))))


def _tidy(value: str, *, at_most: int | None = _LONGEST_ITEM) -> str:
    return well_formed(" ".join(value.split())[:at_most])
