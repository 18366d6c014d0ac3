"""The tool `current_time`: date, weekday and time of day in a time zone."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from bot.agent.context import AgentContext
from bot.errors import ToolFailed
from memory.reminders.recurrence import BadTime, find_zone


async def current_time(
    context: AgentContext,
    timezone: Annotated[
        str,
        Field(description="City or IANA time zone. Empty for that of the person, or UTC if it is unknown"),
    ] = "",
) -> str:
    """Tell the current date, weekday and time of day."""
    reminders, person = context.conversation.reminders, context.caller.person_id
    name = timezone.strip()
    if not name and reminders is not None and person is not None:
        name = await reminders.reminders.zone_of(person) or ""
    try:
        zone = find_zone(name or "UTC")
    except BadTime as error:
        raise ToolFailed(str(error)) from error
    now = datetime.now(zone)
    return f"{now:%A} {now.isoformat(sep=' ', timespec='seconds')} ({zone.key})"
