"""The proxy of the environment: every client uses it, never for loopback, and a useless one is named."""

import asyncio
import ssl
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from openai import APIConnectionError, Timeout

from bot.agent.mcp_servers import McpServerTable, read_servers
from bot.errors import SettingsInvalid, TelegramFailure, TelegramUnavailable
from bot.features.settings import load_settings
from bot.mcp.transports import open_streams
from bot.transport.telegram_api import open_telegram
from memory.embedded.supervisor import IndexEndpoint
from memory.http_calls import SocksProxyFailed, certificates, open_session
from memory.openai_client import open_client
from memory.proxy import proxy_of
from memory.recall.qdrant.index import list_collections, open_qdrant
from tests.socks_proxy import SocksProxy, socks_proxy
from tests.unit.test_guarded_tls import CERTIFICATE, KEY

FAR = "http://far.test:8123"
DEAD = "127.0.0.1:9"
TIMEOUT = aiohttp.ClientTimeout(sock_connect=5, sock_read=5)


@pytest.fixture(autouse=True)
def no_proxy_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the proxies of the developer."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def _aiohttp(url: str) -> None:
    async with open_session(url, connections=1, timeout=TIMEOUT) as session, session.get(url) as response:
        await response.read()


async def _model(url: str) -> None:
    async with open_client(api_key="k", base_url=f"{url}/v1", timeout=Timeout(5)) as client:
        await client.models.list()


async def _telegram(url: str) -> None:
    async with open_telegram(token="1:abc", api_url=url) as api:
        try:
            await api.get_me()
        except TelegramUnavailable:
            raise
        except TelegramFailure:
            return  # it answered, if not as Telegram


async def _qdrant(url: str) -> None:
    async with open_qdrant(url) as qdrant:
        await list_collections(qdrant.send)


async def _qdrant_search(url: str) -> None:
    async with open_qdrant(url) as qdrant:
        await qdrant.send("GET", "/collections", b"")


async def _mcp(url: str) -> None:
    servers, _ = read_servers({"far": McpServerTable.model_validate({"url": url})}, {})
    ping = jsonrpc_message_adapter.validate_json('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    async with asyncio.timeout(5), open_streams(servers["far"]) as (received, sending):
        await sending.send(SessionMessage(ping))
        await anext(aiter(received))


Call = Callable[[str], Awaitable[None]]
CALLS: tuple[Call, ...] = (_aiohttp, _model, _telegram, _qdrant, _qdrant_search)
BODY = b'{"object": "list", "data": [], "status": "ok", "time": 0, "result": {"collections": []}}'


@asynccontextmanager
async def _server(tls: ssl.SSLContext | None = None) -> AsyncGenerator[tuple[int, list[str]]]:
    """A server that answers each request alike. Yields its port and the targets of its requests."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            asked.append(head.split()[1].decode())
            answer = (
                f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n"
                "connection: close\r\n\r\n"
            )
            writer.write(answer.encode() + BODY)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as listening:
        yield listening.sockets[0].getsockname()[1], asked


@asynccontextmanager
async def _socks(password: str = "") -> AsyncGenerator[SocksProxy]:
    async with _server() as (port, _), socks_proxy(port, password=password) as proxy:
        yield proxy


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks"])
async def test_a_socks_proxy_gets_names_as_they_are(
    variable: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _socks() as proxy:
        monkeypatch.setenv(variable, f"{scheme}://127.0.0.1:{proxy.port}/")
        await _aiohttp(FAR)

    assert proxy.asked == ["far.test:8123"]


@pytest.mark.parametrize("call", CALLS)
async def test_each_client_goes_through_the_socks_proxy_with_its_password(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _socks("p@ss:w#rd") as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://anna:p%40ss%3Aw%23rd@127.0.0.1:{proxy.port}")
        await call(FAR)

    assert set(proxy.asked) == {"far.test:8123"}


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[ssl.SSLContext]:
    """Return the context of a server `public.test`, whose certificate our clients trust."""
    (tmp_path / "key.pem").write_text(KEY)
    (tmp_path / "certificate.pem").write_text(CERTIFICATE)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    certificates.cache_clear()
    yield serving
    certificates.cache_clear()


@pytest.mark.parametrize("call", [*CALLS, _mcp])
async def test_tls_goes_through_the_socks_proxy(
    call: Call, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _server(tls) as (port, asked), socks_proxy(port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"socks5://127.0.0.1:{proxy.port}")
        await call("https://public.test:8123")

    assert set(proxy.asked) == {"public.test:8123"}
    assert asked


async def test_an_mcp_server_is_reached_through_the_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _socks() as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{proxy.port}")
        await _mcp(FAR)

    assert proxy.asked[0] == "far.test:8123"


async def test_an_http_proxy_gets_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _server() as (port, asked):
        monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{port}")
        for call in CALLS:
            await call(FAR)

    assert len(asked) == len(CALLS)
    assert {target.partition("8123")[0] for target in asked} == {"http://far.test:"}


@pytest.mark.parametrize("proxy", [f"socks5://{DEAD}", f"http://{DEAD}"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("call", CALLS)
async def test_loopback_never_uses_a_proxy(
    call: Call, host: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "example.org")
    async with _server() as (port, asked):
        await call(f"http://{host}:{port}")

    assert asked


async def test_the_embedded_index_is_used_beside_a_proxy(
    index_endpoint: IndexEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://{DEAD}")
    async with open_qdrant(index_endpoint.url, api_key=index_endpoint.api_key) as qdrant:
        assert isinstance(await list_collections(qdrant.send), list)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST.", "[::]"]
)
def test_no_form_of_loopback_has_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://{DEAD}")

    assert proxy_of(f"http://{host}:8080/v1") is None
    assert proxy_of("http://127.0.0.1.far.test") == f"socks5://{DEAD}"


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, FAR, None),
        ({"HTTP_PROXY": "proxy:1"}, FAR, "http://proxy:1"),
        ({"HTTPS_PROXY": "http://proxy:1"}, FAR, None),
        (
            {"HTTPS_PROXY": "http://proxy:1", "ALL_PROXY": "socks5://other:2"},
            "https://a.test",
            "http://proxy:1",
        ),
        ({"ALL_PROXY": "socks://[::1]:2/"}, FAR, "socks5://[::1]:2"),
        ({"ALL_PROXY": "socks5://proxy"}, FAR, "socks5://proxy:1080"),
        ({"ALL_PROXY": " "}, FAR, None),
        ({"HTTP_PROXY": "http://proxy:1", "NO_PROXY": "b.test,.test"}, FAR, None),
        ({"HTTP_PROXY": "http://proxy:1", "NO_PROXY": "*"}, FAR, None),
    ],
)
def test_the_environment_names_the_proxy(
    environment: dict[str, str], url: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert proxy_of(url) == proxy


@pytest.mark.parametrize(
    "proxy",
    [
        "http://anna:hunter2@127.0.0.1:99999999",
        "http://anna:hunter2@127.0.0.1:x",
        "http://anna:hunter2@[::1",
        "http://anna:hunter2@",
        "socks4://anna:hunter2@127.0.0.1:1",
        "sock5://anna:hunter2@127.0.0.1:1",
        "socks5://",
        "socks5://anna:hunter2%C3%B6@127.0.0.1:1",
        "ss://hunter2",
    ],
)
@pytest.mark.parametrize("variable", ["ALL_PROXY", "https_proxy"])
def test_a_useless_proxy_is_named_by_its_variable_without_its_password(
    variable: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, proxy)

    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    (problem,) = refused.value.problems
    assert problem.startswith(f"{variable}: must be")
    with pytest.raises(ValueError, match="PROXY: must be") as raised:
        proxy_of("https://far.test")
    assert "hunter2" not in problem + "".join(traceback.format_exception(raised.value))


def _open(url: str) -> AbstractAsyncContextManager[aiohttp.ClientSession]:
    return open_session(url, connections=1, timeout=TIMEOUT)


async def test_a_socks_proxy_that_refuses_counts_as_no_send(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _socks("right") as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://anna:hunter2@127.0.0.1:{proxy.port}")
        with pytest.raises(SocksProxyFailed) as failed:
            async with _open(FAR) as session:
                await session.get(FAR)
        with pytest.raises(TelegramUnavailable, match="the proxy of the environment makes no connection"):
            await _telegram(FAR)
        with pytest.raises(APIConnectionError) as unreachable:
            await _model(FAR)

    told = traceback.format_exception(failed.value) + traceback.format_exception(unreachable.value)
    assert "hunter2" not in "".join(told)
    assert proxy.asked == []


async def test_a_socks_proxy_that_is_down_counts_as_no_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://{DEAD}")

    with pytest.raises(TelegramUnavailable, match="the proxy of the environment makes no connection"):
        await _telegram(FAR)
