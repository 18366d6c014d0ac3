"""What a tool returned, as the text that the model reads."""

import re
from collections.abc import Iterable

from pydantic_core import PydanticSerializationError, to_json

from bot.errors import ToolFailed
from memory.artifacts.store import ArtifactTooLarge, check_size

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text has: all but tab, line ends, form feed and escape."""
_PDF = b"%PDF-"
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (_PDF, "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a FLAC audio file"),
    (b"ID3", "an MP3 audio file"),
    (b"\x7fELF", "an ELF program"),
)
"""First bytes, and what a file that begins with them is."""


class Quoting(str):
    """A tool's output that quotes messages or artifacts: what erases one of these erases the record of the call.

    `ids`: theirs, with spaces.
    """

    ids: str = ""

    @classmethod
    def of(cls, text: str, ids: Iterable[str]) -> "Quoting":
        """The text, with the ids of what it quotes."""
        quoting = cls(text)
        quoting.ids = " ".join(ids)
        return quoting


def render_output(value: object) -> str:
    """A text, and bytes that are UTF-8 text, stay as they are; other bytes are described; all else becomes JSON.

    `None` is "null", `False` is "false", 0 is "0". A value that refers to itself is only named by its type.
    Raises ToolFailed, naming the size, for a text that is larger than an artifact can be.
    """
    text = _text_of(value)
    try:
        check_size(text)
    except ArtifactTooLarge as error:
        raise ToolFailed(f"The output is too large to be read: {error}. Ask for less of it.") from error
    return text


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        return _text_of_bytes(bytes(value))
    try:
        return to_json(value, bytes_mode="base64", inf_nan_mode="constants", fallback=str).decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        return f"(a value of type {type(value).__name__}, which cannot be shown as text)"


def _text_of_bytes(value: bytes) -> str:
    if not value.startswith(_PDF):  # a PDF may be plain ASCII, and is no text for that
        try:
            text = value.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
        else:
            if not _CONTROL.search(text):
                return text
    kind = _kind_of(value)
    described = f"{kind} of {len(value)} bytes" if kind else f"{len(value)} bytes of binary data"
    return f"({described}, which cannot be shown as text)"


def _kind_of(value: bytes) -> str | None:
    if value[4:8] == b"ftyp":
        return "an MP4 file"
    if value.startswith(b"RIFF"):
        return {b"WEBP": "a WebP image", b"WAVE": "a WAV audio file"}.get(value[8:12])
    return next((kind for start, kind in _SIGNATURES if value.startswith(start)), None)
