"""Group commit: concurrent calls share a round trip, and each caller gets its own result."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.inbox.redis_inbox import CALLS_PER_TRIP, TRIPS_AT_ONCE, GroupCommit
from memory.errors import CommandRefused, StoreUnavailable
from memory.redis.lua import Script, ScriptCall


@dataclass(slots=True)
class Store:
    """A store that repeats each call's argument, "no" as a failure, while `open` is set.

    It records the calls of each trip.
    """

    open: asyncio.Event = field(default_factory=asyncio.Event)
    trips: list[list[Any]] = field(default_factory=list[list[Any]])
    failure: Exception | None = None

    async def run_all(self, calls: Sequence[ScriptCall]) -> list[Any]:
        words = [call.arguments[0] for call in calls]
        self.trips.append(words)
        await self.open.wait()
        if self.failure is not None:
            raise self.failure
        return [CommandRefused("no") if word == "no" else word for word in words]


def make_call(word: str | int) -> ScriptCall:
    return ScriptCall(script=Script(name="say", text="", sha=""), keys=["k"], arguments=[word])


async def underway(store: Store, group: GroupCommit) -> list[asyncio.Task[Any]]:
    """Start as many trips as may run at once, each with one call."""
    calls = [group.run(make_call(f"first {number}")) for number in range(TRIPS_AT_ONCE)]
    return [await begun(store, asyncio.create_task(call)) for call in calls]


async def begun(store: Store, caller: asyncio.Task[Any]) -> asyncio.Task[Any]:
    """Return the caller after the next trip has started."""
    seen = len(store.trips)
    while len(store.trips) == seen:  # noqa: ASYNC110 - the next turn of the loop is what is waited for
        await asyncio.sleep(0)
    return caller


async def test_a_call_starts_at_once_and_later_ones_share_the_next_trip() -> None:
    store = Store()
    group = GroupCommit(store.run_all)
    first = await underway(store, group)
    later = [asyncio.create_task(group.run(make_call(number))) for number in range(10)]
    await asyncio.sleep(0)
    store.open.set()
    assert await asyncio.gather(*first, *later) == [*(f"first {n}" for n in range(TRIPS_AT_ONCE)), *range(10)]
    assert store.trips[TRIPS_AT_ONCE:] == [list(range(10))]


async def test_a_trip_has_a_maximum_number_of_calls() -> None:
    store = Store()
    group = GroupCommit(store.run_all)
    first = await underway(store, group)
    later = [asyncio.create_task(group.run(make_call(number))) for number in range(CALLS_PER_TRIP + 1)]
    await asyncio.sleep(0)
    store.open.set()
    await asyncio.gather(*first, *later)
    assert max(map(len, store.trips)) == CALLS_PER_TRIP


async def test_a_failed_script_fails_only_its_caller() -> None:
    store = Store()
    store.open.set()
    group = GroupCommit(store.run_all)
    good, bad = await asyncio.gather(
        group.run(make_call("yes")), group.run(make_call("no")), return_exceptions=True
    )
    assert good == "yes"
    assert isinstance(bad, CommandRefused)


async def test_a_failed_trip_fails_all_its_calls_and_the_next_one_works() -> None:
    store = Store(failure=StoreUnavailable())
    store.open.set()
    group = GroupCommit(store.run_all)
    failed = await asyncio.gather(*(group.run(make_call(n)) for n in range(5)), return_exceptions=True)
    assert [type(one) for one in failed] == [StoreUnavailable] * 5
    store.failure = None
    assert await group.run(make_call("again")) == "again"


async def test_an_internal_error_leaves_no_caller_waiting() -> None:
    store = Store(failure=ZeroDivisionError())
    store.open.set()
    with pytest.raises(ZeroDivisionError):
        await GroupCommit(store.run_all).run(make_call("yes"))


async def test_a_cancelled_caller_does_not_disturb_the_others_of_its_trip() -> None:
    store = Store()
    group = GroupCommit(store.run_all)
    first = await underway(store, group)
    gone, stays = (asyncio.create_task(group.run(make_call(word))) for word in ("gone", "stays"))
    await asyncio.sleep(0)
    gone.cancel()
    store.open.set()
    await asyncio.wait([gone, *first])
    assert gone.cancelled()
    assert await stays == "stays"


async def test_no_call_is_left_behind_when_all_trips_end() -> None:
    store = Store()
    group = GroupCommit(store.run_all)

    async def call_twice() -> Any:
        await group.run(make_call("first"))
        return await group.run(make_call("again"))

    again = await begun(store, asyncio.create_task(call_twice()))
    others = [
        await begun(store, asyncio.create_task(group.run(make_call(n)))) for n in range(1, TRIPS_AT_ONCE)
    ]
    store.open.set()
    async with asyncio.timeout(5):
        assert await again == "again"
    await asyncio.gather(*others)
