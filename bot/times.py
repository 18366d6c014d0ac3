"""Times in documents."""

from datetime import UTC, datetime


def iso(seconds: float | None) -> str | None:
    """Return a time for machines: ISO 8601 in UTC, with milliseconds."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
