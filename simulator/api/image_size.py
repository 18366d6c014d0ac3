"""The width and height of a picture, read from the first bytes of its file (pure)."""

import struct

_PNG = b"\x89PNG\r\n\x1a\n"
# Start-of-frame markers; C4, C8 and CC among them mean other things.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, JPEG or WebP; None for anything else and for broken ones."""
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
