"""Sentinels on loopback, Valkey's server in its sentinel mode, for tests of how they are asked."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from chaos.rig.program import until_it_is
from chaos.rig.system import free_port
from memory.embedded.supervisor import is_answering
from memory.embedded.valkey import valkey_binary


@asynccontextmanager
async def sentinels(
    directory: Path, *, master_password: str = "", own_password: str = "", count: int = 1
) -> AsyncGenerator[str]:
    """Run a master named `bot` and its sentinels. Yields the sentinels as `host:port,host:port`."""
    async with AsyncExitStack() as stack:
        master = free_port()
        secret = ("--requirepass", master_password) if master_password else ()
        await stack.enter_async_context(_server(master, "--dir", str(directory), *secret))
        ports: list[int] = []
        for number in range(count):
            port = free_port()
            file = directory / f"sentinel-{number}.conf"
            lines = [f"port {port}", f"dir {directory}", f"sentinel monitor bot 127.0.0.1 {master} 1"]
            if master_password:
                lines.append(f'sentinel auth-pass bot "{master_password}"')
            if own_password:
                lines.append(f'requirepass "{own_password}"')
            file.write_text("\n".join(lines) + "\n")
            await stack.enter_async_context(_server(port, file=file))
            ports.append(port)
        yield ",".join(f"127.0.0.1:{port}" for port in ports)


@asynccontextmanager
async def _server(port: int, *options: str, file: Path | None = None) -> AsyncGenerator[None]:
    given = (str(file), "--sentinel") if file else ("--port", str(port), "--bind", "127.0.0.1", *options)
    server = await asyncio.create_subprocess_exec(
        valkey_binary(), *given, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )

    async def answers() -> bool:
        return await is_answering(asyncio.open_connection("127.0.0.1", port), b"PING\r\n", b"\r\n")

    try:
        await until_it_is(True, answers, within_s=20)
        yield
    finally:
        server.kill()
        await server.wait()
