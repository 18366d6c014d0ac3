"""The clocks of people: dates as their writers saw them, for models that read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from memory.zones.names import BadTime, find_zone


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
        name = self._name_of(person)
        zone = _load(name)
        return f"{datetime.fromtimestamp(at, zone or UTC):%Y-%m-%d %H:%M} {name if zone else 'UTC'}"

    def day(self, at: float, person: int | None) -> date:
        """Return the day of a time (Unix seconds) where this person is."""
        return datetime.fromtimestamp(at, _load(self._name_of(person)) or UTC).date()

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
