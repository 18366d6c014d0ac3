"""A TCP proxy of one or several servers that delays, drops, cuts, blackholes or refuses connections."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import unquote, urlsplit

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Place = tuple[str, int] | Path
"""Address of a server: host and port, or a socket's path."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """The faults of the traffic.

    A chunk is the result of one read: at most 64 KiB, mostly one request or response. `delay_s` and up to
    `jitter_s` more pass before each chunk. `drop`: the chance that a chunk and everything after it on its
    connection is lost, while the connection stays open: TCP loses no bytes in the middle. `cut`: the
    chance that a connection is reset within a chunk. `blackhole`: connections are accepted and stay open,
    but nothing passes; those that lost data stay silent. `refuse`: as if nothing listened; open
    connections are reset.
    """

    delay_s: float = 0.0
    jitter_s: float = 0.0
    drop: float = 0.0
    cut: float = 0.0
    blackhole: bool = False
    refuse: bool = False


NONE = Faults()


class TcpProxy:
    """The proxy.

    `port` leads to the first of `places` that accepts, starting with the next one each time. `faults` and
    `places` may be replaced at any time; the port stays. `connections` and `resets` are counts.
    """

    def __init__(self, places: Sequence[Place], *, seed: int = 0) -> None:
        self.places = list(places)
        self.port = 0
        self.connections = 0
        self.resets = 0
        self._faults = NONE
        self._seed = seed
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._links: set[asyncio.Task[None]] = set()

    @property
    def redis_url(self) -> str:
        """Return the URL of a Redis behind it."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str:
        """Return the URL of an HTTP server behind it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def faults(self) -> Faults:
        """Return the faults of the traffic; assign to change them."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._faults = faults
        if faults.refuse:
            self._close()
            self.reset_all()
        elif self._listener is None:
            self._open()

    def reset_all(self) -> None:
        """Reset every open connection. New ones follow `faults`."""
        for link in self._links:
            link.cancel()

    async def suffer(self, faults: Faults, *, seconds: float) -> None:
        """Apply these faults for this time. They also end if the wait is cancelled."""
        self.faults = faults
        try:
            await asyncio.sleep(seconds)
        finally:
            self.faults = NONE

    async def mend(self) -> None:
        """End all faults."""
        self.faults = NONE

    async def cut(self) -> None:
        """End every connection and refuse new ones, like a killed server."""
        self.faults = Faults(refuse=True)
        if self._links:
            await asyncio.wait(self._links)

    def _open(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(1024)
        self.port = listener.getsockname()[1]
        self._listener = listener
        self._accepting = asyncio.create_task(self._accept(listener), name=f"proxy-{self.port}")

    def _close(self) -> None:
        if self._listener is not None and self._accepting is not None:
            self._accepting.cancel()
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = self._accepting = None

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            accepted, _ = await asyncio.get_running_loop().sock_accept(listener)
            self.connections += 1
            link = asyncio.create_task(self._link(accepted, self.connections), name=f"link-{self.port}")
            self._links.add(link)
            link.add_done_callback(self._links.discard)
            link.add_done_callback(lambda _, accepted=accepted: accepted.close())  # cut before it had begun

    async def _link(self, accepted: socket.socket, number: int) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted)
        link = _Link(self, Random(f"{self._seed}-{number}"))
        server: asyncio.StreamWriter | None = None
        try:
            if self._faults.blackhole:
                await _swallow(reader)
                return
            from_server, server = await self._connect()
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(link.pump(reader, server))
                pumps.create_task(link.pump(from_server, writer))
        except* OSError:
            self.resets += 1
        finally:
            for end in (writer, server):
                if end is not None:
                    end.transport.abort()

    async def _connect(self) -> Ends:
        turned = self.connections % max(1, len(self.places))
        for place in [*self.places[turned:], *self.places[:turned]]:
            try:
                if isinstance(place, Path):
                    return await asyncio.open_unix_connection(place)
                return await asyncio.open_connection(*place)
            except OSError:
                continue
        raise ConnectionRefusedError


class _Link:
    """One connection. Both directions share their random generator and their silence."""

    def __init__(self, proxy: TcpProxy, random: Random) -> None:
        self._proxy = proxy
        self._random = random
        self._is_silent = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK):
            faults = self._proxy.faults
            if faults is not NONE and (faults.delay_s or faults.jitter_s):
                await asyncio.sleep(faults.delay_s + faults.jitter_s * self._random.random())
                faults = self._proxy.faults
            if self._is_silent or faults.blackhole or self._random.random() < faults.drop:
                self._is_silent = True
                continue
            if self._random.random() < faults.cut:
                writer.write(data[: self._random.randrange(len(data))])
                raise ConnectionResetError
            writer.write(data)
            await writer.drain()
        if self._is_silent:
            await asyncio.Event().wait()  # nobody is told that the other side has gone
        raise ConnectionResetError  # one side has ended: so does the other


@asynccontextmanager
async def tcp_proxy(*places: Place, seed: int = 0) -> AsyncGenerator[TcpProxy]:
    """Run a proxy in front of these places, open at first."""
    proxy = TcpProxy(places, seed=seed)
    proxy.faults = NONE
    try:
        yield proxy
    finally:
        await proxy.cut()


def place_of(url: str) -> Place:
    """Return the address of the server of a `unix://`, `redis://` or `http://` URL."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return Path(unquote(parts.path))
    return (parts.hostname or "127.0.0.1", parts.port or 80)


async def _swallow(reader: asyncio.StreamReader) -> None:
    while await reader.read(_CHUNK):
        pass
