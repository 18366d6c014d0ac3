"""What kind of picture some bytes are, and how large: by their content, never by a name (pure)."""

from collections.abc import Callable
from dataclasses import dataclass

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of a frame's header: all SOFn; C4, C8 and CC are tables and reserved (ITU-T T.81, table B.1)."""
_JPEG_ALONE = frozenset([0x01, *range(0xD0, 0xD9)])
"""Markers without a length behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a format that models take. Sizes are in pixels, as stored: a camera's turn is not applied."""

    mime_type: str
    width: int
    height: int


def picture_of(data: bytes) -> Picture | None:
    """The picture that these bytes begin like, of the formats that OpenAI's models take: JPEG, PNG, WebP and GIF.

    None for all else, and for one whose header is cut off or tells no size. That the rest is whole is not checked.
    """
    found = next((each for each in _FORMATS if data.startswith(each[0])), None)
    if found is None:
        return None
    _, mime_type, size_of = found
    try:
        width, height = size_of(data)
    except (IndexError, ValueError):
        return None
    return Picture(mime_type=mime_type, width=width, height=height) if width > 0 and height > 0 else None


def _png_size(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise ValueError
    return _big(data, 16, 4), _big(data, 20, 4)


def _gif_size(data: bytes) -> tuple[int, int]:
    return _little(data, 6, 2), _little(data, 8, 2)


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
            return _big(data, at + 7, 2), _big(data, at + 5, 2)
        else:
            at += 2 + max(_big(data, at + 2, 2), 2)


def _webp_size(data: bytes) -> tuple[int, int]:
    """The three kinds of WebP (RFC 9649): extended, lossless, lossy."""
    if data[8:12] != b"WEBP":
        raise ValueError
    kind = data[12:16]
    if kind == b"VP8X":
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    raise ValueError


def _big(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_there(data, at, size), "big")


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_there(data, at, size), "little")


def _there(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]


_FORMATS: tuple[tuple[bytes, str, Callable[[bytes], tuple[int, int]]], ...] = (
    (b"\xff\xd8\xff", "image/jpeg", _jpeg_size),
    (b"\x89PNG\r\n\x1a\n", "image/png", _png_size),
    (b"GIF87a", "image/gif", _gif_size),
    (b"GIF89a", "image/gif", _gif_size),
    (b"RIFF", "image/webp", _webp_size),
)
