"""The guarded client over TLS: it connects to an address and requires a certificate of the name."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import ToolFailed
from bot.tools.guarded_http import Address, GuardedHttp

# The certificate of `public.test`, signed by itself until 2126. It opens nothing.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUf3mOrELm5fltKjJDl54YvM/qwqUwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLcHVibGljLnRlc3QwIBcNMjYxMTIxMjI1ODMwWhgPMjEyNjEw
MjgyMjU4MzBaMBYxFDASBgNVBAMMC3B1YmxpYy50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEN6Kq/1br/mNJaEzK1y1IaRu+TrfnVZYM05rP8BlR+pVQTppF
KzFqI6EISJwOuzp/3wwvP2cR8ZF+M+TuJnnf4qNrMGkwHQYDVR0OBBYEFM4kBjaS
C3WpAqNCof5GZBo5knZSMB8GA1UdIwQYMBaAFM4kBjaSC3WpAqNCof5GZBo5knZS
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILcHVibGljLnRlc3QwCgYIKoZI
zj0EAwIDRwAwRAIgdU16V30oLf7K1hSOuPCktzNJnJx8wKDPhTWuZlBqwKMCIBEF
AE61rt7ZxutyF4yRnM4scGyFzoDy9T8+3RP18BJM
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVGMDfaasd5+JvDiF
JAk6yNzLe10bGuXHutThDoHT7+ehRANCAAQ3oqr/Vuv+Y0loTMrXLUhpG75Ot+dV
lgzTms/wGVH6lVBOmkUrMWojoQhInA67On/fDC8/ZxHxkX4z5O4med/i
-----END PRIVATE KEY-----
"""
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nwords"


@asynccontextmanager
async def open_server(folder: Path) -> AsyncGenerator[tuple[GuardedHttp, int, list[str | None]]]:
    """A client that trusts the certificate, the port of its server, and the names that the server was asked for."""
    (folder / "key.pem").write_text(KEY)
    (folder / "certificate.pem").write_text(CERTIFICATE)
    names: list[str | None] = []
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    serving.sni_callback = lambda _, name, __: names.append(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        names.append((await reader.readuntil(b"\r\n\r\n")).decode().split("host: ")[1].split(":")[0])
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    async def resolve(host: str, port: int) -> Sequence[Address]:
        return [ipaddress.ip_address("127.0.0.1")]

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving) as server:
        port = server.sockets[0].getsockname()[1]
        trusted = ssl.create_default_context(cafile=str(folder / "certificate.pem"))
        http = GuardedHttp(
            resolve=resolve, allows=lambda _: True, ports=frozenset([port]), trusted=lambda: trusted
        )
        yield http, port, names


async def test_the_certificate_must_be_of_the_name(tmp_path: Path) -> None:
    async with open_server(tmp_path) as (http, port, names):
        page = await http.get(f"https://public.test:{port}/")

    assert page.text == "words"
    assert names == ["public.test", "public.test"]  # in the handshake and as the host


async def test_a_certificate_of_another_name_is_refused(tmp_path: Path) -> None:
    async with open_server(tmp_path) as (http, port, names):
        with pytest.raises(ToolFailed, match="cannot be reached"):
            await http.get(f"https://other.test:{port}/")

    assert names == ["other.test"]
