"""HTTP calls that can be cancelled at any moment without losing a connection of the pool.

httpcore 1.0 protects its cleanup by scopes of anyio, which do not hold off `Task.cancel`. A cancellation may fall
between the end of a response and the release of its connection, or before the first byte is sent. Then the connection
stays in the pool as busy for ever. Under load this happens once in a few hundred cancelled calls, and the bot goes
silent when all connections are lost. `shielded` cancels a call only at points that httpcore handles.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

T = TypeVar("T")

_BEFORE_SENDING = frozenset({"connection.connect_tcp.started", "http11.send_request_headers.started"})
"""Events of httpcore's trace at which an exception leaves the connection closed, or unchanged."""
_SENDING = "http11.send_request_headers.started"
_ENDING = frozenset(
    {
        "http11.receive_response_body.complete",
        "http11.receive_response_body.failed",
        "http11.response_closed.started",
    }
)
"""The connection is released from the first of these events on."""

_abandoned: set[asyncio.Task[Any]] = set()
"""Abandoned calls that have not ended yet: an event loop keeps no strong reference to its tasks."""
_UNSENT = "not sent"


@dataclass(slots=True)
class HttpCall:
    """Progress of one call. A CONNECT request to a proxy sends nothing of the call yet.

    `can_be_cancelled`: the request is under way, and httpcore closes the connection if the task is
    cancelled now.
    """

    was_sent: bool = False
    is_abandoned: bool = False
    can_be_cancelled: bool = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record an event. httpcore calls this at every step."""
        if self.is_abandoned and event in _BEFORE_SENDING:
            raise asyncio.CancelledError
        if event == _SENDING:
            self.can_be_cancelled = info["request"].method != b"CONNECT"
            self.was_sent = self.was_sent or self.can_be_cancelled
        elif event in _ENDING:
            self.can_be_cancelled = False


_running: ContextVar[HttpCall | None] = ContextVar("running", default=None)


async def shielded(call: Awaitable[T], state: HttpCall | None = None) -> T:
    """Await the call in a task of its own, on a client that has `track_request` as a request hook.

    A cancelled caller returns at once. A request that was not sent never will be, and `is_unsent`
    recognises its CancelledError. A request under way is cancelled; if its response has begun, it finishes
    unobserved. A handshake goes on up to the client's timeout, because httpcore leaks the socket of a
    cancelled handshake.
    """
    progress = state or HttpCall()

    async def run() -> T:
        _running.set(progress)
        return await call

    task = asyncio.create_task(run(), name="http-call")
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        progress.is_abandoned = True
        if progress.can_be_cancelled:
            task.cancel()
        _abandoned.add(task)
        task.add_done_callback(_forget)
        if not progress.was_sent:
            raise asyncio.CancelledError(_UNSENT) from None
        raise


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Return True if the cancelled call had sent nothing, and never will."""
    return cancelled.args == (_UNSENT,)


def is_abandoned() -> bool:
    """Return True inside a call whose caller was cancelled."""
    call = _running.get()
    return call is not None and call.is_abandoned


async def track_request(request: httpx.Request) -> None:
    """Request hook of the client: lets `shielded` follow each request."""
    call = _running.get()
    if call is not None:
        if call.is_abandoned:
            raise asyncio.CancelledError
        call.can_be_cancelled = False
        request.extensions["trace"] = call.trace


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # otherwise asyncio logs it as never retrieved
