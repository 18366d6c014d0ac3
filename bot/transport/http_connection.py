"""A connection of the HTTP server, with limits against strangers."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from bot.observe import metrics

HEAD_S = 10.0
"""Maximum time for the head of a request."""
HEAD_BYTES = 65_536
"""Maximum size of a request head."""
_WAITING = 256
"""Connections that have sent no request yet. Beyond this number the oldest is dropped; also of those between two."""
_PIPELINED = 64
"""Requests of a connection that wait for an earlier one. Beyond this number it is dropped; uvicorn has no limit."""


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
    """

    def __init__(
        self,
        *args: Any,
        head_s: float,
        silent: WaitingConnections,
        idle: WaitingConnections,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._head_s = head_s
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._silent = silent
        self._idle = idle

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._head_s, self.drop, "slow_head")
        self._silent.add(self)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:  # no further request has come yet
            self._idle.add(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if len(self.pipeline) > _PIPELINED:
            return self.drop("pipelined")
        if not self._is_free():  # the head is complete
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

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _stop_waiting(self) -> None:
        self._silent.remove(self)
        self._idle.remove(self)
