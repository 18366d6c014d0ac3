"""What `doctor` says of addresses that are wrong: each cause with the setting and the next step."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chaos.rig.system import free_port
from memory.http_calls import certificates
from tests.contract.console_rig import ConsoleRig, settings_in
from tests.stores import hold_open
from tests.unit.test_guarded_tls import ANSWER, CERTIFICATE, KEY

pytestmark = pytest.mark.slow

SETTINGS: Mapping[str, tuple[str, str]] = {
    "store": ("REDIS_URL", "redis"),
    "index": ("QDRANT_URL", "http"),
    "model": ("OPENAI_BASE_URL", "http"),
    "telegram": ("TELEGRAM_API_URL", "http"),
}
"""Setting and scheme of each address, by the name of its finding."""
BEGINNINGS: Mapping[str, str] = {
    "store": "REDIS_URL: Redis cannot be reached: ",
    "index": "QDRANT_URL: the vector index cannot be reached: ",
    "model": "The model endpoint cannot be reached: ",
    "telegram": "TELEGRAM_API_URL: the Bot API does not answer: ",
}


@asynccontextmanager
async def open_servers(folder: Path) -> AsyncGenerator[dict[str, int]]:
    """Ports of servers: with TLS, without it, and one that closes each connection."""
    (folder / "key.pem").write_text(KEY)
    (folder / "certificate.pem").write_text(CERTIFICATE)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "certificate.pem", folder / "key.pem")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(ANSWER)
        writer.close()

    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with (
        await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls) as with_tls,
        await asyncio.start_server(answer, "127.0.0.1", 0) as without,
        await asyncio.start_server(close, "127.0.0.1", 0) as closing,
    ):
        servers = {"tls": with_tls, "plain": without, "closing": closing}
        yield {name: each.sockets[0].getsockname()[1] for name, each in servers.items()}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, int]]:
    with hold_open(open_servers(tmp_path_factory.mktemp("servers"))) as ports:
        yield ports


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Generator[ConsoleRig]:
    settings_in(monkeypatch, tmp_path, tmp_path, HTTP_PORT=str(free_port()))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "77:unused")
    certificates.cache_clear()
    yield ConsoleRig(capsys)
    certificates.cache_clear()


@pytest.mark.parametrize(
    ("scheme", "server", "cause"),
    [
        ("plain", "", "nothing listens at this port. Start the server, or correct the port"),
        (
            "tls",
            "tls",
            "its certificate is not trusted. Set SSL_CERT_FILE to the file with the certificate of its",
        ),
        (
            "tls",
            "plain",
            "it has no TLS at this port. Begin the address with {scheme}://, or correct the port",
        ),
        ("plain", "closing", "it closed the connection. With TLS its address begins with {scheme}s://"),
        ("plain", "tls", "it closed the connection. With TLS its address begins with {scheme}s://"),
    ],
)
def test_each_cause_is_named_with_the_next_step(
    console: ConsoleRig,
    monkeypatch: pytest.MonkeyPatch,
    servers: dict[str, int],
    scheme: str,
    server: str,
    cause: str,
) -> None:
    port = servers.get(server, 1)
    for setting, kind in SETTINGS.values():
        monkeypatch.setenv(setting, f"{kind}{'s' if scheme == 'tls' else ''}://127.0.0.1:{port}")
    found = {each["name"]: each for each in console("doctor", "--json").document["checks"]}
    for name, (_, kind) in SETTINGS.items():
        assert found[name]["says"].startswith(BEGINNINGS[name] + cause.format(scheme=kind))


def test_a_trusted_certificate_of_another_name_is_named(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, servers: dict[str, int], tmp_path: Path
) -> None:
    (tmp_path / "authority.pem").write_text(CERTIFICATE)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    for setting, kind in SETTINGS.values():
        monkeypatch.setenv(setting, f"{kind}s://127.0.0.1:{servers['tls']}")
    found = {each["name"]: each for each in console("doctor", "--json").document["checks"]}
    for name in SETTINGS:
        assert found[name]["says"] == BEGINNINGS[name] + (
            "its certificate is for another name. Write the name that is in the certificate"
        )


def test_another_protocol_is_named(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, servers: dict[str, int]
) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{servers['plain']}")
    monkeypatch.setenv("QDRANT_URL", f"http://127.0.0.1:{servers['plain']}")
    found = {each["name"]: each for each in console("doctor", "--json").document["checks"]}
    assert found["store"]["says"] == (
        "REDIS_URL: Redis cannot be reached: the server at this port speaks another protocol. Correct the port"
    )
    assert found["index"]["says"].startswith(
        "QDRANT_URL: The vector index sent an answer that cannot be read"
    )
