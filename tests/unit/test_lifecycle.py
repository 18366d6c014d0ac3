"""The end of a process: it takes a bounded time even if something hangs."""

import asyncio
import platform
import resource
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

_FREES_WITH_HOLES = """
from pathlib import Path
from bot.app.lifecycle import return_free_memory, tune_allocator

tune_allocator()
held = [bytearray(100_000) for _ in range(1_000)]
del held[::2]
print(Path("/proc/self/statm").read_text().split()[1])
return_free_memory()
print(Path("/proc/self/statm").read_text().split()[1])
"""

_ALLOCATES_IN_THREADS = """
import ctypes, tempfile, threading
from bot.app.lifecycle import tune_allocator

tune_allocator()
library, barrier, blocks = ctypes.CDLL(None), threading.Barrier(8), []

def allocate():
    barrier.wait()
    blocks.append(library.malloc(1_000))
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fopen.restype, library.malloc_info.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
library.fclose.argtypes = (ctypes.c_void_p,)
with tempfile.NamedTemporaryFile() as told:
    stream = library.fopen(told.name.encode(), b"w")
    library.malloc_info(0, stream)
    library.fclose(stream)
    print(told.read().count(b"<heap nr="))
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives pages between used ones back")
async def test_free_pages_between_used_ones_go_back_to_the_system() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _FREES_WITH_HOLES, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    before, after = map(int, told.split())

    assert process.returncode == 0
    assert (before - after) * resource.getpagesize() > 40_000_000, "500 blocks of 100 kB were free"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
async def test_threads_share_two_arenas() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ALLOCATES_IN_THREADS, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()

    assert process.returncode == 0
    assert int(told) <= 2


async def _stopped(stopping: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Start work and stop it at once. Return at its end or its bound."""
    asyncio.get_running_loop().call_soon(stopping.set)
    async with asyncio.timeout(2):
        await bounded(stopping, work, name="work")


async def _until(event: asyncio.Event) -> None:
    await event.wait()
