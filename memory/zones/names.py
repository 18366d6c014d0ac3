"""Names of time zones as they are stored: those of IANA, and fixed offsets such as UTC+05:30."""

import re
from functools import cache
from io import BytesIO
from struct import pack
from unicodedata import category, combining, normalize
from zoneinfo import ZoneInfo, available_timezones

LONGEST_NAME = 300
"""Characters of a name that are read."""

_FIXED = re.compile(r"UTC([+-])([01]\d):([0-5]\d)")
_SAME_LETTERS = str.maketrans(
    {"ي": "ی", "ى": "ی", "ك": "ک", "ـ": "", "\u200c": " ", ".": " ", "&": " and ", "'": "", "’": ""}  # noqa: RUF001
)
"""Letters of Arabic that Persian writes in another way, and signs that people leave out."""


class BadTime(ValueError):
    """A time, a rule or a time zone that nobody can read, or that never comes. The message names it."""


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone with this stored name, in any case. Raises BadTime for all other names.

    Offsets are not zones of Etc, whose signs are turned round and which have no half hours.
    """
    if fixed := _FIXED.fullmatch(name):
        minutes = int(fixed[2]) * 60 + int(fixed[3])
        return _fixed(name, -minutes if fixed[1] == "-" else minutes)
    found = iana_names().get(plain(name))
    if found is None:
        raise BadTime(f"There is no time zone {name[:LONGEST_NAME]!r}. Names are like Europe/Lisbon.")
    return ZoneInfo(found)


def offset_name(minutes: int) -> str:
    """Return the stored name of a fixed offset; "UTC" for none."""
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def plain(name: str) -> str:
    """Return the name without case, accents and dots, with "_" in place of blanks, and of hyphens between letters."""
    spelt = normalize("NFKD", name[:LONGEST_NAME]).translate(_SAME_LETTERS)
    letters = "".join(each for each in spelt if not combining(each) and category(each) != "Cf").casefold()
    return "_".join(re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", " ", letters).split())


@cache
def iana_names() -> dict[str, str]:
    """Return the names of IANA by their plain spelling."""
    return {plain(name): name for name in sorted(available_timezones() - {"localtime", "Factory"})}


@cache
def _fixed(name: str, minutes: int) -> ZoneInfo:
    """Return a zone without summer time: a file of RFC 9636 with one type of local time and no transitions."""
    header = b"TZif" + bytes(16) + pack(">6l", 0, 0, 0, 0, 1, 4)
    return ZoneInfo.from_file(BytesIO(header + pack(">lbb", minutes * 60, 0, 0) + b"UTC\0"), key=name)
