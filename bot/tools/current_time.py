"""The tool `current_time`: date, weekday and time of day in a time zone."""

import zoneinfo
from datetime import UTC, datetime, tzinfo
from typing import Annotated

from pydantic import Field

from bot.errors import ToolFailed


def current_time(
    timezone: Annotated[
        str, Field(description="IANA time zone, such as Europe/Lisbon; UTC without one")
    ] = "UTC",
) -> str:
    """Tell the current date, weekday and time of day."""
    now = datetime.now(_zone(timezone.strip() or "UTC"))
    return f"{now:%A} {now.isoformat(sep=' ', timespec='seconds')} ({timezone.strip() or 'UTC'})"


def _zone(name: str) -> tzinfo:
    """Return the zone. Raises ToolFailed for an unknown zone; without time zone data only UTC is known."""
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not zoneinfo.available_timezones():
            raise ToolFailed("This machine has no time zone data: only UTC is available.") from error
        raise ToolFailed(
            f"{name[:64]!r} is not an IANA time zone. Use a name such as Europe/Lisbon, or UTC."
        ) from error
