"""Blocking calls in threads of their own, for which neither the event loop nor the process waits at its end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def call_in_daemon_thread(function: Callable[[], T], *, name: str) -> T:
    """Return or raise the outcome of `function()`, run in a new thread with the caller's context variables.

    A cancelled call abandons the thread, because Python cannot end it. The threads of the loop's own executor
    would delay the shutdown.
    """
    context = contextvars.copy_context()
    # The error is a value here: a future of asyncio refuses StopIteration as its exception.
    outcome: Future[tuple[T, None] | tuple[None, BaseException]] = Future()
    outcome.set_running_or_notify_cancel()  # from now on a cancelled caller does not cancel it

    def work() -> None:
        outcome.set_result(_outcome_of(lambda: context.run(function)))

    threading.Thread(target=work, name=name, daemon=True).start()
    value, error = await asyncio.wrap_future(outcome)
    if error is not None:
        raise error
    return value  # pyright: ignore[reportReturnType] - with no error the value is a T, which pairs cannot say


def _outcome_of(function: Callable[[], T]) -> tuple[T, None] | tuple[None, BaseException]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - the caller raises it again
        return None, error
