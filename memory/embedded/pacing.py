"""How soon the files of the embedded stores are rid of what was erased: within a minute, and mostly at rest."""

WITHIN_S = 50.0
"""From an erasure until no file tells of it, with ten seconds left for all that may delay it a little."""
_RESTS = 9.0


def rest_after(took: float) -> float:
    """Seconds of rest after upkeep that took so long: a tenth of the time is spent on it, or as much as is needed so
    that what is erased right after its beginning is gone in time; half of the time at most (from 17 s on).
    """
    return min(_RESTS * took, max(took, WITHIN_S - 2 * took))
