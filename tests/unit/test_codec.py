"""Records at rest."""

from dataclasses import dataclass

import pytest

from memory.codec import dump_json, parse_json
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
