"""Records at rest."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from memory.codec import Id, Seconds, dump_json, parse_json
from memory.errors import RecordCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A record with a field that is mostly empty."""

    text: str
    tags: tuple[str, ...] = ()


def test_a_record_is_restored_and_its_defaults_are_not_stored() -> None:
    assert dump_json(Note, Note(text="hi")) == '{"text":"hi"}'
    for note in (Note(text="hi"), Note(text="é\n", tags=("a", "b"))):
        assert parse_json(Note, dump_json(Note, note)) == note


def test_an_unreadable_record_is_reported_without_its_text() -> None:
    with pytest.raises(RecordCorrupt) as caught:
        parse_json(Note, '{"text": 7, "secret": "abc"}')

    assert "abc" not in str(caught.value)
    assert "text" in str(caught.value)


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    line = dump_json(Note, Note(text="é 😀 a\ud83d", tags=("\udcff",)))

    assert parse_json(Note, line) == Note(text="é 😀 a\ufffd", tags=("\ufffd",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A record that a script numbers and ends."""

    SCRIPT_FIELDS: ClassVar = frozenset({"id", "ended_at"})
    id: Id
    text: str
    ended_at: Seconds | None = None


def test_the_fields_that_scripts_change_are_strings_on_a_second_line() -> None:
    task = Task(id=2**53 + 1, text='a\n{"id":1}\n{', ended_at=0.1)

    line = dump_json(Task, task)

    assert line == '{"text":"a\\n{\\"id\\":1}\\n{"}\n{"id":"9007199254740993","ended_at":"0.1"}'
    assert parse_json(Task, line) == task
    assert parse_json(Task, line.replace('"ended_at":"0.1"', '"ended_at":null')) == replace(
        task, ended_at=None
    )
