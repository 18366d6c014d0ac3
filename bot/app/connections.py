"""The connections of an HTTP server, bounded: how many there are, how long and how big a request's head may be."""

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bot.observe import metrics

LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """What strangers may take of a server before they have asked for anything.

    uvicorn 0.54 bounds none of it: a connection that sends no head stays for ever, a head may have any size, and what is
    pipelined in one read becomes so many waiting requests at once.

    `connections`: more are not held; a new one takes the place of the one that has been silent longest. Far below the
    1,024 open files of most systems: the store's connections need some too. `head_s`: to send a request's head in,
    from the connection or from the answer before. `head_bytes`: of a head that has not ended. `pipelined`: requests
    sent ahead of answers; Telegram and load balancers send none.
    """

    connections: int = 512
    head_s: float = 10.0
    head_bytes: int = 65_536
    pipelined: int = 32


class _Cycle(Protocol):
    @property
    def response_complete(self) -> bool: ...


class Doorkeeper:
    """Makes the connections of one server and holds them to the limits. Built for one event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._held: dict[_Watched, None] = {}

    def open_connection(self, **given: Any) -> asyncio.Protocol:
        """A connection for uvicorn's server, which gives what its own would be given."""
        return _Watched(HttpToolsProtocol(**given), self)

    async def keep_watch(self) -> None:
        """Drop who takes too long for a head, until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(min(LOOK_EVERY_S, self.limits.head_s / 2))
            for each in [each for each in self._held if each.has_waited(clock()) > self.limits.head_s]:
                each.drop("slow_head")

    def let_in(self, new: "_Watched") -> None:
        """Hold one more; where there is no room, one that asks for nothing has to go, or else the new one."""
        self._held[new] = None
        if len(self._held) > self.limits.connections:
            self._least_wanted(new).drop("too_many")

    def let_out(self, gone: "_Watched") -> None:
        """It is closed."""
        self._held.pop(gone, None)

    def _least_wanted(self, new: "_Watched") -> "_Watched":
        """The oldest that has never sent a whole head, else the oldest that has none under way."""
        silent = next((each for each in self._held if each.has_asked_nothing), new)
        return next((each for each in self._held if each.awaits_head), new) if silent is new else silent


class _Watched(asyncio.Protocol):
    """One connection: hands everything on to uvicorn's, and sees how much comes before a head is whole."""

    def __init__(self, inner: HttpToolsProtocol, keeper: Doorkeeper) -> None:
        self._inner = inner
        self._keeper = keeper
        self._transport: asyncio.Transport | None = None
        self._head_bytes = 0
        self._before: _Cycle | None = None
        self._since = asyncio.get_running_loop().time()

    @property
    def has_asked_nothing(self) -> bool:
        """Whether no whole head has come yet."""
        return self._cycle() is None

    @property
    def awaits_head(self) -> bool:
        """Whether no request is under way."""
        cycle = self._cycle()
        return cycle is None or cycle.response_complete

    def has_waited(self, now: float) -> float:
        """The seconds since it was first seen to wait for this head; 0 while a request is under way."""
        cycle = self._cycle()
        if not self.awaits_head or cycle is not self._before:
            self._before, self._since = cycle, now
        return now - self._since

    def drop(self, why: str) -> None:
        """End it without an answer."""
        metrics.CONNECTIONS_DROPPED.labels(why).inc()
        self._keeper.let_out(self)
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self._inner.connection_made(transport)
            self._keeper.let_in(self)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self.awaits_head else 0
        if self._head_bytes > self._keeper.limits.head_bytes:
            self.drop("long_head")
        elif len(self._inner.pipeline) > self._keeper.limits.pipelined:
            self.drop("pipelined")

    def eof_received(self) -> None:
        self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._keeper.let_out(self)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _cycle(self) -> _Cycle | None:
        return self._inner.cycle
