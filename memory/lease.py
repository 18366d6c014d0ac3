"""Work under a lease, which is renewed while the work runs."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_RENEWALS_IN_A_LEASE = 3


async def run_leased(
    work: Coroutine[Any, Any, T], renew: Callable[[], Awaitable[None]], *, lease_s: float, name: str
) -> T:
    """Run `work` as a task of this name and return its result; renew the lease of `lease_s` seconds meanwhile and after
    it. Errors of both are raised, and a cancellation ends the task.
    """
    task = asyncio.create_task(work, name=name)
    try:
        while not (await asyncio.wait({task}, timeout=lease_s / _RENEWALS_IN_A_LEASE))[0]:
            await renew()
        result = await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await renew()
    return result
