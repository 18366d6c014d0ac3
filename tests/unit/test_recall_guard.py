"""The guard of recall: its budget, the pause after two timeouts, and the probes that end it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from memory.breaker import Breaker, BreakerEvent
from memory.errors import RecallTimedOut, RecallUnavailable
from memory.recall import guard as guarding
from memory.recall.guard import RecallGuard

_BUDGET_S = 0.01


class Index:
    """An index that hangs, and a guard with short times."""

    def __init__(self) -> None:
        self.hangs = asyncio.Event()
        self.probes = 0
        self.most_at_once = 0
        self._at_once = 0
        self.guard = RecallGuard(self.answer, budget_s=_BUDGET_S)

    async def answer(self) -> None:
        self.probes += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await self.hangs.wait()
        finally:
            self._at_once -= 1

    async def search(self) -> type[Exception] | None:
        """Search. Return the raised error."""
        try:
            async with self.guard.in_time():
                await self.hangs.wait()
        except RecallUnavailable as error:
            return type(error)
        return None


async def wait_until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0)


@pytest.fixture
async def index(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Index]:
    monkeypatch.setattr(guarding, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(guarding, "_LONGEST_PAUSE_S", 0.04)
    monkeypatch.setattr(guarding, "_PROBE_BUDGET_S", 0.01)
    index = Index()
    yield index
    index.guard.close()


async def test_recall_pauses_after_two_timeouts_and_resumes_after_a_probe(index: Index) -> None:
    with capture_logs() as logs:
        assert (await index.search(), index.guard.is_paused) == (RecallTimedOut, False)
        assert (await index.search(), index.guard.is_paused) == (RecallTimedOut, True)
        began = asyncio.get_running_loop().time()
        assert [await index.search() for _ in range(100)] == [RecallTimedOut] * 100
        with pytest.raises(RecallTimedOut), index.guard.unless_paused():
            pytest.fail("a request was made while recall pauses")
        with pytest.raises(RecallTimedOut):
            await index.guard.probe()
        assert asyncio.get_running_loop().time() - began < 50 * _BUDGET_S
        await wait_until(lambda: index.probes == 4)
        assert index.most_at_once == 1
        index.hangs.set()
        await wait_until(lambda: not index.guard.is_paused)
    assert await index.search() is None
    assert [line["event"] for line in logs] == ["recall_paused", "recall_resumed"]


async def test_a_success_between_two_timeouts_keeps_recall_going(index: Index) -> None:
    for _ in range(3):
        assert await index.search() is RecallTimedOut
        index.hangs.set()
        assert await index.search() is None
        index.hangs.clear()
    assert not index.guard.is_paused


async def test_other_failures_of_the_index_never_pause_recall(index: Index) -> None:
    for _ in range(5):
        with suppress(RecallUnavailable):
            async with index.guard.in_time():
                raise RecallUnavailable
    assert not index.guard.is_paused


async def test_the_pauses_grow_until_a_request_succeeds_and_not_only_a_probe() -> None:
    now, pauses = 0.0, list[float]()

    def note(event: BreakerEvent, breaker: Breaker) -> None:
        if event in ("opened", "reopened"):
            pauses.append(breaker.pause_s)

    breaker = Breaker(
        opens_on=(RecallTimedOut,),
        failures_to_open=2,
        trusts_probes=False,
        first_s=1.0,
        longest_s=30.0,
        clock=lambda: now,
        notify=note,
    )

    def fail() -> None:
        with suppress(RecallTimedOut), breaker.guard():
            raise RecallTimedOut

    def succeed() -> None:
        with breaker.guard():
            pass

    fail()
    for _ in range(6):
        fail()
        now += breaker.wait_s
    succeed()  # the probe
    assert (pauses, breaker.is_open) == ([1, 2, 4, 8, 16, 30], False)
    fail()
    assert pauses[6:] == [30]
    now += breaker.wait_s
    succeed()
    succeed()
    fail()
    fail()
    assert pauses[7:] == [1]
