"""What the chat page is told as it happens: numbered events with a bounded backlog."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

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


Outcome: TypeAlias = Literal["answered", "cut", "timeout"]

MAX_CALLS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`at` and `ended_at` are Unix seconds. `status` is the HTTP status, 0 where no answer went out; `message_id` that
    of the message which came of it, also if the connection was cut. No text is kept.
    """

    number: int
    method: str
    chat_id: int | None
    at: float
    ended_at: float
    outcome: Outcome
    status: int
    retry_after: int | None
    message_id: int | None
    description: str | None


class CallLog:
    """The newest calls, but for getUpdates, numbered from 1 in the order of their ends."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=MAX_CALLS)
        self._last = 0

    def next_number(self) -> int:
        self._last += 1
        return self._last

    def add(self, call: Call) -> None:
        self._calls.append(call)

    def after(self, number: int) -> list[dict[str, Any]]:
        """Those with a larger number, oldest first."""
        oldest = self._calls[0].number if self._calls else 0
        return [asdict(call) for call in islice(self._calls, max(number + 1 - oldest, 0), None)]
