"""Outputs of tools as text: empty values stay visible, and binary data is described."""

import pytest

from bot.agent.tool_output import render_output
from bot.errors import ToolFailed
from memory.artifacts.store import LARGEST_TEXT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0.0"),
        (False, "false"),
        (True, "true"),
        ("", ""),
        (b"", ""),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
        ([0, False, "", None], '[0,false,"",null]'),
        (" \n", " \n"),
    ],
)
def test_empty_and_false_values_are_shown(value: object, text: str) -> None:
    assert render_output(value) == text


def test_a_text_of_20_megabytes_is_not_cut() -> None:
    text = "line\n" * 4_000_000

    assert render_output(text) is text
    assert render_output({"rows": [text]}) == '{"rows":["' + "line\\n" * 4_000_000 + '"]}'


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("x" * (LARGEST_TEXT + 1), LARGEST_TEXT + 1),
        (["x" * LARGEST_TEXT], LARGEST_TEXT + 4),
        ("€" * 12_000_000, 36_000_000),
        (b"x" * (LARGEST_TEXT + 1), LARGEST_TEXT + 1),
    ],
    ids=["text", "json", "wide", "bytes"],
)
def test_an_output_over_32_mib_fails_with_its_size(value: object, size: int) -> None:
    with pytest.raises(ToolFailed) as failed:
        render_output(value)

    assert str(failed.value) == (
        f"The output is too large to be read: {size} bytes; at most 33554432 bytes are stored. Ask for less of it."
    )


def test_an_output_of_exactly_32_mib_passes() -> None:
    assert len(render_output("x" * LARGEST_TEXT)) == LARGEST_TEXT


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(12), "a PNG image of 20 bytes"),
        (b"\xff\xd8\xff\xe0", "a JPEG image of 4 bytes"),
        (b"GIF89a\x00", "a GIF image of 7 bytes"),
        (b"%PDF-1.4\nplain ASCII", "a PDF document of 20 bytes"),
        (b"PK\x03\x04", "a ZIP archive or an Office document of 4 bytes"),
        (b"\x1f\x8b\x08", "a gzip file of 3 bytes"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a WebP image of 16 bytes"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "a WAV audio file of 16 bytes"),
        (b"\x00\x00\x00\x18ftypmp42", "an MP4 file of 12 bytes"),
        (b"SQLite format 3\x00", "an SQLite database of 16 bytes"),
        (bytearray(b"\xff\xfe\x00"), "3 bytes of binary data"),
        (b"RIFF\x00", "5 bytes of binary data"),
        (b"\x00\x01\x02", "3 bytes of binary data"),
        (bytes(40_000_000), "40000000 bytes of binary data"),
    ],
)
def test_binary_data_is_described_by_size_and_kind(value: bytes, kind: str) -> None:
    assert render_output(value) == f"({kind}, which cannot be shown as text)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"plain", "plain"),
        ("zwölf €\t\r\n".encode(), "zwölf €\t\r\n"),
        (b"\xef\xbb\xbfwith a BOM", "with a BOM"),
        (bytearray(b"GIF is a word"), "GIF is a word"),
        (b"\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
    ],
)
def test_bytes_that_are_text_become_text(value: bytes, text: str) -> None:
    assert render_output(value) == text
