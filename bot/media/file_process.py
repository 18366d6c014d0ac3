"""Reads one PDF, or converts one picture, in a process with limited memory and time, without our environment.

A script: `python -I -B file_process.py pdf|picture AT_MOST SECONDS BYTES`. The standard input is the file.
AT_MOST counts the characters of a PDF, or the pixels of a picture. The output for a PDF is one line of JSON:
`{"pages", "text", "is_cut"}` or `{"problem"}`. For a picture it is a JPEG, or nothing if there is none. It imports
nothing of ours, because each file pays for its start.
"""

import json
import logging
import os
import resource
import sys
import time
from contextlib import suppress
from io import BytesIO
from typing import Any

ENCRYPTED, CORRUPT, EMPTY = "pdf-encrypted", "pdf-corrupt", "pdf-empty"
SCANNED, TOO_MUCH = "pdf-scanned", "pdf-too-much"

PICTURE_FORMATS = ("AVIF", "BMP", "GIF", "HEIF", "ICO", "JPEG2000", "PSD", "TIFF", "WEBP")
LONGEST_SIDE = 2_048
"""Pixels of a converted picture. Models make larger ones smaller themselves."""


def main() -> None:
    """Read the file and write the result. A limit ends the process without output."""
    at_most, seconds, memory = (int(each) for each in sys.argv[2:5])
    _limit(seconds=seconds, memory=memory)
    data = sys.stdin.buffer.read()
    if sys.argv[1] == "picture":
        sys.stdout.buffer.write(_convert(data, at_most=at_most))
        return
    try:
        result = _read(data, at_most=at_most, until=time.monotonic() + seconds / 2)
    except MemoryError:
        result = {"problem": TOO_MUCH}
    sys.stdout.buffer.write(json.dumps(result).encode("ascii"))


def _limit(*, seconds: int, memory: int) -> None:
    os.nice(10)
    with suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(data: bytes, *, at_most: int, until: float) -> dict[str, Any]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError

    logging.disable(logging.CRITICAL)
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"problem": ENCRYPTED}
        count = len(reader.pages)
    except (DependencyError, FileNotDecryptedError):
        return {"problem": ENCRYPTED}
    except LimitReachedError:
        return {"problem": TOO_MUCH}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a broken file may raise any error
        return {"problem": CORRUPT}
    return _read_pages(reader.pages, count, at_most=at_most, until=until)


def _read_pages(pages: Any, count: int, *, at_most: int, until: float) -> dict[str, Any]:
    """Return the texts of the pages, each under its number, up to `at_most` characters and the time `until`."""
    from pypdf.errors import LimitReachedError

    texts: list[str] = []
    length = read = 0
    problem = EMPTY
    for number in range(count):
        if length > at_most or time.monotonic() > until:
            break
        read += 1
        try:
            page = pages[number]
            text = page.extract_text().strip()
            if not text and problem == EMPTY and "/XObject" in (page.get("/Resources") or {}):
                problem = SCANNED
        except LimitReachedError:
            problem = TOO_MUCH
            continue
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - other pages may be intact
            problem = CORRUPT
            continue
        if text:
            texts.append(f"[page {number + 1}]\n{text}")
            length += len(texts[-1]) + 2
    if not texts:
        return {"problem": TOO_MUCH if read < count else problem}
    whole = "\n\n".join(texts)
    return {"pages": count, "text": whole[:at_most], "is_cut": read < count or len(whole) > at_most}


def _convert(data: bytes, *, at_most: int) -> bytes:
    """Return the first frame as an upright JPEG on white; nothing for a broken or huge picture."""
    # It has no stubs.
    from pi_heif import (  # pyright: ignore[reportMissingTypeStubs]
        options,
        register_heif_opener,  # pyright: ignore[reportUnknownVariableType]
    )
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # `at_most` is checked instead
    options.DECODE_THREADS = 1
    register_heif_opener()
    try:
        image = Image.open(BytesIO(data), formats=PICTURE_FORMATS)
        if image.width * image.height > at_most:
            return b""
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        colours = ImageOps.exif_transpose(image).convert("RGBA")
        page = Image.new("RGB", colours.size, "white")
        page.paste(colours, mask=colours.getchannel("A"))
        written = BytesIO()
        page.save(written, "JPEG", quality=90)
    except Exception:  # noqa: BLE001 - a broken picture may raise any error
        return b""
    return written.getvalue()


if __name__ == "__main__":
    main()
