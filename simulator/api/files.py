"""Files that people and the bot have sent, in memory, and the sizes of pictures and sounds.

The oldest files are dropped if there are too many bytes.
"""

import mimetypes
import re
import struct
from collections import OrderedDict
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import PurePosixPath

MAX_FILE = 64 * 1024 * 1024
MAX_TOTAL = 256 * 1024 * 1024
# tdlib, clean_filename.
_MAX_STEM, _MAX_SUFFIX = 64, 16

_FILE_ID = re.compile(r"SIMFILE(\d{14})[A-Z]?")
_FILE_PATH = re.compile(r"[a-z]+/file_(\d{1,14})(?:\.[a-z0-9]{1,16})?")
_FOLDERS = {"image": "photos", "video": "videos", "audio": "music"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file of a multipart form."""

    name: str
    mime_type: str
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file. No later run of the simulator gives its `number` to another file."""

    number: int
    name: str
    mime_type: str
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def path(self) -> str:
        """The path that getFile returns: a folder for the kind, and a name that does not show the original one."""
        kind, _, subtype = self.mime_type.partition("/")
        if self.mime_type == "audio/ogg":
            return f"voice/file_{self.number}.oga"
        suffix = PurePosixPath(self.name).suffix.lower() or (mimetypes.guess_extension(self.mime_type) or "")
        extension = suffix if re.fullmatch(r"\.[a-z0-9]{1,16}", suffix) and subtype else ""
        return f"{_FOLDERS.get(kind, 'documents')}/file_{self.number}{extension}"

    def file_id(self, size: str = "") -> str:
        """Return the file id; `size` is the letter of a smaller picture."""
        return f"SIMFILE{self.number:014d}{size}"

    def fields(self, size: str = "") -> dict[str, str | int]:
        """Return the fields that all kinds of files have in the Bot API."""
        return {
            "file_id": self.file_id(size),
            "file_unique_id": f"SIM{self.number:014d}{size}",
            "file_size": self.size,
        }


class FileStore:
    def __init__(self, *, first_number: int, max_total: int = MAX_TOTAL) -> None:
        self._next = first_number
        self._max_total = max_total
        self._total = 0
        self._files: OrderedDict[int, StoredFile] = OrderedDict()

    def add(self, data: bytes, *, name: str, mime_type: str = "") -> StoredFile:
        """Store a file. Without a MIME type its name decides. The caller refuses files over `MAX_FILE`."""
        clean = clean_name(name)
        guessed = mime_type or mimetypes.guess_type(clean)[0] or "application/octet-stream"
        file = StoredFile(number=self._next, name=clean, mime_type=guessed, data=data)
        self._next += 1
        self.restore(file)
        return file

    def restore(self, file: StoredFile) -> None:
        """Store a file that has a number, as the newest one."""
        self._files[file.number] = file
        self._total += file.size
        while self._total > self._max_total:
            self._total -= self._files.popitem(last=False)[1].size

    def newest(self, most: int) -> list[StoredFile]:
        """Return the newest files that have up to `most` bytes together, oldest first."""
        sizes = accumulate(file.size for file in reversed(self._files.values()))
        number = sum(size <= most for size in sizes)
        return list(islice(reversed(self._files.values()), number))[::-1]

    def find(self, file_id: str) -> StoredFile | None:
        """Return the file, or None if the id is unknown or the file was dropped."""
        match = _FILE_ID.fullmatch(file_id)
        return self._files.get(int(match[1])) if match else None

    def at(self, path: str) -> StoredFile | None:
        """Return the file with this path, as returned by getFile."""
        match = _FILE_PATH.fullmatch(path)
        file = self._files.get(int(match[1])) if match else None
        return file if file is not None and file.path == path else None


def clean_name(name: str) -> str:
    """Return a file name as Telegram shows it: without folders and control characters, and shortened."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(char for char in last if char.isprintable()).strip() or "file"
    stem, dot, suffix = shown.rpartition(".")
    if not stem:
        return shown[:_MAX_STEM]
    return f"{stem[:_MAX_STEM]}{dot}{suffix[:_MAX_SUFFIX]}"


def looks_like_id(file_id: str) -> bool:
    """Return True if a text has the form of a file id. Telegram's errors depend on it."""
    return _FILE_ID.fullmatch(file_id) is not None


_PNG = b"\x89PNG\r\n\x1a\n"
# Start-of-frame markers; C4, C8 and CC have other meanings.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height in pixels of a PNG, GIF, JPEG or WebP; None for other or broken files."""
    try:
        size = _read_size(data)
    except (struct.error, IndexError):
        return None
    return size if size is not None and all(size) else None


def _read_size(data: bytes) -> tuple[int, int] | None:
    if data.startswith(_PNG):
        return struct.unpack_from(">II", data, 16)
    if data[:6] in {b"GIF87a", b"GIF89a"}:
        return struct.unpack_from("<HH", data, 6)
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    place = 2
    while place < len(data):
        marker = data[place + 1]
        if data[place] != 0xFF:
            return None
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        place += 2 if marker in _JPEG_BARE else 2 + max(struct.unpack_from(">H", data, place + 2)[0], 2)
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            width, height = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
            return width + 1, height + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            return None


_PAGE = b"OggS"
_OPUS_RATE = 48_000
_MAX_S = 24 * 3600


def opus_seconds(data: bytes) -> int | None:
    """Return the whole seconds of an Ogg Opus file, at least 1; None for other files."""
    last = data.rfind(_PAGE)
    if not data.startswith(_PAGE) or b"OpusHead" not in data[:64] or len(data) < last + 14:
        return None
    samples = int.from_bytes(data[last + 6 : last + 14], "little", signed=True)
    return min(max(round(samples / _OPUS_RATE), 1), _MAX_S)
