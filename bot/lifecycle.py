"""The life of a process: the signals that end it, its background tasks, and waiting for either."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any


@contextmanager
def signals(given: asyncio.Event | None) -> Generator[asyncio.Event]:
    """An event that SIGTERM and SIGINT set; the caller's own, where there is one, instead."""
    if given is not None:
        yield given
        return
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    try:
        yield stopping
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def unless(stopping: asyncio.Event, work: Coroutine[Any, Any, bool], *, name: str) -> bool:
    """Do the work unless `stopping` comes first; whether it was done."""
    task, stop = asyncio.create_task(work, name=name), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        return task.done() and task.result()
    finally:
        task.cancel()
        stop.cancel()
        await asyncio.wait([task, stop])


@asynccontextmanager
async def background() -> AsyncGenerator[list[asyncio.Task[None]]]:
    """Tasks to be ended with the block, in the reverse order of their beginning."""
    tasks: list[asyncio.Task[None]] = []
    try:
        yield tasks
    finally:
        for task in reversed(tasks):
            task.cancel()
            await asyncio.wait([task])


async def until_one_ends(tasks: list[asyncio.Task[None]], stopping: asyncio.Event) -> None:
    """Wait for `stopping`; a background task never ends by itself, and one that fails ends the process."""
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        stop.cancel()


def spawn(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)
