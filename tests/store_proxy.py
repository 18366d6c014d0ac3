"""A way to a store that a test can cut and mend: a TCP port in front of an embedded server."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True, kw_only=True)
class StoreProxy:
    """`port` leads to the store; while it is cut, connections end and new ones are refused."""

    port: int = 0
    _connect: Callable[[], Awaitable[Ends]]
    _server: asyncio.Server | None = None
    _links: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def mend(self) -> None:
        """Let connections through, on the same port as before."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End every connection and refuse new ones, as a server does that was killed."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for link in self._links:
            link.cancel()
        if self._links:
            await asyncio.wait(self._links)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.create_task(self._link(reader, writer), name="store-link")
        self._links.add(link)
        link.add_done_callback(self._links.discard)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_store, to_store = await self._connect()
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(_pump(reader, to_store))
                pumps.create_task(_pump(from_store, writer))
        except* ConnectionError:
            pass
        finally:
            for end in (writer, to_store):
                end.transport.abort()


def redis_proxy(redis_url: str) -> AbstractAsyncContextManager[StoreProxy]:
    """A way to the server at this `unix://` URL, open at first."""
    return _proxy(lambda: asyncio.open_unix_connection(unquote(urlsplit(redis_url).path)))


def index_proxy(url: str) -> AbstractAsyncContextManager[StoreProxy]:
    """A way to the index server at this `http://` URL, open at first."""
    place = urlsplit(url)
    return _proxy(lambda: asyncio.open_connection(place.hostname, place.port))


@asynccontextmanager
async def _proxy(connect: Callable[[], Awaitable[Ends]]) -> AsyncGenerator[StoreProxy]:
    proxy = StoreProxy(_connect=connect)
    await proxy.mend()
    try:
        yield proxy
    finally:
        await proxy.cut()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError  # one side has ended: so does the other
