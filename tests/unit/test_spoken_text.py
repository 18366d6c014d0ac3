"""The words of an answer that are read aloud, and the duration of speech."""

import pytest

from bot.features.voice.speech import spoken_text
from bot.media.formats import opus_seconds
from tests.sent_files import make_voice_note


@pytest.mark.parametrize(
    ("markdown", "spoken"),
    [
        ("Just words, 2 * 3.", "Just words, 2 * 3."),
        ("# Title\n\nSome **bold** and *soft* `name`.", "Title\n\nSome bold and soft name."),
        ("Read [the manual](https://example.com/a_b) first.", "Read the manual first."),
        ("See https://example.com/x?y=1 (www.example.org) soon.", "See soon."),
        ("- one\n- two\n  1. three", "one\ntwo\n1. three"),
        ("Before\n\n```py\nx = 1\n```\n\nafter", "Before\n\nafter"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ""),
        ("```\nonly code\n```", ""),
        ("> a quote\n\nand words", "a quote\n\nand words"),
    ],
)
def test_only_plain_words_are_read_aloud(markdown: str, spoken: str) -> None:
    assert spoken_text(markdown) == spoken


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (make_voice_note(3), 3.0),
        (make_voice_note(0), 0.0),
        (b"", 0.0),
        (b"OggS but short", 0.0),
        (b"ID3", 0.0),
    ],
)
def test_the_duration_of_speech_is_that_of_its_last_page(data: bytes, seconds: float) -> None:
    assert opus_seconds(data) == seconds
