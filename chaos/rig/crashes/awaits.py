"""Counts the awaits of a piece of work, and injects a fault at one of them.

The hook is an event loop's task factory and an awaitable around the work. Nothing is patched, and the product
does not know of it. Tasks of the work are counted too, because they inherit its context.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar, cast

T = TypeVar("T")

Strike = Callable[[int, Coroutine[Any, Any, Any]], BaseException | None]
"""Told of each suspension, with its number from 1 and the coroutine; what it gives is raised at the await."""

_IS_COUNTED: ContextVar[bool] = ContextVar("is_counted", default=False)


class Awaits:
    """The awaits of the work in `of`, in the order in which they happen."""

    def __init__(self, strike: Strike) -> None:
        self.count = 0
        self._strike = strike

    def task_factory(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Future[Any]:
        """Create a task, as `loop.set_task_factory` wants it."""
        watched = _Watched(work, self) if _IS_COUNTED.get() else work
        return asyncio.Task(watched, loop=loop, **options)

    async def of(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work and count its awaits. Raises its errors."""
        token = _IS_COUNTED.set(True)
        try:
            return await _Watched(work, self)
        finally:
            _IS_COUNTED.reset(token)

    def suspended(self, work: Coroutine[Any, Any, Any]) -> BaseException | None:
        """Count one suspension. Return the fault to raise there, or None."""
        self.count += 1
        return self._strike(self.count, work)


class _Watched(Coroutine[Any, Any, T]):
    """A coroutine whose suspensions are counted."""

    def __init__(self, work: Coroutine[Any, Any, T], awaits: Awaits) -> None:
        self._work = work
        self._awaits = awaits

    def send(self, value: Any, /) -> Any:
        return self._unless_struck(self._work.send(value))

    def throw(
        self,
        kind: type[BaseException] | BaseException,
        value: BaseException | object = None,
        trace: TracebackType | None = None,
        /,
    ) -> Any:
        error = kind if isinstance(kind, BaseException) else (value or kind())
        return self._unless_struck(self._work.throw(cast(BaseException, error)))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, T]:
        return cast("Generator[Any, Any, T]", self)

    def __iter__(self) -> Generator[Any, Any, T]:
        return cast("Generator[Any, Any, T]", self)

    def __next__(self) -> Any:
        return self.send(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)  # `cr_frame` and the like, for who looks into a task

    def _unless_struck(self, waited_for: Any) -> Any:
        while (error := self._awaits.suspended(self._work)) is not None:
            waited_for = self._work.throw(error)
        return waited_for


def frames_of(work: Coroutine[Any, Any, Any]) -> list[tuple[str, str, int]]:
    """Return the position of a suspended coroutine:

    file, function and line of each frame, the innermost last.
    """
    frames: list[tuple[str, str, int]] = []
    inner: Any = work
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "gi_frame", None)
        if frame is not None:
            frames.append((frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lineno))
        inner = getattr(inner, "cr_await", None) or getattr(inner, "gi_yieldfrom", None)
    return frames
