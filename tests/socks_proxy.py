"""A SOCKS5 proxy on loopback (RFC 1928 and 1929) that leads every name to one server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

_NO_CREDENTIALS, _PASSWORD = 0, 2
_ADDRESS_BYTES = {1: 4, 4: 16}


@dataclass(slots=True)
class SocksProxy:
    """The proxy. `asked` has the places that clients named, such as `example.test:80`."""

    leads_to: int
    password: str = ""
    port: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                if await self._lets_in(reader, writer):
                    await self._connect(reader, writer)
        finally:
            writer.close()

    async def _lets_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        offered = await reader.readexactly(count)
        wanted = _PASSWORD if self.password else _NO_CREDENTIALS
        writer.write(bytes([5, wanted if wanted in offered else 0xFF]))
        if wanted not in offered or not self.password:
            return wanted in offered
        _, length = await reader.readexactly(2)
        await reader.readexactly(length)  # the user
        (length,) = await reader.readexactly(1)
        is_right = (await reader.readexactly(length)).decode() == self.password
        writer.write(bytes([1, 0 if is_right else 1]))
        return is_right

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        *_, kind = await reader.readexactly(4)
        if kind == 3:
            (length,) = await reader.readexactly(1)
            host = (await reader.readexactly(length)).decode()
        else:
            host = str(ip_address(await reader.readexactly(_ADDRESS_BYTES[kind])))
        self.asked.append(f"{host}:{int.from_bytes(await reader.readexactly(2))}")
        there, back = await asyncio.open_connection("127.0.0.1", self.leads_to)
        writer.write(b"\5\0\0\1\0\0\0\0\0\0")
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(_pump(reader, back), name="socks-there")
            pumps.create_task(_pump(there, writer), name="socks-back")


@asynccontextmanager
async def socks_proxy(leads_to: int, *, password: str = "") -> AsyncGenerator[SocksProxy]:
    """Run a proxy that connects each client to this port of loopback."""
    proxy = SocksProxy(leads_to=leads_to, password=password)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listening.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
