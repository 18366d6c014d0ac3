"""Documents for tests: valid and broken PDFs."""

import zlib
from base64 import b64decode
from io import BytesIO

from pypdf import PdfReader, PdfWriter


def pdf_of(*pages: str) -> bytes:
    """Return a PDF with a line of Latin text on each page; "" for an empty page."""
    contents = [f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET".encode("latin-1") if page else b"" for page in pages]
    return pdf_with(*contents)


def pdf_with(*contents: bytes, coding: bytes = b"", resources: bytes = b"") -> bytes:
    """Return a PDF whose pages have these content streams, encoded as the dictionary entry `coding` says."""
    count = len(contents)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(contents):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> %b >> >>" % (5 + 2 * number, resources),
            b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), coding, content),
        ]
    return _assembled(objects)


def pdf_bomb(megabytes: int) -> bytes:
    """Return a PDF of a few kilobytes whose only page unpacks to this many megabytes. It is packed twice."""
    packed = zlib.compress(zlib.compress(b" " * megabytes * 1_000_000, 9), 9)
    return pdf_with(packed, coding=b"/Filter [/FlateDecode /FlateDecode]")


def scanned_pdf() -> bytes:
    """Return a PDF of one page with a picture and no text."""
    return pdf_with(b"q /Im0 Do Q", resources=b"/XObject << /Im0 3 0 R >>")


def encrypted_pdf(password: str) -> bytes:
    """Return a PDF that needs a password."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of("a secret"))))
    writer.encrypt(password, algorithm="RC4-128")
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def _assembled(objects: list[bytes]) -> bytes:
    written = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    written += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, table)
    return bytes(written)


JPEG = b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////"
    "////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)
"""One pixel."""

HEIC = b64decode(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA"
    "AAAAACJpbG9jAAAAAERAAAEAAQAAAAABoQABAAAAAAAAABgAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAA"
    "AA5waXRtAAAAAAABAAAA/WlwcnAAAADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNw"
    "AAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFz"
    "wIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAAMAAAAAEAAAAAAAAA"
    "Av////AAAAACAAAAEHBpeGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAACBtZGF0AAAAFCgBrwQY+Mpx1//z"
    "IR+fgLhh0hHn"
)
"""A red picture of 64×48 pixels, written by libheif's encoder, which our dependencies lack."""
