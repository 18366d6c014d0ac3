"""The rates at which Telegram lets a bot send, kept as a flag asks for it (pure: the time is given).

Bot FAQ, "My bot is hitting limits": one message a second in a chat, short bursts apart; 20 a minute in a group; about
30 a second over all chats.
"""

import math
from collections import OrderedDict, deque
from dataclasses import dataclass, field

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
