"""Blocking calls in threads of their own, for which neither the event loop nor the process waits at its end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def call_in_daemon_thread(function: Callable[[], T], *, name: str) -> T:
    """Return or raise the outcome of `function()`, run in a new thread with the caller's context variables.

    A cancelled call abandons the thread, because Python cannot end it. The threads of the loop's own executor
    would delay the shutdown.
    """
    loop = asyncio.get_running_loop()
    # The error is a value here: a future refuses StopIteration as its exception.
    settled: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: tuple[T, None] | tuple[None, BaseException]) -> None:
        if not settled.done():
            settled.set_result(outcome)

    def work() -> None:
        outcome = _outcome_of(lambda: context.run(function))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=work, name=name, daemon=True).start()
    value, error = await settled
    if error is not None:
        raise error
    return value  # pyright: ignore[reportReturnType] - with no error the value is a T, which pairs cannot say


def _outcome_of(function: Callable[[], T]) -> tuple[T, None] | tuple[None, BaseException]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - the caller raises it again
        return None, error
