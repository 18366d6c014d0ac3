"""How long ago something was said, in words."""

from datetime import UTC, datetime

_MINUTE, _HOUR = 60, 3600
_HOURS_AT_MOST = 12
_DAYS_AT_MOST = 13
_WEEKS_AT_MOST = 8
_MONTHS_AT_MOST = 23


def age_in_words(sent_at: float, now: float) -> str:
    """Such as "just now", "5 hours ago", "yesterday" or "3 months ago": days are UTC's, times are Unix seconds.

    What is said to come from the future is told as just now: clocks differ.
    """
    seconds = now - sent_at
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return _ago(int(seconds // _MINUTE), "minute")
    then, today = (datetime.fromtimestamp(at, UTC).date() for at in (sent_at, now))
    days = (today - then).days
    if seconds < _HOURS_AT_MOST * _HOUR or days == 0:
        return _ago(int(seconds // _HOUR), "hour")
    if days == 1:
        return "yesterday"
    if days <= _DAYS_AT_MOST:
        return _ago(days, "day")
    if days // 7 <= _WEEKS_AT_MOST:
        return _ago(days // 7, "week")
    months = 12 * (today.year - then.year) + today.month - then.month - (today.day < then.day)
    return _ago(months, "month") if months <= _MONTHS_AT_MOST else _ago(months // 12, "year")


def _ago(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"
