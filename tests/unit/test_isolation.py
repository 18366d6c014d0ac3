"""Isolation: the start of updates after workers have died."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bot.inbox import isolation
from bot.inbox.isolation import Isolation, Slots
from bot.inbox.records import GROUP, Claim, Fence
from tests.messages import make_ref

LONG_S = 60.0
SHORT_S = 0.01


class BusyInbox:
    """An inbox whose contexts always have more updates, unless they go to the end of the line."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool:
        await self.answers.wait()
        return not rotate


class Bench:
    """Work that starts when the isolation allows it, and runs until it is ended."""

    def __init__(self, slots: int) -> None:
        self.slots = Slots(slots)
        self.inbox = BusyInbox()
        self.isolation = Isolation(self.inbox, self.slots)
        self.begun: list[str] = []
        self.survivals = 0
        self.may_store = asyncio.Event()
        self.may_store.set()
        self._gates: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, *, deaths: int) -> None:
        self._gates[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._work(name, _claim(name, deaths)))
        await self.rest()

    async def end(self, name: str) -> None:
        self._gates[name].set()
        await self._tasks[name]
        await self.rest()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await self.rest()

    async def until_begun(self, *names: str) -> None:
        async with asyncio.timeout(5):
            while not set(names) <= set(self.begun):  # noqa: ASYNC110 - it has no event to wait on
                await asyncio.sleep(0.001)

    async def rest(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _let_others_in(self) -> None:
        self.survivals += 1
        await self.may_store.wait()

    async def _work(self, name: str, claim: Claim) -> None:
        async with self.isolation.begin(claim, self._let_others_in):
            self.begun.append(name)
            await self._gates[name].wait()


def _claim(name: str, deaths: int) -> Claim:
    fence = Fence(group=GROUP, consumer="w", entry=name, delivery=str(1 + deaths))
    return Claim(ref=make_ref(), fence=fence, deaths=deaths)


@asynccontextmanager
async def bench(
    monkeypatch: pytest.MonkeyPatch,
    *,
    survived_s: float = SHORT_S,
    alone_s: float = LONG_S,
    shortest_s: float = SHORT_S,
    open_s: float = 0.0,
    slots: int = 100,
) -> AsyncGenerator[Bench]:
    for name, seconds in (
        ("SURVIVED_S", survived_s),
        ("ALONE_S", alone_s),
        ("SHORTEST_ALONE_S", shortest_s),
        ("OPEN_S", open_s),
    ):
        monkeypatch.setattr(isolation, name, seconds)
    made = Bench(slots)
    try:
        yield made
    finally:
        await made.stop()


async def test_updates_without_a_death_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch) as one:
        for name in ("a", "b", "c"):
            await one.start(name, deaths=0)

        assert one.begun == ["a", "b", "c"]


async def test_after_two_deaths_nothing_starts_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch) as one:
        await one.start("alone", deaths=2)
        await one.start("fresh", deaths=0)
        assert one.begun == ["alone"]

        await one.end("alone")
        assert one.begun == ["alone", "fresh"]
        assert one.survivals == 0


async def test_isolated_updates_start_one_after_the_other_before_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(monkeypatch) as one:
        for name, deaths in (("alone", 2), ("alone too", 2), ("fresh", 0)):
            await one.start(name, deaths=deaths)
        assert one.begun == ["alone"]

        await one.end("alone")
        assert one.begun == ["alone", "alone too"]
        await one.end("alone too")
        assert one.begun == ["alone", "alone too", "fresh"]


async def test_an_isolated_update_waits_until_earlier_work_has_survived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(monkeypatch, survived_s=0.05) as one:
        await one.start("a long turn", deaths=0)
        await one.start("alone", deaths=2)
        await one.start("fresh", deaths=0)
        assert one.begun == ["a long turn"]

        await one.until_begun("alone")
        assert one.begun == ["a long turn", "alone"]


async def test_a_surviving_isolated_update_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch, alone_s=0.02) as one:
        await one.start("alone", deaths=2)
        await one.start("alone too", deaths=2)
        await one.start("fresh", deaths=0)

        await one.until_begun("alone", "alone too", "fresh")
        assert one.survivals >= 1


async def test_others_start_after_the_survival_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch, alone_s=0.0, shortest_s=0.0) as one:
        one.may_store.clear()
        await one.start("alone", deaths=2)
        await one.start("fresh", deaths=0)
        await asyncio.sleep(0.05)
        assert (one.begun, one.survivals) == (["alone"], 1)

        one.may_store.set()
        await one.until_begun("fresh")


async def test_each_inconclusive_death_doubles_the_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch, alone_s=0.0) as one:
        await one.start("suspect", deaths=22)
        await one.start("fresh", deaths=0)
        await asyncio.sleep(0.05)
        assert one.begun == ["suspect"]


async def test_isolated_updates_share_one_period(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch, shortest_s=0.0, alone_s=0.5) as one:
        for number in range(50):
            await one.start(f"{number}", deaths=2)
        begun_at = asyncio.get_running_loop().time()

        # Each for 0.5 s would be 25 s.
        await one.until_begun(*(f"{number}" for number in range(50)))
        assert asyncio.get_running_loop().time() - begun_at < 2.5


async def test_between_two_isolated_periods_others_start(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch, alone_s=0.0, open_s=0.2) as one:
        await one.start("alone", deaths=2)
        await one.start("alone too", deaths=2)
        await one.end("alone")
        async with one.isolation.slot():
            pass
        await one.start("claimed now", deaths=0)
        await one.start("and now", deaths=0)
        assert one.begun == ["alone", "claimed now", "and now"]

        await one.until_begun("alone too")


async def test_during_an_isolation_a_context_with_more_updates_goes_to_the_end_of_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(monkeypatch) as one:
        assert await one.isolation.settle(_claim("a", 0))
        await one.start("alone", deaths=2)
        await one.until_begun("alone")

        assert not await one.isolation.settle(_claim("b", 0))


async def test_an_isolation_that_begins_during_a_settlement_sends_the_context_to_the_end_of_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(monkeypatch) as one:
        one.inbox.answers.clear()
        settling = asyncio.create_task(one.isolation.settle(_claim("a", 0)))
        await one.rest()
        await one.start("alone", deaths=2)
        one.inbox.answers.set()

        assert not await settling


async def test_nothing_starts_in_a_slot_that_becomes_free_during_an_isolation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(monkeypatch, slots=2) as one:
        await one.start("a turn", deaths=0)
        await one.start("another", deaths=0)
        await one.start("fresh", deaths=0)
        await one.start("alone", deaths=2)
        await one.end("a turn")
        assert one.begun == ["a turn", "another", "fresh"]
        await one.end("another")
        await one.until_begun("alone")
        await one.start("behind", deaths=0)
        await one.end("fresh")
        assert one.begun == ["a turn", "another", "fresh", "alone"]

        await one.end("alone")
        assert one.begun[-1] == "behind"


async def test_a_cancelled_update_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(monkeypatch) as one:
        await one.start("alone", deaths=2)
        await one.start("waits", deaths=2)
        await one.start("fresh", deaths=0)
        await one.cancel("waits")
        assert one.begun == ["alone"]
        await one.cancel("alone")
        assert one.begun == ["alone", "fresh"]
