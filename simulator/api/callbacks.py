"""Presses of inline buttons that a bot may still answer."""

from dataclasses import dataclass

from simulator.api.config import Clock
from simulator.api.updates import CALLBACK_LIFE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    user_id: int
    ends_at: float


class Callbacks:
    """Each press is answered at most once, within 150 s."""

    def __init__(self, clock: Clock, *, first_id: int) -> None:
        self._clock = clock
        self._next_id = first_id
        self._open: dict[str, Press] = {}

    def open(self, user_id: int) -> str:
        """The id of a new callback query."""
        now = self._clock()
        self._open = {key: press for key, press in self._open.items() if press.ends_at > now}
        self._next_id += 1
        query_id = f"{user_id}{self._next_id}"
        self._open[query_id] = Press(user_id=user_id, ends_at=now + CALLBACK_LIFE_S)
        return query_id

    def take(self, query_id: str) -> Press | None:
        """None for ids that are unknown, answered or too old."""
        press = self._open.pop(query_id, None)
        return press if press is not None and press.ends_at > self._clock() else None
