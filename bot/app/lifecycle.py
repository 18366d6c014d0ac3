"""Life of a process: the signals that end it, its background tasks, and the wait for either."""

import asyncio
import ctypes
import faulthandler
import gc
import os
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import structlog

log = structlog.get_logger()

END_WITHIN_S = 18.0
"""Work that still runs this long after the stop is cancelled."""
KILL_AFTER_S = 19.5
"""If the process still runs, because a thread hangs, it is killed."""
_LAST_WORDS_S = 0.5
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt(3) in glibc."""
_ARENAS_AT_MOST = 2
_LARGE_BYTES = 256 * 1024
RETURN_EVERY_S = 60.0
"""Pause between two returns of free memory. Each takes 0.3 ms, more on a loaded machine."""


@contextmanager
def signals(given: asyncio.Event | None) -> Generator[asyncio.Event]:
    """Yield an event that SIGTERM and SIGINT set, or the caller's own event if there is one.

    After a signal the process has KILL_AFTER_S to end. Then it is killed, with its stacks on stderr.
    """
    if given is not None:
        yield given
        return
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if not stopping.is_set():
            stopping.set()
            faulthandler.dump_traceback_later(KILL_AFTER_S, exit=True)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        yield stopping
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def unless(stopping: asyncio.Event, work: Coroutine[Any, Any, bool], *, name: str) -> bool:
    """Do the work unless `stopping` comes first. Return the result of the work, or False."""
    task, stop = asyncio.create_task(work, name=name), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        return task.done() and task.result()
    finally:
        task.cancel()
        stop.cancel()
        await asyncio.wait([task, stop])


async def bounded(stopping: asyncio.Event, work: Coroutine[Any, Any, None], *, name: str) -> None:
    """Do the work. Cancel it END_WITHIN_S after `stopping`, and soon after that return without it."""
    task, stop = asyncio.create_task(work, name=name), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait([task], timeout=END_WITHIN_S)
        if not task.done():
            log.error("end_hangs", cancelled=name)
    finally:
        stop.cancel()
        if task.cancel():
            await asyncio.wait([task], timeout=_LAST_WORDS_S if stopping.is_set() else END_WITHIN_S)
    if task.done() and not task.cancelled():
        task.result()


@asynccontextmanager
async def background() -> AsyncGenerator[list[asyncio.Task[None]]]:
    """Yield a list for tasks, and cancel them at the end of the block."""
    tasks: list[asyncio.Task[None]] = []
    try:
        yield tasks
    finally:
        for task in reversed(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def until_one_ends(tasks: list[asyncio.Task[None]], stopping: asyncio.Event) -> None:
    """Wait for `stopping`. Background tasks never end by themselves; raise the failure of one that fails."""
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        stop.cancel()


def tune_garbage_collection() -> None:
    """Exclude present objects from garbage collection, because modules, tables and clients stay until the end.

    With them each full collection took 0.3 s and blocked everything else.
    """
    gc.collect()
    gc.freeze()


def tune_allocator() -> None:
    """Keep glibc from holding much more memory than is in use. Call it before threads allocate.

    By default each thread gets an arena of its own, up to eight per core, and free memory of one is of no use to
    the others. The limit for blocks that go back to the system when they are freed would also rise, up to 32 MB.
    """
    with suppress(OSError, AttributeError):  # other C libraries have no mallopt
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, _ARENAS_AT_MOST)
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_TRIM_THRESHOLD, _LARGE_BYTES)


def return_free_memory() -> None:
    """Give free memory back to the system, where the C library can. Free pages between used ones go back too."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def return_free_memory_forever() -> None:
    """Give free memory back to the system once in RETURN_EVERY_S."""
    while True:
        await asyncio.sleep(RETURN_EVERY_S)
        return_free_memory()


def consumer_name() -> str:
    """Return a new name for this process in the groups of streams."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def spawn(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)
