"""A connection of the HTTP server: its limits against strangers, and the cheapest refusal of their posts."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, cast

from httptools import HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from bot.observe import metrics

HEAD_S = 10.0
"""Maximum time for the head of a request."""
HEAD_BYTES = 65_536
"""Maximum size of a request head."""
CYCLE = "uvicorn.cycle"
"""Extension in the scope: request and response as our server has them."""
_WAITING = 256
"""Connections that have sent no request yet. Beyond this number the oldest is dropped; also of those between two."""
_PIPELINED = 64
"""Requests of a connection that wait for an earlier one. Beyond this number it is dropped; uvicorn has no limit."""
_REFUSAL = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"

Headers = Sequence[tuple[bytes, bytes]]


class Door(Protocol):
    """Refuses posts with 401 by their head alone."""

    def is_stranger(self, url: bytes, headers: Headers) -> bool:
        """Return True if a post is to be refused, whatever its body says."""
        ...

    def count_stranger(self, headers: Headers) -> None:
        """Count a refused post."""
        ...


class WaitingConnections:
    """Connections that wait for a request, the oldest first. Beyond _WAITING of them the oldest is dropped."""

    def __init__(self) -> None:
        self._connections: dict[Connection, None] = {}

    def add(self, connection: "Connection") -> None:
        """Add a connection that begins to wait."""
        self._connections[connection] = None
        if len(self._connections) > _WAITING:
            next(iter(self._connections)).drop("crowded")

    def remove(self, connection: "Connection") -> None:
        """Remove a connection that waits no more."""
        self._connections.pop(connection, None)


class Connection(HttpToolsProtocol):
    """A connection of uvicorn that is dropped if the head of a request is slow or large, or too many others wait.

    uvicorn 0.54 limits no head with httptools, and its limit of connections would refuse Telegram for silent ones.
    `silent` has the connections without a request yet, `idle` those between two requests.

    A stranger's post that has come in one piece is refused here. This costs less than half of a call of the app, and
    an eighth if several came together. The connection stays open, because a new one would cost more.
    """

    def __init__(
        self,
        *args: Any,
        head_s: float,
        silent: WaitingConnections,
        idle: WaitingConnections,
        door: Door | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._head_s = head_s
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._silent = silent
        self._idle = idle
        self._door = door
        self._is_refusing = False
        """The request that is being read is a refused post."""
        self._refused = 0
        """Posts that are refused, and not answered yet."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._head_s, self.drop, "slow_head")
        self._silent.add(self)

    def on_headers_complete(self) -> None:
        self._is_refusing = self._may_refuse()
        if not self._is_refusing:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._is_refusing:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._is_refusing:
            return super().on_message_complete()
        self._is_refusing = False
        self._refused += 1
        return cast("Door", self._door).count_stranger(self.headers)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._stop_waiting()
        cycle.scope["extensions"] = {CYCLE: cast("Any", cycle)}
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:  # no further request has come yet
            self._idle.add(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if len(self.pipeline) > _PIPELINED:
            return self.drop("pipelined")
        has_refused = bool(self._refused or self._is_refusing)
        if has_refused:
            self._refuse()
        if has_refused or not self._is_free():  # the head is complete
            self._head_bytes = 0
            return self._cancel_deadline()
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.drop("long_head")
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._head_s, self.drop, "slow_head")
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self._stop_waiting()
        super().connection_lost(exc)

    def drop(self, reason: str) -> None:
        """End the connection without an answer."""
        metrics.CONNECTIONS_DROPPED.labels(reason).inc()
        self._cancel_deadline()
        self._stop_waiting()
        self.transport.abort()

    def _is_free(self) -> bool:
        """Return True if no request waits for its response."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _may_refuse(self) -> bool:
        """Return True for a stranger's post whose refusal may be written now.

        It may if it keeps its place behind earlier responses, and if the client reads them.
        """
        door, parser = self._door, cast("HttpRequestParser", self.parser)
        if door is None or not self._is_free() or self.flow.write_paused or not parser.should_keep_alive():
            return False
        return parser.get_method() == b"POST" and door.is_stranger(self.url, self.headers)

    def _refuse(self) -> None:
        """Answer the refused posts at once. The app gets one whose body is still on its way."""
        if self.transport.is_closing():
            return
        if self._refused:
            self.transport.write(_REFUSAL * self._refused)
            self._refused = 0
        if self._is_refusing:
            self._is_refusing = False
            super().on_headers_complete()
        elif self._is_free():
            self._stop_waiting()
            self.on_response_complete()

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _stop_waiting(self) -> None:
        self._silent.remove(self)
        self._idle.remove(self)
