"""The file `.env`: new values in the text of an old file, and a private file that replaces it at once."""

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path

from dotenv.parser import parse_stream

_ASSIGNMENT = re.compile(
    r"""(?P<head>\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=\#\s]+))[^\S\r\n]*
    (?:=(?:[^\S\r\n]*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")(?=\s|\#|\Z)|[^\r\n]*?))?
    (?P<tail>(?:(?:[^\S\r\n]+|(?<=['"]))\#[^\r\n]*)?[^\S\r\n]*(?:\r\n|\n|\r)?)""",
    re.VERBOSE | re.DOTALL,
)
"""One assignment as python-dotenv reads it. `tail` has its comment and the end of its line."""


def replace_values(text: str, values: Mapping[str, str]) -> str:
    """Return the text of an `.env` with these values. All other lines and comments stay as they are.

    A new name goes below its commented-out line, as in `.env.example`, or to the end. Values must need no quotes.
    """
    pieces = [
        (binding.key.upper() if binding.key else "", binding.original.string)
        for binding in parse_stream(StringIO(text, newline=""))
    ]
    end = "\r\n" if "\r\n" in text else "\n"
    for name, value in values.items():
        numbers = [number for number, (key, _) in enumerate(pieces) if key == name]
        if numbers:
            pieces[numbers[-1]] = name, _replace_value(pieces[numbers[-1]][1], value)
            continue
        example = re.compile(rf"^\s*#\s*{name}=", re.MULTILINE | re.IGNORECASE)
        examples = [number for number, (key, old) in enumerate(pieces) if not key and example.search(old)]
        position = examples[-1] + 1 if examples else len(pieces)
        if position and not pieces[position - 1][1].endswith(("\n", "\r")):
            pieces[position - 1] = pieces[position - 1][0], pieces[position - 1][1] + end
        pieces.insert(position, (name, f"{name}={value}{end}"))
    return "".join(old for _, old in pieces)


def write_private(path: Path, text: str) -> None:
    """Replace a file at once, readable by its owner only. A link stays, and its target is replaced. Raises OSError."""
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=".env.", dir=path.parent)  # with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            if path.exists():  # root keeps another user's file readable for them
                with suppress(PermissionError):
                    os.fchown(descriptor, path.stat().st_uid, path.stat().st_gid)
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _replace_value(assignment: str, value: str) -> str:
    match = _ASSIGNMENT.fullmatch(assignment)
    assert match is not None, "python-dotenv has parsed it"  # noqa: S101
    gap = " " if match["tail"].startswith("#") else ""
    return f"{match['head']}={value}{gap}{match['tail']}"
