"""The quarantine: who begins when, after workers have died."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.inbox.quarantine import Pace, Quarantine
from bot.inbox.records import Claim
from bot.inbox.slots import Slots
from tests.messages import a_ref

LONG_S = 60.0


class Bench:
    """Work that is begun in a quarantine and goes on until it is let go."""

    def __init__(self, pace: Pace, slots: int) -> None:
        self.slots = Slots(slots)
        self.quarantine = Quarantine(self.slots, pace)
        self.begun: list[str] = []
        self.let_in = 0
        self.may_note = asyncio.Event()
        self.may_note.set()
        self._gates: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, *, deaths: int, reprieved: int = 0, delivers: bool = False) -> None:
        self._gates[name] = asyncio.Event()
        claim = _claim(deaths, reprieved=reprieved, delivers=delivers)
        self._tasks[name] = asyncio.create_task(self._work(name, claim))
        await self.rest()

    async def begin_again(self, *, deaths: int) -> None:
        async with self.slots.work():
            await self.quarantine.begin_again(_claim(deaths))

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
        for _ in range(10):
            await asyncio.sleep(0)

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _let_in(self) -> None:
        self.let_in += 1
        await self.may_note.wait()

    async def _work(self, name: str, claim: Claim) -> None:
        async with self.slots.work(), self.quarantine.begin(claim, self._let_in):
            self.begun.append(name)
            await self._gates[name].wait()


def _claim(deaths: int, *, reprieved: int = 0, delivers: bool = False) -> Claim:
    return Claim(
        ref=a_ref(),
        entry="1-0",
        consumer="w",
        delivery="2" if deaths or delivers else "1",
        begun=deaths,
        reprieved=reprieved,
        delivers=delivers,
    )


@asynccontextmanager
async def bench(
    *,
    apart_s: float = LONG_S,
    lived_s: float = LONG_S,
    alone_s: float = LONG_S,
    shortest_s: float | None = None,
    open_s: float = 0.0,
    slots: int = 100,
) -> AsyncGenerator[Bench]:
    """`shortest_s`: as long as `lived_s` unless it is given."""
    pace = Pace(
        apart_s=apart_s,
        all_apart_s=LONG_S * 60,
        lived_s=lived_s,
        alone_s=alone_s,
        shortest_alone_s=lived_s if shortest_s is None else shortest_s,
        open_s=open_s,
    )
    made = Bench(pace, slots)
    try:
        yield made
    finally:
        await made.stop()


async def test_who_has_no_death_begins_at_once_beside_all_others() -> None:
    async with bench() as one:
        for name in ("a", "b", "c"):
            await one.start(name, deaths=0)

        assert one.begun == ["a", "b", "c"]


async def test_after_one_death_the_next_begins_when_the_last_has_ended() -> None:
    async with bench() as one:
        await one.start("a", deaths=1)
        await one.start("b", deaths=1)
        await one.start("fresh", deaths=0)
        assert one.begun == ["a", "fresh"]

        await one.end("a")
        assert one.begun == ["a", "fresh", "b"]


async def test_after_one_death_the_next_begins_a_little_later_though_the_last_goes_on() -> None:
    async with bench(apart_s=0.01) as one:
        await one.start("a", deaths=1)
        await one.start("b", deaths=1)
        assert one.begun == ["a"]

        await one.until_begun("a", "b")


async def test_those_who_are_to_be_alone_follow_on_each_other_for_a_while() -> None:
    async with bench() as one:
        for name, deaths in (("alone", 2), ("alone too", 2), ("fresh", 0)):
            await one.start(name, deaths=deaths)

        await one.end("alone")
        assert one.begun == ["alone", "alone too"]
        await one.end("alone too")
        assert one.begun == ["alone", "alone too", "fresh"]


async def test_after_two_deaths_nothing_is_begun_beside_it() -> None:
    async with bench(alone_s=0.0) as one:
        await one.start("alone", deaths=2)
        for name, deaths in (("fresh", 0), ("twice", 2)):
            await one.start(name, deaths=deaths)
        assert one.begun == ["alone"]

        await one.end("alone")
        assert one.begun == ["alone", "fresh"]
        await one.end("fresh")
        assert one.begun == ["alone", "fresh", "twice"]
        assert one.let_in == 0


async def test_who_is_alone_is_in_nobody_s_way_over_whom_one_worker_died() -> None:
    async with bench() as one:
        await one.start("alone", deaths=2)
        await one.start("once", deaths=1)

        assert (one.begun, one.let_in) == (["alone", "once"], 1)


async def test_an_answer_is_delivered_beside_who_is_alone() -> None:
    async with bench() as one:
        await one.start("alone", deaths=2)
        await one.start("an answer", deaths=0, delivers=True)

        assert one.begun == ["alone", "an answer"]


async def test_a_dead_letter_is_buried_beside_all_others() -> None:
    async with bench() as one:
        for name, deaths in (("once", 1), ("behind", 1), ("worn out", 3)):
            await one.start(name, deaths=deaths)

        assert one.begun == ["once", "worn out"]


async def test_who_survives_being_alone_holds_up_nobody_any_more() -> None:
    async with bench(lived_s=0.01, alone_s=0.01) as one:
        await one.start("alone", deaths=2)
        await one.start("twice", deaths=2)
        await one.start("fresh", deaths=0)

        await one.until_begun("alone", "twice", "fresh")
        assert one.let_in >= 1


async def test_others_are_begun_only_when_it_is_noted_that_they_are() -> None:
    async with bench(lived_s=0.0, alone_s=0.0) as one:
        one.may_note.clear()
        await one.start("alone", deaths=2)
        await one.start("fresh", deaths=0)
        await asyncio.sleep(0.01)
        assert (one.begun, one.let_in) == (["alone"], 1)

        one.may_note.set()
        await one.until_begun("fresh")


async def test_each_reprieve_doubles_the_time_alone() -> None:
    async with bench(lived_s=0.01, alone_s=0.0) as one:
        await one.start("reprieved", deaths=2, reprieved=20)
        await one.start("fresh", deaths=0)
        await asyncio.sleep(0.05)
        assert one.begun == ["reprieved"]


async def test_who_is_to_be_alone_waits_until_all_that_was_begun_has_lived_and_nothing_new_begins() -> None:
    async with bench() as one:
        await one.start("fresh", deaths=0)
        await one.start("twice", deaths=2)
        await one.start("behind", deaths=0)
        assert one.begun == ["fresh"]

        await one.end("fresh")
        assert one.begun == ["fresh", "twice"]
        await one.end("twice")
        assert one.begun == ["fresh", "twice", "behind"]


async def test_who_is_to_be_alone_begins_after_those_over_whom_one_worker_died() -> None:
    async with bench() as one:
        await one.start("once", deaths=1)
        await one.start("twice", deaths=2)
        await one.start("behind", deaths=1)
        assert one.begun == ["once"]

        await one.end("once")
        assert one.begun == ["once", "behind"]
        await one.end("behind")
        assert one.begun == ["once", "behind", "twice"]


async def test_who_has_lived_for_a_while_is_no_suspect_any_more_though_its_work_goes_on() -> None:
    async with bench(apart_s=0.0, lived_s=0.01) as one:
        await one.start("a long turn", deaths=1)
        await one.start("twice", deaths=2)

        await one.until_begun("a long turn", "twice")


async def test_those_who_are_to_be_alone_share_a_time() -> None:
    async with bench(shortest_s=0.0, alone_s=0.5) as one:
        for number in range(50):
            await one.start(f"{number}", deaths=2)
        begun_at = asyncio.get_running_loop().time()

        # Each for 0.5 s would be 25 s.
        await one.until_begun(*(f"{number}" for number in range(50)))
        assert asyncio.get_running_loop().time() - begun_at < 1.5


async def test_between_two_who_are_alone_there_is_time_to_claim_others() -> None:
    async with bench(alone_s=0.0, open_s=0.5) as one:
        await one.start("alone", deaths=2)
        await one.start("alone too", deaths=2)
        await one.end("alone")
        await one.quarantine.until_open()
        await one.start("claimed now", deaths=0)
        await one.start("and now", deaths=0)
        await one.end("claimed now")
        await one.end("and now")
        assert one.begun == ["alone", "claimed now", "and now"]

        await one.until_begun("alone too")


async def test_what_is_taken_over_then_does_not_wait_for_the_end_of_that_time() -> None:
    async with bench(alone_s=0.0, open_s=LONG_S) as one:
        await one.start("alone", deaths=2)
        await one.start("alone too", deaths=2)
        await one.start("once", deaths=1)
        await one.end("alone")

        assert one.begun == ["alone", "once"]


async def test_the_next_update_of_a_context_is_on_trial_too() -> None:
    async with bench(lived_s=0.02, alone_s=0.0) as one:
        assert one.quarantine.begin_next()
        await one.start("alone", deaths=2)
        assert one.begun == []
        assert not one.quarantine.begin_next()

        await one.until_begun("alone")


async def test_after_an_outage_nothing_begins_beside_who_is_alone() -> None:
    async with bench() as one:
        await one.start("alone", deaths=2)
        again = asyncio.create_task(one.begin_again(deaths=0))
        await one.rest()
        assert not again.done()
        await one.begin_again(deaths=2)  # who is alone itself goes on

        await one.end("alone")
        await again


async def test_who_waits_lends_its_slot() -> None:
    """Else those whom a crash has left would keep a worker from all others, though it is open to them."""
    async with bench(lived_s=0.01, alone_s=0.0, open_s=LONG_S, slots=2) as one:
        for number in range(4):
            await one.start(f"alone {number}", deaths=2)
        await one.start("fresh", deaths=0)
        assert (one.begun, one.slots.resting) == (["alone 0"], 4)

        await one.until_begun("alone 0", "fresh")
        assert one.slots.resting == 3


async def test_who_is_alone_begins_in_a_slot_and_nobody_else_before_it_has_one() -> None:
    async with bench(lived_s=0.0, alone_s=0.0, slots=1) as one:
        await one.start("a long turn", deaths=0)
        await one.start("alone", deaths=2)
        await one.start("fresh", deaths=0)
        await asyncio.sleep(0.01)
        assert one.begun == ["a long turn"]

        await one.end("a long turn")
        assert one.begun == ["a long turn", "alone"]
        await one.end("alone")
        assert one.begun == ["a long turn", "alone", "fresh"]


async def test_who_is_cancelled_holds_up_nobody() -> None:
    async with bench() as one:
        await one.start("once", deaths=1)
        await one.start("waits", deaths=2)
        await one.start("behind", deaths=1)
        await one.cancel("waits")
        await one.cancel("once")
        assert one.begun == ["once", "behind"]

        await one.cancel("behind")
        await one.start("alone", deaths=2)
        await one.cancel("alone")
        await one.start("fresh", deaths=0)
        assert one.begun[-2:] == ["alone", "fresh"]
