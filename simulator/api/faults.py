"""Refused calls: faults that the page or a test orders, and Telegram's flood limits."""

import math
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

FaultKind: TypeAlias = Literal["429", "500", "400", "403", "timeout", "cut", "hang"]

MAX_FAULTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The calls that fail, and the kind of failure.

    - 429: refused with `retry_after`.
    - 400, 403: refused with `description`.
    - 500: refused.
    - timeout: not done, and no response.
    - cut: done, and the connection is closed without a response.
    - hang: done, and answered after `seconds`.
    """

    error: FaultKind
    times: int | None = 1  # number of calls; None: no end
    chat_id: int | None = None  # None: any chat
    method: str | None = None  # None: any except getUpdates, which would use up the fault at once
    retry_after: int | tuple[int, int] = 1  # seconds, or a range of seconds
    hold: bool = False  # 429: refuse every send, edit and deletion in that chat until `retry_after` is over
    description: str = ""
    seconds: float = 1.0
    late: bool = False  # hang: do the call after `seconds`, not before
    probability: float = 1.0  # of a matching call to fail
    seed: int = 0  # of the random numbers for `probability` and ranges
    until: float | None = None  # Unix seconds; None: no end

    def matches(self, method: str, chat_id: int | None) -> bool:
        if self.chat_id is not None and self.chat_id != chat_id:
            return False
        if self.method is None:
            return method != "getupdates"
        return self.method.lower() == method


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """The fault of a call, with its random number of seconds."""

    fault: Fault
    retry_after: int


@dataclass(slots=True)
class _Standing:
    """A fault that applies to `left` more calls."""

    fault: Fault
    random: Random
    left: float = field(default=math.inf)


class FaultPlan:
    def __init__(self) -> None:
        self._standing: list[_Standing] = []
        self._held: dict[int, float] = {}

    def order(self, fault: Fault) -> None:
        """Add a fault. The oldest one is dropped if there are too many."""
        random = Random(fault.seed)  # noqa: S311 - equal seeds give equal faults
        standing = _Standing(fault, random, math.inf if fault.times is None else fault.times)
        self._standing = [*self._standing, standing][-MAX_FAULTS:]

    def clear(self) -> None:
        """Remove all faults."""
        self._standing.clear()
        self._held.clear()

    def take(self, method: str, chat_id: int | None, *, now: float) -> Hit | None:
        """Return the oldest fault for a call of this method (in lower case), and count it down."""
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
    """Return True if Telegram counts this method (in lower case) against the rate of a chat."""
    return method.startswith(("send", "edit", "delete", "forward", "copy"))


CHAT_BURST = 5
GROUP_PER_MINUTE = 20
OVERALL_PER_SECOND = 30
MAX_CHATS = 20_000
_MINUTE_S = 60.0


@dataclass(slots=True)
class _ChatRate:
    """The rate of one chat: `free_at` grows by a second per message, `sent` has the last minute."""

    free_at: float = 0.0
    held_until: float = 0.0
    sent: deque[float] = field(default_factory=deque[float])


class FloodLimits:
    """The rates at which Telegram lets a bot send (pure: the caller passes the time).

    Source: Bot FAQ, "My bot is hitting limits". One message a second in a chat, apart from short bursts. 20 a minute in
    a group. About 30 a second over all chats. A refused call does not count.
    """

    def __init__(self) -> None:
        self._chats: OrderedDict[int, _ChatRate] = OrderedDict()
        self._all: deque[float] = deque()

    def refuse(self, chat_id: int, *, is_group: bool, now: float) -> int | None:
        """Return the whole seconds to wait, or None: the message may be sent and is counted."""
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
