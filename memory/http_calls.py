"""HTTP calls that may be cancelled at any moment without harm to the pool that they take their connection from.

httpcore 1.0 guards its clean-up by scopes of anyio, which do not hold off `Task.cancel`. Where that falls between the end of
an answer and the giving back of its connection, or before the first byte is sent, the connection stays in the pool as one
that is at work, for ever. Under load it happens each few hundred cancelled calls, and where all connections have gone that
way the bot is silent. So a call is cancelled where httpcore bears it, and nowhere else: see `unharmed`.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

T = TypeVar("T")

_BEFORE_SENDING = frozenset({"connection.connect_tcp.started", "http11.send_request_headers.started"})
"""Events of httpcore's trace at which an exception leaves the connection closed, or as it was."""
_SENDING = "http11.send_request_headers.started"
_ENDING = frozenset(
    {
        "http11.receive_response_body.complete",
        "http11.receive_response_body.failed",
        "http11.response_closed.started",
    }
)
"""From the first of these on the connection is given back."""

_unheard: set[asyncio.Task[Any]] = set()
"""What was cancelled and has not ended yet: a loop keeps no reference of its own."""
_UNSENT = "not sent"


@dataclass(slots=True)
class HttpCall:
    """How far a call has come. A request to a proxy that is to open a way (CONNECT) sends nothing yet.

    `can_be_cut`: its request is under way; httpcore then closes the connection if the task is cancelled.
    """

    was_sent: bool = False
    is_given_up: bool = False
    can_be_cut: bool = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """As httpcore calls it at every step."""
        if self.is_given_up and event in _BEFORE_SENDING:
            raise asyncio.CancelledError
        if event == _SENDING:
            self.can_be_cut = info["request"].method != b"CONNECT"
            self.was_sent = self.was_sent or self.can_be_cut
        elif event in _ENDING:
            self.can_be_cut = False


_running: ContextVar[HttpCall | None] = ContextVar("running", default=None)


async def unharmed(call: Awaitable[T], made: HttpCall | None = None) -> T:
    """What the call gives; it runs in a task of its own, on a client whose requests pass `watch`.

    Cancelled, it returns at once. What was not sent is not sent any more, and the CancelledError says so (`is_unsent`);
    what is on its way is cut off, unless its answer is there: then it comes to its end, and nobody hears of it. A handshake
    goes on for as long as the client's time-outs let it: each client has some (httpcore keeps the socket of a handshake that
    is cancelled).
    """
    state = made or HttpCall()

    async def run() -> T:
        _running.set(state)
        return await call

    task = asyncio.create_task(run(), name="http-call")
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        state.is_given_up = True
        if state.can_be_cut:
            task.cancel()
        _unheard.add(task)
        task.add_done_callback(_forget)
        if not state.was_sent:
            raise asyncio.CancelledError(_UNSENT) from None
        raise


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Whether the call that was cancelled here had sent nothing, and never will."""
    return cancelled.args == (_UNSENT,)


def is_given_up() -> bool:
    """Within a call: whether nobody waits for it any more."""
    call = _running.get()
    return call is not None and call.is_given_up


async def watch(request: httpx.Request) -> None:
    """A hook of the client, for each of its requests."""
    call = _running.get()
    if call is not None:
        if call.is_given_up:
            raise asyncio.CancelledError
        call.can_be_cut = False
        request.extensions["trace"] = call.trace


def _forget(task: asyncio.Task[Any]) -> None:
    _unheard.discard(task)
    if not task.cancelled():
        task.exception()  # else asyncio would tell that nobody has asked for it
