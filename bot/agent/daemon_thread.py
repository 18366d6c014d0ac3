"""One blocking call in a thread of its own, which neither the loop's nor the process's end waits for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def call_in_daemon_thread(function: Callable[[], T], *, name: str) -> T:
    """What `function()` returns or raises; it sees the caller's context variables.

    When the waiting is cancelled the thread goes on unheard until it returns: Python cannot end it. The
    loop's own executor is not used because its threads would hold up the shutdown.
    """
    loop = asyncio.get_running_loop()
    settled: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(outcome: tuple[T, None] | tuple[None, BaseException]) -> None:
        if not settled.done():
            settled.set_result(outcome)

    def work() -> None:
        outcome = _outcome_of(lambda: context.run(function))
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, outcome)

    threading.Thread(target=work, name=name, daemon=True).start()
    value, error = await settled
    if error is not None:
        raise error
    return value  # pyright: ignore[reportReturnType] - with no error the value is a T, which pairs cannot say


def _outcome_of(function: Callable[[], T]) -> tuple[T, None] | tuple[None, BaseException]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
        return None, error
