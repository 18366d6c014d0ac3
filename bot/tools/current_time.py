"""The tool `current_time`: date, weekday and time of day in a time zone."""

import time
from datetime import datetime
from typing import Annotated

from pydantic import Field

from bot.agent.context import AgentContext
from bot.tools.reminders import choose_zone
from memory.zones.names import find_zone


async def current_time(
    context: AgentContext,
    timezone: Annotated[
        str,
        Field(description="City, UTC offset or IANA zone, if not the person's own"),
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
