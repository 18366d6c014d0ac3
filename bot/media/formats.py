"""The formats of files by their contents, never by their names: pictures, recordings and texts (pure)."""

import codecs
import re
from dataclasses import dataclass
from io import BytesIO
from unicodedata import category

from bot.media.encodings import find_encoding

_PICTURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)
_BEGINNINGS = ((b"OggS", "ogg"), (b"fLaC", "flac"), (b"ID3", "mp3"), (b"\x1a\x45\xdf\xa3", "webm"))
_MP4_SOUND = (b"M4A ", b"M4B ")
_PICTURE_BRANDS = frozenset(
    [*b"heic heix heim heis hevc hevx hevm hevs mif1 mif2 msf1 avif avis".split(), b"crx "]
)
_MOVIE_BRANDS = (b"iso", b"mp4", b"M4", b"qt", b"3g", b"avc", b"MSNV", b"dash", b"f4v")
"""Beginnings of the brands of films and sounds in the container that HEIC and AVIF have too."""
_LONGEST_BRANDS = 256
_OTHER_PICTURES = (
    *(b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    *(b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51", b"\x00\x00\x00\x0cJXL "),
    *(b"GIF87a", b"GIF89a"),
    *(b"8BPS\x00\x01", b"\x00\x00\x01\x00"),
)
"""The first bytes of TIFF, JPEG 2000, JPEG XL, GIF, Photoshop and Windows icons."""
_ANIMATED = 0x02
"""The bit of an animation in the header of an extended WebP (RFC 9649)."""
_BMP_HEADERS = frozenset([12, 40, 52, 56, 64, 108, 124])
"""The lengths of the second header of a BMP."""
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
_END_OF_FILE = "\x1a"
"""Programs of DOS end a text with it."""
_BYTES_OF_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_JAPANESE_MAIL = re.compile(rb"\x1b\$[@B]")
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_SAMPLE = 4_000
_INTACT_FOR_BROKEN = 4
"""Characters beyond ASCII for each broken one in a damaged UTF-8: other encodings rarely look like it."""
_UNASSIGNED = frozenset(["Cn", "Co"])
_NOT_TEXT = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"{\\rtf", b"\xd0\xcf\x11\xe0")
"""The first bytes of documents that may look like text: PDF, ZIP and Office, gzip, RTF, old Office."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a format that models take. Sizes are in pixels as stored, without the rotation of a camera."""

    mime_type: str
    width: int
    height: int


class UnsureText(str):
    """A text whose encoding is not certain: letters may be wrong."""

    __slots__ = ()


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
    mime_type = next((mime_type for start, mime_type in _PICTURES if data.startswith(start)), None)
    if mime_type is None:
        return None
    import imagesize  # pyright: ignore[reportMissingTypeStubs] - it has none; it imports an XML parser

    width, height = imagesize.get(BytesIO(data), exif_rotation=False)  # pyright: ignore[reportUnknownMemberType]
    return Picture(mime_type=mime_type, width=width, height=height) if width > 0 and height > 0 else None


def needs_conversion(data: bytes) -> bool:
    """Return True for a picture that not all models take: HEIC, AVIF, TIFF, BMP and others, GIF and animations."""
    if data.startswith(b"RIFF") and data[8:16] == b"WEBPVP8X":
        return bool(int.from_bytes(data[20:21]) & _ANIMATED)
    is_bitmap = data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS
    return is_bitmap or data.startswith(_OTHER_PICTURES) or _is_still(data)


def _is_still(data: bytes) -> bool:
    """Return True if the first brand that we know is one of pictures: a video may be "compatible" with pictures."""
    if data[4:8] != b"ftyp":
        return False
    end = min(int.from_bytes(data[:4], "big"), _LONGEST_BRANDS)
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, end, 4))]
    known = (
        brand in _PICTURE_BRANDS
        for brand in brands
        if brand in _PICTURE_BRANDS or brand.startswith(_MOVIE_BRANDS)
    )
    return next(known, False)


def container_of(data: bytes) -> str | None:
    """Return the file ending of a recording in a format that transcription endpoints take; None for anything else.

    Endpoints read the ending of the file name, and some know "ogg" but not Telegram's "oga".
    """
    if data[4:8] == b"ftyp":
        if _is_still(data):
            return None
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

    A byte order mark decides the encoding. Without it: UTF-8, else UTF-16 or UTF-32 if there are zero bytes, else
    damaged UTF-8, else the most likely older encoding. A text whose encoding is not certain is an UnsureText.
    """
    if data.startswith(_NOT_TEXT):
        return None
    text = _decoded(data)
    if text is None:
        return None
    lines = text.removesuffix(_END_OF_FILE).replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(lines):
        return None
    return UnsureText(lines) if isinstance(text, UnsureText) else lines


def seems_text(data: bytes) -> bool:
    """Return True for data without any byte that no text has: it may be a text in an unknown encoding."""
    return not data.startswith(_NOT_TEXT) and not _BYTES_OF_NO_TEXT.search(data)


def _decoded(data: bytes) -> str | None:
    mark, zeros = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), ""), b"\x00" in data
    try:
        if mark or not zeros:  # UTF-16 of ASCII is UTF-8 too
            return data.decode(mark or _seven_bits(data) or "utf-8")
    except UnicodeDecodeError:
        pass
    if mark:
        return None
    return _as_wide(data) if zeros else _as_damaged(data) or _as_older(data)


def _as_damaged(data: bytes) -> UnsureText | None:
    """Return the text of UTF-8 with some broken bytes, such as a file that was cut; None for other data."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    intact = len(text) - len(text.encode("ascii", "ignore")) - broken
    return UnsureText(text) if broken * _INTACT_FOR_BROKEN <= intact else None


def _seven_bits(data: bytes) -> str:
    """Return the encoding of old Japanese mails, which is ASCII with sequences of escape; "" for other data."""
    return "iso2022_jp" if _JAPANESE_MAIL.search(data) else ""


def _as_wide(data: bytes) -> str | None:
    """Return the text of UTF-16 or UTF-32 without a byte order mark, in the order that gives the most ASCII."""
    readings: list[tuple[int, str]] = []
    for encoding in _WIDE:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        sample = text[:_SAMPLE]
        if not _CONTROL.search(sample) and not any(category(each) in _UNASSIGNED for each in sample):
            readings.append((sum(map(str.isascii, sample)), text))
    return max(readings, default=(0, None))[1]


def _as_older(data: bytes) -> str | None:
    found = find_encoding(data)
    if found is None:
        return None
    encoding, is_certain = found
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return UnsureText(data.decode(encoding, "replace"))
    return text if is_certain else UnsureText(text)
