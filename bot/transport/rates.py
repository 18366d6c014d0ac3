"""Rate limits for calls to Telegram: one budget per chat and one for all chats, in Redis, shared by all processes."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Literal

import structlog

from memory.errors import MemoryFailure
from memory.keys import Key, global_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

log = structlog.get_logger()

Importance = Literal["final", "button", "edit", "typing"]
"""Purpose of a call. A final answer waits for its place; other calls are dropped if there is no room."""

STORE_TIMEOUT_S = 1.0
"""Maximum wait for the store. After it the call goes at once: too fast for Telegram is better than not at all."""
LONGEST_SHORT_WAIT_S = 0.3
"""Maximum wait of a call that is dropped otherwise."""
HOLDS_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Calls for one chat."""

    calls: int
    """Calls in any window."""
    window_s: float
    shares: Mapping[Importance, int]
    """Calls of a window that each importance may fill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Calls for one private chat, for one group, and for all chats."""

    private: Budget
    group: Budget
    slots: int
    """Slots of one call each in a second, over all chats."""
    busiest: Mapping[Importance, int]
    """Maximum number of taken slots in the last and the next second, over all chats."""


# core.telegram.org/bots/faq, "My bot is hitting limits": about one message a second in one chat, with short bursts.
# In a group 20 a minute, over all chats 30 a second. Edits and typing count too. The shares leave room for important
# calls: of the four calls in four seconds of a private chat, a draft takes at most three. With 29 slots, no second
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
"""The simulator has no limits by default, so that people and tests need not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """Argument of `reserve.lua`, with times in ms."""

    share: int
    size: int
    window: int
    busiest: int
    slots: int
    longest: int
    now: int | None


@lua_script("bot.transport.scripts")
def reserve(rates_all: Key, rates_chat: Key, rates_hold: Key, ask: _Ask) -> ScriptCall: ...


@lua_script("bot.transport.scripts")
def hold(rates_hold: Key, *, wait: int, now: int | None) -> ScriptCall: ...


class SendRates:
    """The budgets. If the store is away or slow, calls go at once."""

    def __init__(
        self, redis: RedisClient, budgets: Budgets = OF_TELEGRAM, *, clock: Callable[[], float] | None = None
    ) -> None:
        """`clock` in Unix seconds is for tests. By default Redis's clock counts, the same for all machines."""
        self._redis = redis
        self._budgets = budgets
        self._clock = clock
        self._own_holds: OrderedDict[int, float] = OrderedDict()

    async def reserve(self, chat_id: int, importance: Importance) -> float | None:
        """Reserve a place for a call; return the seconds until then, 0 for at once, None if there is no room.

        A "final" call always gets a place, maybe far off; the others only one within LONGEST_SHORT_WAIT_S. After a wait
        ask `held`, because the chat may have been held meanwhile.
        """
        budget = self._budgets.group if chat_id < 0 else self._budgets.private
        waits = importance == "final"
        left = self._own_hold(chat_id) if self._own_holds else 0.0
        if left > 0 and not waits:
            return None
        ask = _Ask(
            share=budget.shares[importance],
            size=budget.calls,
            window=int(budget.window_s * 1000),
            busiest=self._budgets.busiest[importance],
            slots=self._budgets.slots,
            longest=-1 if waits else int(LONGEST_SHORT_WAIT_S * 1000),
            now=self._now(),
        )
        budget_keys = (
            global_key("{rates}:all"),
            global_key("{rates}:chat", chat_id),
            global_key("{rates}:hold", chat_id),
        )
        reply = await self._run(reserve(*budget_keys, ask))
        if reply is None:
            return left
        return None if reply < 0 else max(left, reply / 1000)

    async def hold(self, chat_id: int, retry_after: float) -> None:
        """Hold a chat after a 429 of Telegram: no process gets a place for it before `retry_after` seconds."""
        self._own_holds[chat_id] = monotonic() + retry_after
        self._own_holds.move_to_end(chat_id)
        while len(self._own_holds) > HOLDS_KEPT:
            self._own_holds.popitem(last=False)
        await self._run(
            hold(global_key("{rates}:hold", chat_id), wait=math.ceil(retry_after * 1000), now=self._now())
        )

    async def held(self, chat_id: int) -> float:
        """Return the seconds for which the chat is still held, 0 if it is not."""
        left = await self._run(hold(global_key("{rates}:hold", chat_id), wait=0, now=self._now()))
        return max(self._own_hold(chat_id), (left or 0) / 1000)

    def _own_hold(self, chat_id: int) -> float:
        """Return the seconds of a hold by this process, for when the store is away."""
        until = self._own_holds.get(chat_id, 0.0)
        return max(0.0, until - monotonic())

    def _now(self) -> int | None:
        return None if self._clock is None else int(self._clock() * 1000)

    async def _run(self, call: ScriptCall) -> int | None:
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                return int(await self._redis.run(call))
        except (MemoryFailure, TimeoutError) as error:
            log.warning("rates_unknown", error=type(error).__name__)
            return None
