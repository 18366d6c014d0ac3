"""The formats of files by their contents, never by their names: pictures, recordings and texts (pure)."""

import codecs
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from struct import unpack_from

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of a frame header: all SOFn. C4, C8 and CC are tables or reserved (ITU-T T.81, table B.1)."""
_JPEG_ALONE = frozenset([0x01, *range(0xD0, 0xD9)])
"""Markers without a length."""
_BEGINNINGS = (
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"ID3", "mp3"),
    (b"\x1a\x45\xdf\xa3", "webm"),
)
_MP4_SOUND = (b"M4A ", b"M4B ")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OPUS_RATE = 48_000
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Characters that no text contains: all control characters but tab, line ends, form feed and escape."""
_FEW_LETTERS = 0.7
"""The share of ASCII and letters in a file from which on it counts as Latin text."""
_SAMPLE = 100_000
_NOT_TEXT = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"{\\rtf", b"\xd0\xcf\x11\xe0")
"""The first bytes of documents that may look like text: PDF, ZIP and Office, gzip, RTF, old Office."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a format that models take. Sizes are in pixels as stored, without the rotation of a camera."""

    mime_type: str
    width: int
    height: int


def opus_seconds(data: bytes) -> float:
    """Return the duration of an Ogg Opus file by its last page; 0 for an empty one and for anything else."""
    last = data.rfind(b"OggS")
    if not data.startswith(b"OggS") or b"OpusHead" not in data[:64] or len(data) < last + 14:
        return 0.0
    return max(int.from_bytes(data[last + 6 : last + 14], "little", signed=True), 0) / _OPUS_RATE


def picture_of(data: bytes) -> Picture | None:
    """Return the picture in a format that OpenAI's models take: JPEG, PNG, WebP or GIF.

    Return None for anything else, and for a header that is cut off or has no size. Only the header is checked.
    """
    match = next((each for each in _FORMATS if data.startswith(each[0])), None)
    if match is None:
        return None
    _, mime_type, size_of = match
    try:
        width, height = size_of(data)
    except (IndexError, ValueError, struct.error):
        return None
    return Picture(mime_type=mime_type, width=width, height=height) if width > 0 and height > 0 else None


def _png_size(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise ValueError
    return unpack_from(">II", data, 16)


def _gif_size(data: bytes) -> tuple[int, int]:
    return unpack_from("<HH", data, 6)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while True:
        if data[at] != 0xFF:
            raise ValueError
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        elif marker in _JPEG_SIZES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + max(unpack_from(">H", data, at + 2)[0], 2)


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return the size of any of the three kinds of WebP (RFC 9649): extended, lossless, lossy."""
    if data[8:12] != b"WEBP":
        raise ValueError
    kind = data[12:16]
    if kind == b"VP8X":
        width, width_high, height, height_high = unpack_from("<HBHB", data, 24)
        return (width_high << 16 | width) + 1, (height_high << 16 | height) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError


def container_of(data: bytes) -> str | None:
    """Return the file ending of a recording in a format that transcription endpoints take; None for anything else.

    Endpoints read the ending of the file name, and some know "ogg" but not Telegram's "oga".
    """
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:12] in _MP4_SOUND else "mp4"
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        return "wav"
    known = next((ending for start, ending in _BEGINNINGS if data.startswith(start)), None)
    return known or ("mp3" if _is_mp3_frame(data) else None)


def _is_mp3_frame(data: bytes) -> bool:
    """Return True for an MPEG audio frame of layer III: 11 bits set, and neither version nor layer reserved."""
    return len(data) > 3 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2 and data[1] & 0x18 != 0x08


def read_text(data: bytes) -> str | None:
    """Return the text with "\\n" as line end, "" for no bytes, None for bytes that are not text.

    A byte order mark decides the encoding. Without it: UTF-8, else Windows-1252, the usual older encoding, if the
    result looks like text.
    """
    if data.startswith(_NOT_TEXT):
        return None
    text = _decoded(data)
    if text is None or _CONTROL.search(text):
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str | None:
    encoding = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _as_latin(data) if encoding == "utf-8" else None


def _as_latin(data: bytes) -> str | None:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    sample = text[:_SAMPLE]
    plain = sum(character.isascii() or character.isalpha() for character in sample)
    has_words = any(character.isascii() and character.isalpha() for character in sample)
    return text if has_words and plain >= _FEW_LETTERS * len(sample) else None


_FORMATS: tuple[tuple[bytes, str, Callable[[bytes], tuple[int, int]]], ...] = (
    (b"\xff\xd8\xff", "image/jpeg", _jpeg_size),
    (b"\x89PNG\r\n\x1a\n", "image/png", _png_size),
    (b"GIF87a", "image/gif", _gif_size),
    (b"GIF89a", "image/gif", _gif_size),
    (b"RIFF", "image/webp", _webp_size),
)
