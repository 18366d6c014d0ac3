"""Faults ordered from the page: calls that match fail in a named way, so many times, or so often, or so long."""

import math
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

FaultKind: TypeAlias = Literal["429", "500", "400", "403", "timeout", "cut", "hang"]

MAX_FAULTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Which calls fail and how.

    - `method`: None is any but getUpdates, which would use the fault up at once; `chat_id`: None is any.
    - `times`: so many calls; None is no end. `until`: the time (Unix seconds) at which it ends; None is never.
    - `probability`: of a matching call to fail, drawn from `seed`.
    - `error`: 429 with `retry_after` seconds, a number or a range (with `hold` every call to that chat that sends,
      edits or deletes is answered 429 with the seconds left until it is over); 400 and 403 with `description`;
      500; timeout: no answer, nothing done; cut: done, and the connection closed without an answer; hang: answered
      after `seconds`, and done before them, or with `late` after them.
    """

    error: FaultKind
    times: int | None = 1
    chat_id: int | None = None
    method: str | None = None
    retry_after: int | tuple[int, int] = 1
    hold: bool = False
    description: str = ""
    seconds: float = 1.0
    late: bool = False
    probability: float = 1.0
    seed: int = 0
    until: float | None = None

    def matches(self, method: str, chat_id: int | None) -> bool:
        if self.chat_id is not None and self.chat_id != chat_id:
            return False
        if self.method is None:
            return method != "getupdates"
        return self.method.lower() == method


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A fault that a call has met, with the seconds drawn for it."""

    fault: Fault
    retry_after: int


@dataclass(slots=True)
class _Standing:
    """A fault that still waits, `left` times."""

    fault: Fault
    random: Random
    left: float = field(default=math.inf)


class FaultPlan:
    def __init__(self) -> None:
        self._standing: list[_Standing] = []
        self._held: dict[int, float] = {}

    def order(self, fault: Fault) -> None:
        """The newest are kept when there are too many."""
        random = Random(fault.seed)  # noqa: S311 - the same faults for the same seed
        standing = _Standing(fault, random, math.inf if fault.times is None else fault.times)
        self._standing = [*self._standing, standing][-MAX_FAULTS:]

    def clear(self) -> None:
        """Nothing fails any more."""
        self._standing.clear()
        self._held.clear()

    def take(self, method: str, chat_id: int | None, *, now: float) -> Hit | None:
        """The oldest fault for a call of this method (in small letters), used up by one."""
        if (held := self._held_s(method, chat_id, now)) is not None:
            return Hit(fault=Fault(error="429"), retry_after=held)
        self._standing = [one for one in self._standing if one.fault.until is None or now < one.fault.until]
        for standing in self._standing:
            fault = standing.fault
            if fault.matches(method, chat_id) and standing.random.random() < fault.probability:
                return self._use(standing, chat_id, now)
        return None

    def _use(self, standing: _Standing, chat_id: int | None, now: float) -> Hit:
        standing.left -= 1
        if standing.left < 1:
            self._standing.remove(standing)
        fault = standing.fault
        least, most = (
            fault.retry_after
            if isinstance(fault.retry_after, tuple)
            else (fault.retry_after, fault.retry_after)
        )
        seconds = standing.random.randint(least, most)
        if fault.error == "429" and fault.hold and chat_id is not None:
            self._held[chat_id] = now + seconds
        return Hit(fault=fault, retry_after=seconds)

    def _held_s(self, method: str, chat_id: int | None, now: float) -> int | None:
        if chat_id is None or chat_id not in self._held or not is_limited(method):
            return None
        left = self._held[chat_id] - now
        if left > 0:
            return math.ceil(left)
        del self._held[chat_id]
        return None


def is_limited(method: str) -> bool:
    """Whether Telegram counts calls of this method (in small letters) against a chat's rate."""
    return method.startswith(("send", "edit", "delete", "forward", "copy"))


CHAT_BURST = 5
GROUP_PER_MINUTE = 20
OVERALL_PER_SECOND = 30
MAX_CHATS = 20_000
_MINUTE_S = 60.0


@dataclass(slots=True)
class _ChatRate:
    """`free_at`: when a chat of one message a second has caught up; `sent`: within the last minute."""

    free_at: float = 0.0
    held_until: float = 0.0
    sent: deque[float] = field(default_factory=deque[float])


class FloodLimits:
    """Counts what is sent; who was told to wait is refused until then, and a refused call does not count."""

    def __init__(self) -> None:
        self._chats: OrderedDict[int, _ChatRate] = OrderedDict()
        self._all: deque[float] = deque()

    def refuse(self, chat_id: int, *, is_group: bool, now: float) -> int | None:
        """The whole seconds to wait; None: it may be sent, and is counted."""
        chat = self._chats.setdefault(chat_id, _ChatRate())
        self._chats.move_to_end(chat_id)
        if len(self._chats) > MAX_CHATS:
            self._chats.popitem(last=False)
        if chat.held_until > now:
            return math.ceil(chat.held_until - now)
        wait = self._wait_s(chat, is_group, now)
        if wait > 0:
            seconds = max(math.ceil(wait), 1)
            chat.held_until = now + seconds
            return seconds
        chat.free_at = max(chat.free_at, now) + 1.0
        chat.sent.append(now)
        self._all.append(now)
        return None

    def _wait_s(self, chat: _ChatRate, is_group: bool, now: float) -> float:
        _forget(chat.sent, now - _MINUTE_S)
        _forget(self._all, now - 1.0)
        waits = [chat.free_at - now - (CHAT_BURST - 1)]
        if is_group and len(chat.sent) >= GROUP_PER_MINUTE:
            waits.append(chat.sent[-GROUP_PER_MINUTE] + _MINUTE_S - now)
        if len(self._all) >= OVERALL_PER_SECOND:
            waits.append(self._all[-OVERALL_PER_SECOND] + 1.0 - now)
        return max(waits)


def _forget(times: deque[float], before: float) -> None:
    while times and times[0] <= before:
        times.popleft()
