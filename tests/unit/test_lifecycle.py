"""The end of a process: it takes a bounded time even if something hangs."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import pytest

from bot.app import lifecycle
from bot.app.lifecycle import background, bounded, spawn

_HANGS_IN_A_THREAD = """
import asyncio, threading
from bot.app import lifecycle

lifecycle.KILL_AFTER_S = 0.3

async def live():
    with lifecycle.signals(None) as stopping:
        print("ready", flush=True)
        await stopping.wait()
    await asyncio.to_thread(threading.Event().wait)

asyncio.run(live())
"""


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "END_WITHIN_S", 0.1)
    monkeypatch.setattr(lifecycle, "_LAST_WORDS_S", 0.1)


async def test_work_that_hangs_after_the_stop_is_cancelled() -> None:
    stopping, was_cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await stopping.wait()
        try:
            await asyncio.Event().wait()
        finally:
            was_cancelled.set()

    await _stopped(stopping, work())

    assert was_cancelled.is_set()


async def test_work_that_ignores_cancellation_is_not_waited_for() -> None:
    stopping, release = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await release.wait()

    await _stopped(stopping, work())

    release.set()


async def test_nothing_is_bounded_before_the_stop() -> None:
    stopping, done = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(bounded(stopping, _until(done), name="work"))

    ended, _ = await asyncio.wait([running], timeout=0.3)

    assert not ended
    done.set()
    await running


async def test_a_failure_is_raised() -> None:
    async def work() -> None:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await bounded(asyncio.Event(), work(), name="work")


async def test_background_tasks_end_concurrently() -> None:
    ending = 0
    together = asyncio.Event()

    async def work() -> None:
        nonlocal ending
        try:
            await asyncio.Event().wait()
        finally:
            ending += 1
            if ending == 3:
                together.set()
            await together.wait()

    async with asyncio.timeout(2), background() as tasks:
        tasks += [spawn(work(), f"work-{number}") for number in range(3)]
        await asyncio.wait(tasks, timeout=0.01)

    assert ending == 3


async def test_a_process_with_a_hanging_thread_is_killed() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _HANGS_IN_A_THREAD,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(20):
            assert await process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGTERM)
            _, told = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()

    assert process.returncode == 1
    assert b"Timeout" in told


async def _stopped(stopping: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Start work and stop it at once. Return at its end or its bound."""
    asyncio.get_running_loop().call_soon(stopping.set)
    async with asyncio.timeout(2):
        await bounded(stopping, work, name="work")


async def _until(event: asyncio.Event) -> None:
    await event.wait()
