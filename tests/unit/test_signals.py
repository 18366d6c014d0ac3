"""Signals of the control stream for claimed contexts."""

import asyncio
from typing import cast

import pytest

from bot.inbox.records import Signal
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.signals import Signals
from memory.errors import StoreUnavailable
from tests.contract.inbox_kit import eventually


class Lane:
    """A fake control stream that fails as often as the test says."""

    def __init__(self, *, failures: int = 0) -> None:
        self.failures = failures
        self.entries: list[tuple[str, Signal]] = []
        self.read_to = 0
        self.news = asyncio.Event()

    def add(self, context_id: str, update_id: int) -> None:
        self.entries.append((context_id, Signal(kind="stop", update_id=update_id)))
        self.news.set()

    async def last_signal(self, partition: int) -> str:
        return str(len(self.entries))

    async def signals(
        self, partition: int, *, after: str, wait_ms: int
    ) -> tuple[str, list[tuple[str, Signal]]]:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable
        await self.news.wait()
        self.news.clear()
        self.read_to = len(self.entries)
        return str(self.read_to), self.entries[int(after) :]


def signals_of(lane: Lane) -> Signals:
    return Signals(cast(RedisInbox, lane))


async def heard_by(incoming_of: Signals, lane: Lane) -> list[int]:
    with incoming_of.watch("ours") as ours, incoming_of.watch("another"):
        listening = asyncio.create_task(incoming_of.listen(0))
        await asyncio.sleep(0)
        for context_id, update_id in (("ours", 1), ("others", 2), ("another", 3), ("ours", 4)):
            lane.add(context_id, update_id)
        heard = [(await ours.get()).update_id, (await ours.get()).update_id]
        listening.cancel()
        await asyncio.wait([listening])
    return heard


async def test_a_context_gets_its_own_signals_in_order() -> None:
    lane = Lane()

    assert await heard_by(signals_of(lane), lane) == [1, 4]


async def test_a_stream_is_read_on_after_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.inbox.signals.PAUSE_S", 0.001)
    lane = Lane(failures=2)

    assert await heard_by(signals_of(lane), lane) == [1, 4]


async def test_a_context_gets_no_signals_after_its_watch() -> None:
    lane = Lane()
    signals = signals_of(lane)
    with signals.watch("ours") as ours:
        pass
    listening = asyncio.create_task(signals.listen(0))
    await asyncio.sleep(0)
    lane.add("ours", 1)
    await eventually(lambda: lane.read_to == 1)
    listening.cancel()
    await asyncio.wait([listening])

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.005):
            await ours.get()
