"""The tool `current_time`: date, weekday and time of day in a time zone."""

import time
from datetime import datetime
from typing import Annotated

from pydantic import Field

from bot.agent.context import AgentContext
from bot.errors import ToolFailed
from memory.characters import one_line
from memory.zones.clocks import find_zone
from memory.zones.reader import read_zone


async def current_time(
    context: AgentContext,
    timezone: Annotated[
        str, Field(description="City, UTC offset or IANA zone, if not the person's own")
    ] = "",
) -> str:
    """Tell the current date, weekday and time of day."""
    reminders, person = context.conversation.reminders, context.caller.person_id
    name = timezone.strip()
    if not name and reminders is not None and person is not None:
        name = await reminders.reminders.zone_of(person) or ""
    zone = find_zone(choose_zone(name, time.time()) if name else "UTC")
    now = datetime.now(zone)
    return f"{now:%A} {now.isoformat(sep=' ', timespec='seconds')} ({zone.key})"


def choose_zone(named: str, now: float) -> str:
    """Return the zone that these words mean at `now`. Raises ToolFailed for unknown and ambiguous ones."""
    reading = read_zone(named, now)
    if reading.zone:
        return reading.zone
    if reading.others:
        names = ", ".join(reading.others)
        raise ToolFailed(f"{one_line(named, 64)!r} may mean several zones. Ask the person which: {names}.")
    raise ToolFailed(
        f"There is no time zone {one_line(named, 64)!r}. Names are like Lisbon, UTC+3 or Europe/Lisbon."
    )
