"""The marks that a prompt sets before what a user wrote, taken off for the offline model: reply, forward, note (pure)."""

import json
import re
from dataclasses import dataclass

_REPLY = re.compile(r"\[in reply to ([^:\]]{1,80}): (\".*\")\]")
_FORWARD = re.compile(r"\[forwarded from ([^\]]{1,80})\]")
_NOTE = re.compile(r"\[(an? .+|attached: .+|paid media)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmarked:
    """A text without its marks: `quoted` are who said (as the mark has it) and what, `origin` who wrote it first."""

    text: str
    quoted: tuple[tuple[str, str], ...] = ()
    origin: str | None = None


def take_marks(text: str) -> Unmarked:
    """The text with its notes as plain lines, and what its other marks say.

    A line of a user that looks like a mark is none: prompts quote it with `> `.
    """
    if "[" not in text:
        return Unmarked(text=text)
    kept: list[str] = []
    quoted: list[tuple[str, str]] = []
    origin: str | None = None
    for line in text.splitlines():
        reply, forward, note = (mark.fullmatch(line) for mark in (_REPLY, _FORWARD, _NOTE))
        said = _read(reply[2]) if reply else None
        if reply and said is not None:
            quoted.append((reply[1], said))
        elif forward:
            origin = forward[1]
        else:
            kept.append(note[1] if note else line)
    return Unmarked(text="\n".join(kept), quoted=tuple(quoted), origin=origin)


def _read(quotation: str) -> str | None:
    try:
        return str(json.loads(quotation))
    except ValueError:
        return None
