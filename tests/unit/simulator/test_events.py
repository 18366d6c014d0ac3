"""The page's feed of events."""

import asyncio

import pytest

from simulator.api.events import MAX_BACKLOG, Event, EventFeed

pytestmark = pytest.mark.slow


async def read(feed: EventFeed, after: int | None, count: int) -> list[Event | None]:
    got: list[Event | None] = []
    async with asyncio.timeout(2):
        async for event in feed.read(after, keep_alive_s=0.01):
            got.append(event)
            if len(got) == count:
                break
    return got


async def test_a_reader_resumes_after_its_last_event() -> None:
    feed = EventFeed(first_id=10)
    for name in "abc":
        feed.publish(name)
    assert await read(feed, 11, 2) == [Event(12, {"type": "b"}), Event(13, {"type": "c"})]


async def test_a_new_reader_gets_only_new_events() -> None:
    feed = EventFeed(first_id=0)
    feed.publish("old")
    reading = asyncio.create_task(read(feed, None, 1))
    await asyncio.sleep(0)
    feed.publish("new", text="x")
    assert await reading == [Event(2, {"type": "new", "text": "x"})]


async def test_a_reader_with_a_lost_position_is_told_to_reload() -> None:
    feed = EventFeed(first_id=0)
    for _ in range(MAX_BACKLOG + 5):
        feed.publish("x")
    assert await read(feed, 3, 1) == [Event(MAX_BACKLOG + 5, {"type": "world"})]


async def test_a_reader_of_an_earlier_run_is_told_to_reload() -> None:
    assert await read(EventFeed(first_id=100), 7, 1) == [Event(100, {"type": "world"})]


async def test_a_silent_feed_sends_heartbeats() -> None:
    assert await read(EventFeed(first_id=0), None, 2) == [None, None]


async def test_closing_ends_every_reader() -> None:
    feed = EventFeed(first_id=0)
    reading = asyncio.create_task(read(feed, None, 1_000))
    await asyncio.sleep(0)
    feed.close()
    assert not [event for event in await reading if event is not None]
