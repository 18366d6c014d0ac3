"""The proxy of the fault lab changes traffic as configured, and not otherwise."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from chaos.rig.program import until
from chaos.rig.tcp_proxy import Faults, TcpProxy, tcp_proxy

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def open_server(answer: bytes = b"") -> AsyncGenerator[int]:
    """Answer each line with `answer` and the line. Yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(answer + line)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def connected(proxy: TcpProxy) -> AsyncGenerator[Ends]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def ask(ends: Ends, line: bytes = b"line\n", *, within_s: float = 5.0) -> bytes:
    ends[1].write(line)
    async with asyncio.timeout(within_s):
        return await ends[0].readline()


async def is_cut(ends: Ends) -> bool:
    """Return True if the connection ends instead of an answer."""
    try:
        return await ask(ends) != b"line\n"
    except ConnectionError:
        return True


async def test_without_faults_everything_passes() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy, connected(proxy) as ends:
        assert [await ask(ends) for _ in range(3)] == [b"line\n"] * 3
        assert (proxy.connections, proxy.resets) == (1, 0)


async def test_a_delay_applies_in_both_directions() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy, connected(proxy) as ends:
        proxy.faults = Faults(delay_s=0.05)
        begun = time.monotonic()
        assert await ask(ends) == b"line\n"
        assert time.monotonic() - begun >= 0.1


async def test_after_a_drop_the_connection_is_silent_and_a_new_one_works() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy, connected(proxy) as ends:
        proxy.faults = Faults(drop=1.0)
        with pytest.raises(TimeoutError):
            await ask(ends, within_s=0.05)
        await proxy.mend()
        with pytest.raises(TimeoutError):
            await ask(ends, within_s=0.05)
        async with connected(proxy) as others:
            assert await ask(others) == b"line\n"


async def test_a_blackhole_accepts_and_answers_nothing() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy:
        proxy.faults = Faults(blackhole=True)
        async with connected(proxy) as ends:
            with pytest.raises(TimeoutError):
                await ask(ends, within_s=0.05)


async def test_a_random_cut_falls_within_a_chunk_and_repeats_with_the_same_seed() -> None:
    async def answers_until_cut() -> int:
        async with (
            open_server() as port,
            tcp_proxy(("127.0.0.1", port), seed=5) as proxy,
            connected(proxy) as ends,
        ):
            proxy.faults = Faults(cut=0.1)
            answered = 0
            while not await is_cut(ends):
                answered += 1
            return answered

    assert await answers_until_cut() == await answers_until_cut()


async def test_a_refusing_proxy_resets_connections_and_returns_on_its_port() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy, connected(proxy) as ends:
        assert await ask(ends) == b"line\n"
        proxy.faults = Faults(refuse=True)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await is_cut(ends)
        await proxy.mend()
        async with connected(proxy) as others:
            assert await ask(others) == b"line\n"


async def test_the_balancer_skips_a_dead_server() -> None:
    async with open_server(b"a ") as first, open_server(b"b ") as second:
        async with open_server() as third:
            dead = third
        async with tcp_proxy(*(("127.0.0.1", port) for port in (first, dead, second))) as proxy:
            said: list[bytes] = []
            for _ in range(6):
                async with connected(proxy) as ends:
                    said.append(await ask(ends))
            assert set(said) == {b"a line\n", b"b line\n"}
            proxy.places.clear()
            async with connected(proxy) as ends:
                assert await is_cut(ends)
            await until(lambda: proxy.resets > 0, within_s=5)


async def test_a_temporary_fault_ends_when_its_wait_is_cancelled() -> None:
    async with open_server() as port, tcp_proxy(("127.0.0.1", port)) as proxy:
        suffering = asyncio.create_task(proxy.suffer(Faults(refuse=True), seconds=60))
        await until(lambda: proxy.faults.refuse, within_s=5)
        suffering.cancel()
        await asyncio.gather(suffering, return_exceptions=True)
        async with connected(proxy) as ends:
            assert await ask(ends) == b"line\n"
