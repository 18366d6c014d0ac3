"""Files, and the sizes and lengths of pictures and sounds."""

import struct

import pytest

from simulator.api.files import FileStore, clean_name, image_size, opus_seconds
from tests.sent_files import make_picture, make_voice_note

pytestmark = pytest.mark.slow


def test_a_file_is_found_by_its_id_and_by_its_path() -> None:
    files = FileStore(first_number=7)
    file = files.add(b"abc", name="Report.PDF")
    assert files.find(file.file_id()) is files.find(file.file_id("S")) is file
    assert (file.path, files.at(file.path)) == ("documents/file_7.pdf", file)
    assert (file.mime_type, file.size) == ("application/pdf", 3)


@pytest.mark.parametrize(
    "odd", ["", "SIMFILE7", "../../etc/passwd", "documents/file_7.txt", "photos/file_7.pdf"]
)
def test_an_unknown_id_finds_no_file(odd: str) -> None:
    files = FileStore(first_number=7)
    files.add(b"abc", name="a.pdf")
    assert (files.find(odd), files.at(odd)) == (None, None)


def test_the_oldest_files_are_dropped_over_the_limit_of_bytes() -> None:
    files = FileStore(first_number=1, max_total=10)
    first, second, third = (files.add(b"x" * 5, name=f"{number}.txt") for number in range(3))
    assert [files.find(one.file_id()) for one in (first, second, third)] == [None, second, third]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../a.txt", "a.txt"),
        ("C:\\x\\b.txt", "b.txt"),
        ("", "file"),
        ("\x00\n", "file"),
        ("n" * 99 + ".md", "n" * 64 + ".md"),
        ("Отчёт.md", "Отчёт.md"),
        (".env", ".env"),
    ],
)
def test_a_file_name_has_no_folders_and_is_short(given: str, kept: str) -> None:
    assert clean_name(given) == kept


@pytest.mark.parametrize(
    ("mime_type", "name", "path"),
    [
        ("audio/ogg", "voice.ogg", "voice/file_1.oga"),
        ("image/png", "x", "photos/file_1.png"),
        ("video/mp4", "x.mp4", "videos/file_1.mp4"),
        ("nonsense", "x.t%x", "documents/file_1"),
    ],
)
def test_a_path_shows_the_kind_and_not_the_name(mime_type: str, name: str, path: str) -> None:
    assert FileStore(first_number=1).add(b"a", name=name, mime_type=mime_type).path == path


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 20, 30) + b"rest"
WEBP = b"RIFF\x00\x00\x00\x00WEBP"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (make_picture(30, 20), (30, 20)),
        (b"GIF89a" + struct.pack("<HH", 30, 20), (30, 20)),
        (JPEG, (30, 20)),
        (WEBP + b"VP8X" + bytes(8) + b"\x1d\x00\x00\x13\x00\x00", (30, 20)),
        (WEBP + b"VP8 " + bytes(10) + struct.pack("<HH", 30, 20), (30, 20)),
        (WEBP + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 29 | 19 << 14), (30, 20)),
        (b"", None),
        (b"%PDF-1.7", None),
        (make_picture()[:20], None),
        (JPEG[:9], None),
        (b"\xff\xd8\xff\xe0\x00\x00" * 9, None),
        (b"GIF89a" + bytes(4), None),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_header(data: bytes, size: tuple[int, int] | None) -> None:
    assert image_size(data) == size


def test_the_length_of_a_sound_is_read_from_its_last_page() -> None:
    assert [opus_seconds(make_voice_note(seconds)) for seconds in (1, 3, 600)] == [1, 3, 600]
    assert [opus_seconds(data) for data in (b"", b"OggS", b"RIFF" + bytes(90), b"OggS" + bytes(90))] == [
        None
    ] * 4
