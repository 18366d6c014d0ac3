"""The rate budgets under any order of calls from two processes.

No window exceeds its limit, and no other call delays an answer.
"""

import asyncio
from dataclasses import dataclass, field
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from bot.transport.rates import LONGEST_SHORT_WAIT_S, OF_TELEGRAM, Budget, Importance, SendRates
from memory.redis.client import RedisClient, open_redis
from tests.contract.test_rates import Clock, largest_burst, most_in_a_window

CHATS = (1, 2, -3)
ROUNDED_S = 0.002

calls = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.02, 0.4, 1.0, 3.0, 20.0]),  # seconds since the calls before
        st.sampled_from(CHATS),
        st.lists(st.sampled_from(get_args(Importance)), min_size=1, max_size=6),  # at this moment
        st.integers(0, 1),  # the process that asks
        st.sampled_from([0.0] * 15 + [2.0]),  # seconds of a 429 that came just before
    ),
    min_size=5,
    max_size=20,
)

Asked = list[tuple[float, int, list[Importance], int, float]]


@dataclass(slots=True, kw_only=True)
class Chat:
    """The places that one chat got, and the limits that its budget sets to them."""

    budget: Budget
    messages: list[float] = field(default_factory=list[float])
    after_a_429: list[float] = field(default_factory=list[float])
    calls: list[float] = field(default_factory=list[float])
    held_until: float = 0.0
    answer_due: float = 0.0
    """The time of the next answer if answers had no bursts, and no other calls existed."""

    def hold(self, now: float, seconds: float) -> None:
        """Note a 429. The answers that are left of a burst come later then."""
        self.held_until = max(self.held_until, now + seconds)
        lost = (self.budget.burst - self.budget.careful) * self.budget.interval_s
        self.answer_due = max(self.answer_due, self.held_until) + lost

    def take(self, importance: Importance, now: float, at: float, *, crowd_s: float) -> None:
        """Note a place and check it. Calls of all chats may take `crowd_s` until there is a free slot."""
        assert at >= max(now, self.held_until) - ROUNDED_S
        if importance == "final":
            due = max(now, self.held_until, self.answer_due)
            assert at <= due + self.budget.late_s + LONGEST_SHORT_WAIT_S + crowd_s
            self.answer_due = due + self.budget.interval_s
        if importance in ("draft", "typing"):
            share = self.budget.shares[importance]
            for first, start in enumerate(sorted(self.calls)):
                within = sum(start <= each <= at for each in self.calls) + 1 if start <= at else 0
                assert within <= share + (at - start + ROUNDED_S) / self.budget.interval_s, first
        else:
            self.messages.append(at)
            if self.held_until:
                self.after_a_429.append(at)
        self.calls.append(at)

    def check(self) -> None:
        """Check all windows of the messages."""
        interval_s, rounded = self.budget.interval_s, ROUNDED_S / self.budget.interval_s
        if self.messages:
            assert largest_burst(self.messages, interval_s) <= self.budget.burst + rounded
        if self.after_a_429:
            assert largest_burst(self.after_a_429, interval_s) <= self.budget.careful + rounded


def test_no_window_exceeds_its_budget_and_no_other_call_delays_an_answer(redis_url: str) -> None:
    @given(calls)
    def play(asked: Asked) -> None:
        asyncio.run(_play(redis_url, asked))

    play()


async def _play(redis_url: str, asked: Asked) -> None:
    async with open_redis(redis_url) as first, open_redis(redis_url) as second:
        await first.call("FLUSHALL")
        chats = await _ask((first, second), asked)
        await first.call("FLUSHALL")
    for chat in chats.values():
        chat.check()
    assert most_in_a_window([at for chat in chats.values() for at in chat.calls], 1) <= 30
    assert all(most_in_a_window(chat.messages, 60) <= 20 for chat_id, chat in chats.items() if chat_id < 0)


async def _ask(stores: tuple[RedisClient, RedisClient], asked: Asked) -> dict[int, Chat]:
    clock = Clock()
    machines = [SendRates(redis, clock=clock) for redis in stores]
    chats = {chat: Chat(budget=OF_TELEGRAM.group if chat < 0 else OF_TELEGRAM.private) for chat in CHATS}
    for gap, chat, importances, machine, held in asked:
        clock.now += gap
        if held:
            await machines[1 - machine].hold(chat, held)
            chats[chat].hold(clock.now, held)
        for importance in importances:
            wait = await machines[machine].reserve(chat, importance)
            if wait is None:
                assert importance != "final"
                continue
            crowd = sum(at > clock.now - 1 for chat in chats.values() for at in chat.calls)
            crowd_s = (1 + crowd / OF_TELEGRAM.seats) / OF_TELEGRAM.slots
            chats[chat].take(importance, clock.now, clock.now + wait, crowd_s=crowd_s)
    return chats
