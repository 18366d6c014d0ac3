"""Clocks of people, and stored names of time zones: those of IANA, and fixed offsets such as UTC+05:30."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from functools import cache, lru_cache
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The time zones of the people of a chat. Whoever has not chosen one is on UTC."""

    zones: Mapping[int, str] = field(default_factory=dict[int, str])
    """Sender id → stored name of the zone."""
    reader: int | None = None
    """The person whose clock the bot's own messages and imported ones have."""

    @classmethod
    def of(cls, writers: Iterable[int | None], zones: Mapping[int, str]) -> "Clocks":
        """Return the clocks of the people who wrote some lines here. If they have one zone, it is the reader's too.

        People of an imported file are not among them: their zones were chosen in other chats.
        """
        known = {person: zones[person] for person in writers if person is not None and person in zones}
        return cls(zones=known, reader=next(iter(known)) if len(set(known.values())) == 1 else None)

    def minute(self, at: float, person: int | None) -> str:
        """Return a time (Unix seconds) on the clock of its writer, with the zone: "2026-11-27 01:56 Asia/Tokyo"."""
        zone = self.zone(person)
        return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M} {zone}"

    def day(self, at: float, person: int | None) -> date:
        """Return the day of a time (Unix seconds) where this person is."""
        return datetime.fromtimestamp(at, self.zone(person)).date()

    def zone(self, person: int | None = None) -> tzinfo:
        """Return the zone of this person, by default of the reader; UTC if it is unknown."""
        return _load(self._name_of(person)) or UTC

    def _name_of(self, person: int | None) -> str:
        whose = self.reader if person is None else person
        return "UTC" if whose is None else self.zones.get(whose, "UTC")


ON_UTC = Clocks()


@lru_cache
def _load(name: str) -> tzinfo | None:
    """Return the zone, or None if this build does not know its name any more."""
    try:
        return find_zone(name)
    except BadTime:
        return None
