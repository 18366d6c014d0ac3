"""Small real files that people send in tests."""

import struct
import zlib
from collections.abc import Sequence


def make_picture(width: int = 8, height: int = 6) -> bytes:
    """Return a grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\x80" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def make_voice_note(seconds: int = 3) -> bytes:
    """Return an Ogg Opus file with silence of this duration, which a browser plays."""
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, 48_000, 0, 0)
    tags = b"OpusTags" + struct.pack("<I", 0) + struct.pack("<I", 0)
    second = [b"\xf8\xff\xfe"] * 50  # packets of 20 ms
    pages = [([head], 0, 2), ([tags], 0, 0)]
    pages += [(second, at * 48_000, 4 if at == seconds else 0) for at in range(1, seconds + 1)]
    return b"".join(
        _ogg_page(packets, granule=granule, flags=flags, number=number)
        for number, (packets, granule, flags) in enumerate(pages)
    )


def _ogg_page(packets: Sequence[bytes], *, granule: int, flags: int, number: int) -> bytes:
    head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 1, number, 0)
    page = head + bytes([len(packets), *map(len, packets)]) + b"".join(packets)
    return page[:22] + struct.pack("<I", _ogg_checksum(page)) + page[26:]


def _ogg_checksum(page: bytes) -> int:
    checksum = 0
    for byte in page:
        checksum ^= byte << 24
        for _ in range(8):
            checksum = (checksum << 1 ^ (0x04C11DB7 if checksum & 0x80000000 else 0)) & 0xFFFFFFFF
    return checksum
