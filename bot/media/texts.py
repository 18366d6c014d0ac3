"""Reads a document that is text, whatever its name says (pure)."""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""What no text has: all but tab, line ends, form feed and escape."""
_FEW_LETTERS = 0.7
"""A file without UTF-8 is taken for Latin text if at least so much of it is ASCII or a letter."""
_SAMPLE = 100_000
_NOT_TEXT = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"{\\rtf", b"\xd0\xcf\x11\xe0")
"""Documents that may pass for text and are none: PDF, ZIP and Office, gzip, RTF, old Office."""


def read_text(data: bytes) -> str | None:
    """The text of these bytes, its line ends as "\\n"; None where they are no text. No bytes are the text "".

    A byte order mark decides; else UTF-8; else Windows-1252, the usual one of the older ones, if it then looks like text.
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
