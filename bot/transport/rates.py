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

Importance = Literal["final", "button", "edit", "draft", "typing"]
"""Purpose of a call. A final answer waits for its place; other calls are dropped if there is no room."""

STORE_TIMEOUT_S = 1.0
"""Maximum wait for the store. After it the call goes at once: too fast for Telegram is better than not at all."""
LONGEST_SHORT_WAIT_S = 0.3
"""Maximum wait of a call that is dropped otherwise."""
CAREFUL_S = 300.0
"""Time after a 429 in which its chat gets smaller bursts."""
HOLDS_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Calls for one chat: a bucket of `burst` calls that gets one call back in each interval."""

    burst: int
    """Calls at once. A window of any length has at most these and one for each of its intervals."""
    careful: int
    """Calls at once after a 429, for CAREFUL_S."""
    interval_s: float
    late_s: float
    """Added to a wait: the call before may have travelled longer."""
    shares: Mapping[Importance, int]
    """Calls of a burst that each importance may use. What it must leave is for more important calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Calls for one private chat, for one group, and for all chats."""

    private: Budget
    group: Budget
    slots: int
    """Slots in a second, over all chats."""
    seats: int
    """Calls in each slot."""
    busiest: Mapping[Importance, int]
    """Maximum number of taken seats in the last and the next second, over all chats."""


# core.telegram.org/bots/faq, "My bot is hitting limits": about one message a second in one chat, with short bursts.
# In a group 20 a minute, over all chats 30 a second. Edits count as messages (tdlib/td issues 2592 and 3034). Drafts
# and typing are one other method of MTProto, messages.setTyping; they stay within what messages leave of the budget.
# 5 at once and one in 4 seconds are 20 a minute. A second meets at most 10 slots of 3 calls.
_SHARES: Mapping[Importance, int] = {"final": 5, "button": 4, "edit": 3, "draft": 3, "typing": 2}
OF_TELEGRAM = Budgets(
    private=Budget(burst=5, careful=2, interval_s=1, late_s=0.1, shares=_SHARES),
    group=Budget(burst=5, careful=2, interval_s=4, late_s=0.1, shares=_SHARES),
    slots=9,
    seats=3,
    busiest={"final": 60, "button": 28, "edit": 22, "draft": 22, "typing": 12},
)

_WIDE = Budget(
    burst=100,
    careful=50,
    interval_s=0.01,
    late_s=0,
    shares={"final": 100, "button": 90, "edit": 60, "draft": 60, "typing": 30},
)
OF_THE_SIMULATOR = Budgets(
    private=_WIDE,
    group=_WIDE,
    slots=100,
    seats=10,
    busiest={"final": 2000, "button": 900, "edit": 600, "draft": 600, "typing": 300},
)
"""The simulator has no limits by default, so that people and tests need not wait."""


@lua_script("bot.transport.scripts")
def reserve(rates_seats: Key, rates_bucket: Key, rates_hold: Key, ask: Mapping[str, int]) -> ScriptCall: ...


@lua_script("bot.transport.scripts")
def hold(rates_hold: Key, *, rates_counts: Key, wait: int, careful: int, now: int | None) -> ScriptCall: ...


class SendRates:
    """The budgets. If the store is away or slow, calls go at once."""

    def __init__(
        self, redis: RedisClient, budgets: Budgets = OF_TELEGRAM, *, clock: Callable[[], float] | None = None
    ) -> None:
        """`clock` in Unix seconds is for tests. By default Redis's clock counts, the same for all machines."""
        self._redis = redis
        self._budgets = budgets
        self._clock = clock or monotonic
        self._is_redis_time = clock is None
        self._own_holds: OrderedDict[int, float] = OrderedDict()
        self._late_places: OrderedDict[int, float] = OrderedDict()
        """By chat: the time of its last call, if that call had to wait."""

    async def reserve(self, chat_id: int, importance: Importance) -> float | None:
        """Reserve a place for a call; return the seconds until then, 0 for at once, None if there is no room.

        A "final" call always gets a place, maybe far off; the others only one within LONGEST_SHORT_WAIT_S. After a wait
        ask `held`, because the chat may have been held meanwhile.
        """
        if importance != "final" and self._own_hold(chat_id) > 0:
            return None
        return self.wait_in(await self._run(self.reservation(chat_id, importance)), chat_id)

    def reservation(self, chat_id: int, importance: Importance) -> ScriptCall:
        """Return the script of `reserve`, to run in another round trip. `wait_in` reads its reply."""
        budget = self._budgets.group if chat_id < 0 else self._budgets.private
        now = self._now()
        ask = {
            "bucket": 2 if importance in ("draft", "typing") else 1,
            "share": budget.shares[importance],
            "burst": budget.burst,
            "careful": budget.careful,
            "interval": int(budget.interval_s * 1000),
            "late": int(budget.late_s * 1000),
            "busiest": self._budgets.busiest[importance],
            "slots": self._budgets.slots,
            "seats": self._budgets.seats,
            "longest": -1 if importance == "final" else int(LONGEST_SHORT_WAIT_S * 1000),
            **({} if now is None else {"now": now}),
        }
        budget_keys = (
            global_key("{rates}:seats"),
            global_key("{rates}:bucket", chat_id),
            global_key("{rates}:hold", chat_id),
        )
        return reserve(*budget_keys, ask)

    def wait_in(self, reply: int | None, chat_id: int) -> float | None:
        """Return what `reserve` does, for the reply of its script: None if the store did not answer."""
        left = self._own_hold(chat_id)
        if reply is None:
            return left
        if reply > 0:
            _remember(self._late_places, chat_id, self._clock() + reply / 1000)
        return None if reply < 0 else max(left, reply / 1000)

    def seems_free(self, chat_id: int) -> bool:
        """Return True if a call for this chat need probably not wait. Only `reserve` knows."""
        budget = self._budgets.group if chat_id < 0 else self._budgets.private
        return self._clock() >= self._late_places.get(chat_id, -math.inf) + budget.interval_s

    async def hold(self, chat_id: int, retry_after: float) -> None:
        """Hold a chat after a 429 of Telegram: no process gets a place for it before `retry_after` seconds.

        For CAREFUL_S after that, its bursts are smaller.
        """
        _remember(self._own_holds, chat_id, self._clock() + retry_after)
        await self._run(self._hold_call(chat_id, math.ceil(retry_after * 1000)))

    async def held(self, chat_id: int) -> float:
        """Return the seconds for which the chat is still held, 0 if it is not."""
        left = await self._run(self._hold_call(chat_id, 0))
        return max(self._own_hold(chat_id), (left or 0) / 1000)

    def _hold_call(self, chat_id: int, wait_ms: int) -> ScriptCall:
        key, careful = global_key("{rates}:hold", chat_id), int(CAREFUL_S * 1000)
        counts = global_key("{rates}:counts")
        return hold(key, rates_counts=counts, wait=wait_ms, careful=careful, now=self._now())

    def _own_hold(self, chat_id: int) -> float:
        """Return the seconds of a hold by this process, for when the store is away."""
        until = self._own_holds.get(chat_id, 0.0)
        return max(0.0, until - self._clock())

    def _now(self) -> int | None:
        return None if self._is_redis_time else int(self._clock() * 1000)

    async def _run(self, call: ScriptCall) -> int | None:
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                return int(await self._redis.run(call))
        except (MemoryFailure, TimeoutError) as error:
            log.warning("rates_unknown", error=type(error).__name__)
            return None


def _remember(times: OrderedDict[int, float], chat_id: int, at: float) -> None:
    times[chat_id] = at
    times.move_to_end(chat_id)
    if len(times) > HOLDS_KEPT:
        times.popitem(last=False)
