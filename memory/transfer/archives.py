"""Opens an export, or the files in its zip one after the other, without unpacking them to disk or memory."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Protocol, TextIO, TypeAlias

from memory.transfer.json_stream import BadJson, CutJson

MOST_NAMES_BYTES = 16_000_000
"""Size of the list of names of a zip: some 200,000 files."""
_RATIO, _FREE = 200, 16_000_000
"""A file in a zip that grows more than 200 times is no history, unless it is small."""
_TAIL = 65_557
_END = b"PK\x05\x06"
_BEGINNINGS = frozenset(b"{[")
_OWN_BEGINNING = re.compile(rb'\s*\{\s*"kind"\s*:\s*"header"')
_PEEKED = 64

Opener: TypeAlias = Callable[[], IO[bytes]]
"""Opens the export; each pass over it opens it again."""


class BadArchive(BadJson):
    """The zip is damaged, protected, or larger inside than a history is."""


class Readable(Protocol):
    """A file that is read forwards."""

    def read(self, size: int = -1, /) -> bytes: ...


@dataclass(slots=True, kw_only=True)
class BoundedFile:
    """A file of a zip that raises BadArchive as soon as it grows beyond its bounds, and CutJson if it is damaged."""

    file: Readable
    packed: int
    left: int
    """Bytes that this file may have."""
    beginning: bytes = b""
    size: int = 0
    """Bytes that were read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        piece, self.beginning = self.beginning, b""
        if not piece:
            piece = self._next(size)
        self.size += len(piece)
        if self.size > self.left or self.size > max(_FREE, _RATIO * self.packed):
            raise BadArchive("it grows far beyond its size when it is unpacked")
        return piece

    def peek(self) -> bytes:
        """Return the first bytes, which `read` returns too."""
        self.beginning = self.beginning or self._next(_PEEKED)
        return self.beginning

    def _next(self, size: int) -> bytes:
        try:
            return self.file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise CutJson("it is damaged or ends in the middle") from None


class _RawPart(io.RawIOBase):
    """A part as Python's own readers of text take it."""

    def __init__(self, part: BoundedFile) -> None:
        self._part = part

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self._part.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def text_of(part: BoundedFile) -> TextIO:
    """Return the part as text. Reading raises UnicodeDecodeError, BadArchive and CutJson."""
    return io.TextIOWrapper(io.BufferedReader(_RawPart(part)), encoding="utf-8", newline="\n")


def is_zip(open_file: Opener) -> bool:
    """Return True if the file begins like a zip."""
    with open_file() as file:
        return file.read(4) == b"PK\x03\x04"


def is_own_export(open_file: Opener) -> bool:
    """Return True for a file of `mnemogram export`, also in a zip. Its first bytes decide, not its name."""
    try:
        with open_parts(open_file, most_bytes=_FREE) as parts:
            part = next(parts, None)
            return part is not None and _OWN_BEGINNING.match(part.peek()) is not None
    except (BadJson, OSError):
        return False


@contextmanager
def open_parts(open_file: Opener, *, most_bytes: int) -> Generator[Iterator[BoundedFile]]:
    """Open the file itself, or those files of a zip that begin like JSON, in the order of their names.

    Names are only compared, never used as paths. `most_bytes` bounds all files of a zip together. Raises BadArchive,
    and OSError if the file cannot be read.
    """
    if not is_zip(open_file):
        with open_file() as file:
            yield iter([BoundedFile(file=file, packed=1 << 60, left=1 << 60)])
        return
    with open_file() as file:
        _check_names(file)
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
            raise BadArchive("it is no zip that can be read; it may be cut") from None
        with archive:
            yield _parts(archive, most_bytes)


def _parts(archive: zipfile.ZipFile, most_bytes: int) -> Iterator[BoundedFile]:
    left = most_bytes
    for entry in sorted(archive.infolist(), key=lambda each: each.filename):
        if entry.is_dir():
            continue
        try:
            with archive.open(entry) as file:
                part = BoundedFile(file=file, packed=entry.compress_size, left=left)
                seen = part.peek().removeprefix(b"\xef\xbb\xbf").lstrip()
                if seen[:1] and seen[0] in _BEGINNINGS:
                    yield part
                    left -= part.size
        except (RuntimeError, NotImplementedError):
            raise BadArchive(
                "it is protected by a password, or packed in a way that is not known here"
            ) from None
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise BadArchive("it is damaged") from None


def _check_names(file: IO[bytes]) -> None:
    """Raise BadArchive if the list of names alone would need much memory."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    at = tail.rfind(_END)
    if at >= 0 and int.from_bytes(tail[at + 12 : at + 16], "little") > MOST_NAMES_BYTES:
        raise BadArchive("it holds too many files; pack only the history's JSON")
    file.seek(0)
