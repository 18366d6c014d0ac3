"""The log of Bot API calls that tests and benchmarks read: which, for which chat, when, and how they ended."""

from collections import deque
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

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
