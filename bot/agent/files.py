"""Files that a tool returns for the chat: names, kinds and limits, and the line that the model reads instead."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from mimetypes import MimeTypes

from bot.errors import ToolFailed
from memory.artifacts.store import LARGEST_FILE

MOST_FILES = 10
"""Files of one turn."""
PICTURES = frozenset(["a PNG image", "a JPEG image", "a WebP image"])
"""Kinds of files that a chat shows as photos."""
PDF = b"%PDF-"

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (PDF, "a PDF document"),
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
"""The first bytes of a file, and its kind."""
_TYPES = MimeTypes()  # without the tables of the machine
_LONGEST_STEM, _LONGEST_SUFFIX = 60, 12
_NOT_IN_NAMES = frozenset('<>:"|?*`')


@dataclass(frozen=True, slots=True)
class File:
    """A file for the chat. A tool returns one, or a list of files and of other values for the model.

    The chat gets it with the answer: a PNG, JPEG or WebP picture as a photo, anything else as a document.
    """

    name: str
    content: bytes | str
    """At most LARGEST_FILE; a text is sent as UTF-8."""
    prompt: str = ""
    """The words that a picture was made from. Its caption shows them, and memory keeps them."""

    @classmethod
    def table(cls, name: str, rows: Iterable[Sequence[object]]) -> "File":
        """Return a CSV file of these rows. The first row has the headings."""
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        return cls(name, text.getvalue())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file with a clean name, and the line that stands for it in the result of its tool."""

    name: str
    content: bytes
    is_picture: bool
    line: str
    prompt: str = ""


def check_file(file: File) -> CheckedFile:
    """Return the file as it can be sent. Raises ToolFailed, for the model, if it is empty, too large or misnamed."""
    name, content = _clean(file.name), file.content
    content = content.encode("utf-8", "replace") if isinstance(content, str) else bytes(content)
    kind, named = kind_of(content), _TYPES.guess_type(name)[0] or ""
    if not content:
        raise ToolFailed(f"The file {name} is empty, so it was not sent.")
    if len(content) > LARGEST_FILE:
        raise ToolFailed(
            f"The file {name} has {len(content):,} bytes, and a file may have {LARGEST_FILE:,}. Ask for less of it."
        )
    if named.startswith("image/") and named != "image/svg+xml" and not (kind or "").endswith("image"):
        raise ToolFailed(f"The file {name} is no picture, so it was not sent. Give it another name.")
    about = f"{kind or named or 'a file'}, {len(content):,} bytes"
    line = f"[The chat gets the file {name} ({about}) with your answer. You do not see its content.]"
    return CheckedFile(name=name, content=content, is_picture=kind in PICTURES, line=line, prompt=file.prompt)


def file_id(call: str, number: int) -> str:
    """Return the id under which a file of a tool call waits to be sent."""
    return f"{call}:{number}"


def kind_of(content: bytes) -> str | None:
    """Return the kind of a file by its first bytes, such as "a PNG image"; None for an unknown one."""
    if content[4:8] == b"ftyp":
        return "an MP4 file"
    if content.startswith(b"RIFF"):
        return {b"WEBP": "a WebP image", b"WAVE": "a WAV audio file"}.get(content[8:12])
    return next((kind for start, kind in _SIGNATURES if content.startswith(start)), None)


def _clean(name: str) -> str:
    """Return the name without folders, invisible characters and those that file systems or Markdown read."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(each for each in last if each.isprintable() and each not in _NOT_IN_NAMES).strip(" .")
    stem, dot, suffix = shown.rpartition(".")
    if not stem:
        stem, dot, suffix = shown, "", ""
    return f"{stem[:_LONGEST_STEM].strip()}{dot}{suffix[:_LONGEST_SUFFIX].strip()}" or "file"
