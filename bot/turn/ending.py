"""Runs work until it ends, is ended from outside, or takes too long."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


async def run_until(
    work: Coroutine[Any, Any, T], ending: Coroutine[Any, Any, Exception], *, within_s: float
) -> T:
    """Return the result of the work. Raise the exception that `ending` returns, as soon as it does.

    Raises TimeoutError after `within_s` seconds, and what the work raises.
    """
    waiting = asyncio.create_task(ending, name="turn-signals")
    try:
        async with asyncio.timeout(within_s) as run:
            waiting.add_done_callback(partial(_end_now, run))
            return await work
    except Exception:
        if waiting.done():
            raise waiting.result() from None
        raise
    finally:
        waiting.cancel()
        await asyncio.wait([waiting])


def _end_now(run: asyncio.Timeout, ending: asyncio.Task[Exception]) -> None:
    """Cancel the block of this time-out, unless it has ended."""
    if not ending.cancelled():
        with suppress(RuntimeError):
            run.reschedule(0)
