"""A worker's slots: a waiting context releases its slot."""

import asyncio

import pytest

from bot.inbox.isolation import Slots


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_waiting_context_releases_its_slot_and_gets_one_at_the_end() -> None:
    slots, rested, other_ends, seen = Slots(1), asyncio.Event(), asyncio.Event(), list[str]()

    async def resting() -> None:
        async with slots.work():
            async with slots.rest():
                await rested.wait()
            seen.append("back")

    async def other() -> None:
        async with slots.work():
            seen.append("other")
            await other_ends.wait()

    tasks = [asyncio.create_task(resting()), asyncio.create_task(other())]
    await _settle()
    assert seen == ["other"]
    rested.set()
    await _settle()
    assert seen == ["other"]
    other_ends.set()
    await asyncio.gather(*tasks)
    assert seen == ["other", "back"]


async def test_a_context_cancelled_before_it_gets_its_slot_back_adds_no_slot() -> None:
    slots, rested, ends = Slots(1), asyncio.Event(), asyncio.Event()

    async def resting() -> None:
        async with slots.work(), slots.rest():
            await rested.wait()

    async def other() -> None:
        async with slots.work():
            await ends.wait()

    tasks = [asyncio.create_task(resting()), asyncio.create_task(other())]
    await _settle()
    rested.set()
    await _settle()
    tasks[0].cancel()
    await _settle()
    assert tasks[0].cancelled()
    assert slots.resting == 0
    third = asyncio.create_task(other())
    await _settle()
    ends.set()
    async with asyncio.timeout(1):
        await asyncio.gather(tasks[1], third)
        async with slots.work():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), slots.work():
                    pass


async def test_a_context_cancelled_during_its_wait_ends_at_once_and_takes_no_slot() -> None:
    slots, ends = Slots(1), asyncio.Event()

    async def resting() -> None:
        async with slots.work(), slots.rest():
            await asyncio.Event().wait()

    async def other() -> None:
        async with slots.work():
            await ends.wait()

    tasks = [asyncio.create_task(resting()), asyncio.create_task(other())]
    await _settle()
    tasks[0].cancel()
    await _settle()
    assert (tasks[0].cancelled(), slots.resting) == (True, 0)
    ends.set()
    async with asyncio.timeout(1):
        await tasks[1]
        async with slots.work():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), slots.work():
                    pass


async def test_a_slot_is_kept_if_too_many_contexts_wait() -> None:
    slots = Slots(1, resting_at_most=0)

    async with slots.work(), slots.rest():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), slots.work():
                pass
