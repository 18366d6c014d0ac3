"""What the chat page is told as it happens: numbered events with a bounded backlog."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from simulator.api.wakeup import Wakeup

MAX_BACKLOG = 2_000
KEEP_ALIVE_S = 15.0


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    body: dict[str, Any]


class EventFeed:
    """Every reader has its own place in one backlog, so a slow page costs nothing."""

    def __init__(self, *, first_id: int) -> None:
        self._last_id = first_id
        self._backlog: deque[Event] = deque(maxlen=MAX_BACKLOG)
        self._changed = Wakeup()

    def publish(self, kind: str, **fields: Any) -> None:
        self._last_id += 1
        self._backlog.append(Event(self._last_id, {"type": kind, **fields}))
        self._changed.ring()

    def close(self) -> None:
        self._changed.close()

    async def read(
        self, after: int | None, *, keep_alive_s: float = KEEP_ALIVE_S
    ) -> AsyncIterator[Event | None]:
        """Events as they come; None each time that nothing came for `keep_alive_s`.

        `after` is the last event that the reader has; where the backlog does not reach back to it, an
        event `world` comes first: read everything again. Ends when the feed is closed.
        """
        place = self._last_id
        if after is not None and self._reaches(after):
            place = after
        elif after is not None:
            yield Event(place, {"type": "world"})
        while not self._changed.is_closed:
            if not self._reaches(place):
                place = self._last_id
                yield Event(place, {"type": "world"})
            for event in [one for one in self._backlog if one.id > place]:
                place = event.id
                yield event
            if place == self._last_id and not await self._changed.wait(keep_alive_s):
                yield None

    def _reaches(self, event_id: int) -> bool:
        """Whether all events after this one are still known."""
        oldest = self._backlog[0].id if self._backlog else self._last_id + 1
        return oldest - 1 <= event_id <= self._last_id
