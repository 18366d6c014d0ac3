"""How often we may call Telegram: one budget for each chat and one over all, in Redis, shared by all processes."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal

import structlog

from memory import keys
from memory.errors import MemoryFailure
from memory.redis.client import RedisClient, Script, load_script

log = structlog.get_logger()

Importance = Literal["final", "button", "edit", "typing"]
"""What a call is for. A final answer waits for its place; the rest is left out where there is no room for it."""

STORE_TIMEOUT_S = 1.0
"""A store that takes longer is treated as one that is away: better too fast for Telegram than not at all."""
LONGEST_SHORT_WAIT_S = 0.3
"""What is left out rather than queued may wait so long for a gap between the others' calls."""
HOLDS_KEPT = 1_000

_SCRIPTS = "bot.transport.scripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`calls` in any window of `window_s`, of which the kinds of less importance may fill so much."""

    calls: int
    window_s: float
    shares: Mapping[Importance, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Of one private chat, of one group, and of all chats: `slots` of one call each in a second.

    `busiest`: of the second that was and the one that comes, how many slots may be taken for a call to find room.
    """

    private: Budget
    group: Budget
    slots: int
    busiest: Mapping[Importance, int]


# core.telegram.org/bots/faq, "My bot is hitting limits": in one chat about one message a second with short bursts, in a
# group 20 a minute, 30 a second over all chats. Edits and typing count too (telegram.md). The shares leave room for
# what is more important: of a private chat's four in four seconds a draft takes three at most. With 29 slots no second
# sees more than 30 calls, wherever it begins.
OF_TELEGRAM = Budgets(
    private=Budget(calls=4, window_s=4, shares={"final": 4, "button": 4, "edit": 3, "typing": 2}),
    group=Budget(calls=20, window_s=60, shares={"final": 20, "button": 18, "edit": 13, "typing": 8}),
    slots=29,
    busiest={"final": 58, "button": 28, "edit": 22, "typing": 12},
)

_WIDE = Budget(calls=100, window_s=1, shares={"final": 100, "button": 90, "edit": 60, "typing": 30})
OF_THE_SIMULATOR = Budgets(
    private=_WIDE,
    group=_WIDE,
    slots=1000,
    busiest={"final": 2000, "button": 900, "edit": 600, "typing": 300},
)
"""The simulator has no limits unless it is told to: who tries the bot out by hand, or by a test, need not wait."""


class SendRates:
    """The budgets. A store that is away or slow never stops a send: then it goes at once."""

    def __init__(
        self, redis: RedisClient, budgets: Budgets = OF_TELEGRAM, *, clock: Callable[[], float] | None = None
    ) -> None:
        """`clock` in Unix seconds is for tests: by default Redis's own, so that all machines have one time."""
        self._redis = redis
        self._budgets = budgets
        self._clock = clock
        self._own_holds: OrderedDict[int, float] = OrderedDict()

    async def reserve(self, chat_id: int, importance: Importance) -> float | None:
        """Seconds until the place that the call now has: 0 to go at once. None: no room, leave it out.

        A "final" always gets a place, which may be far off; the others only one within LONGEST_SHORT_WAIT_S.
        After a wait ask `held`: the chat may have been held meanwhile.
        """
        budget = self._budgets.group if chat_id < 0 else self._budgets.private
        waits = importance == "final"
        left = self._own_hold(chat_id)
        if left > 0 and not waits:
            return None
        reply = await self._ask(
            load_script(_SCRIPTS, "reserve"),
            [keys.rates_prefix() + "all", *_chat_keys(chat_id)],
            [
                *(budget.shares[importance], budget.calls, int(budget.window_s * 1000)),
                *(self._budgets.busiest[importance], self._budgets.slots),
                *(-1 if waits else int(LONGEST_SHORT_WAIT_S * 1000), self._now()),
            ],
        )
        if reply is None:
            return left
        return None if reply < 0 else max(left, reply / 1000)

    async def hold(self, chat_id: int, retry_after: float) -> None:
        """Telegram asked to wait: no call for this chat has a place before that, in any process."""
        self._own_holds[chat_id] = monotonic() + retry_after
        self._own_holds.move_to_end(chat_id)
        while len(self._own_holds) > HOLDS_KEPT:
            self._own_holds.popitem(last=False)
        await self._ask(
            _hold_script(), [_chat_keys(chat_id)[1]], [math.ceil(retry_after * 1000), self._now()]
        )

    async def held(self, chat_id: int) -> float:
        """Seconds for which the chat is still held, 0 for none."""
        left = await self._ask(_hold_script(), [_chat_keys(chat_id)[1]], [0, self._now()])
        return max(self._own_hold(chat_id), (left or 0) / 1000)

    def _own_hold(self, chat_id: int) -> float:
        """What this process knows by itself, for when the store is away."""
        until = self._own_holds.get(chat_id, 0.0)
        return max(0.0, until - monotonic())

    def _now(self) -> str | int:
        return "" if self._clock is None else int(self._clock() * 1000)

    async def _ask(self, script: Script, keys_: Sequence[str], arguments: Sequence[str | int]) -> int | None:
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                return int(await self._redis.run(script, keys_, arguments))
        except (MemoryFailure, TimeoutError) as error:
            log.warning("rates_unknown", error=type(error).__name__)
            return None


def _hold_script() -> Script:
    return load_script(_SCRIPTS, "hold")


def _chat_keys(chat_id: int) -> tuple[str, str]:
    prefix = f"{keys.rates_prefix()}chat:{chat_id}"
    return prefix, f"{prefix}:hold"
