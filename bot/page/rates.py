"""Rate limits of the page's API: token buckets in the memory of one process."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

OWNERS = 10_000
"""Maximum number of buckets. The one that was used longest ago is dropped, which fills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Requests that are allowed: so many a second, and `burst` at once."""

    per_second: float
    burst: int


class RateLimit:
    """One bucket for each owner. `clock` is monotonic seconds."""

    def __init__(self, rate: Rate, *, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, owner: Hashable) -> float:
        """Take one request of this owner. Return 0, or the seconds until the next one is allowed."""
        now = self._clock()
        tokens, at = self._buckets.get(owner, (float(self._rate.burst), now))
        tokens = min(float(self._rate.burst), tokens + max(0.0, now - at) * self._rate.per_second)
        is_allowed = tokens >= 1.0
        self._buckets[owner] = (tokens - 1.0 if is_allowed else tokens, now)
        self._buckets.move_to_end(owner)
        if len(self._buckets) > OWNERS:
            self._buckets.popitem(last=False)
        return 0.0 if is_allowed else (1.0 - tokens) / self._rate.per_second
