"""Bounded logs: the events that the chat page reads, and the Bot API calls that tests read."""

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
    """Numbered events in one backlog. Each reader has its own position, so a slow page costs nothing."""

    def __init__(self, *, first_id: int) -> None:
        self._last_id = first_id
        self._backlog: deque[Event] = deque(maxlen=MAX_BACKLOG)
        self._changed = Wakeup()

    @property
    def last_id(self) -> int:
        """The id of the newest event."""
        return self._last_id

    def publish(self, kind: str, **fields: Any) -> None:
        self._last_id += 1
        self._backlog.append(Event(self._last_id, {"type": kind, **fields}))
        self._changed.ring()

    def close(self) -> None:
        self._changed.close()

    async def read(
        self, after: int | None, *, keep_alive_s: float = KEEP_ALIVE_S
    ) -> AsyncIterator[Event | None]:
        """Yield events as they happen, and None after each `keep_alive_s` without an event.

        `after` is the last event that the reader has. If the backlog begins later, the first event is `world`: the
        reader must load everything again. The iteration ends when the feed is closed.
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
        """Return True if the backlog has all events after this one."""
        oldest = self._backlog[0].id if self._backlog else self._last_id + 1
        return oldest - 1 <= event_id <= self._last_id


Outcome: TypeAlias = Literal["answered", "cut", "timeout"]

MAX_CALLS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A Bot API call. It holds no text of messages."""

    number: int
    method: str
    chat_id: int | None
    at: float  # Unix seconds
    ended_at: float  # Unix seconds
    outcome: Outcome
    status: int  # HTTP status; 0 without a response
    retry_after: int | None
    message_id: int | None  # of the resulting message, also if the connection was cut
    description: str | None


class CallLog:
    """The newest calls except getUpdates, numbered from 1 in the order of their ends."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=MAX_CALLS)
        self._last = 0

    def next_number(self) -> int:
        self._last += 1
        return self._last

    def add(self, call: Call) -> None:
        self._calls.append(call)

    def after(self, number: int) -> list[dict[str, Any]]:
        """Return the calls with a larger number, oldest first."""
        oldest = self._calls[0].number if self._calls else 0
        return [asdict(call) for call in islice(self._calls, max(number + 1 - oldest, 0), None)]
