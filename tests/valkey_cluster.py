"""A cluster of real servers on loopback, each with a part of the slots, for tests of what only a cluster does."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from memory.embedded.valkey import valkey_binary
from memory.redis_client import RedisClient, open_redis

SLOTS = 16_384
HIGHEST_PORT = 55_535
"""A node's bus listens 10,000 above its port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """`nodes` are clients of the single servers, in the order of their slots."""

    url: str
    nodes: list[RedisClient]

    async def owner_of(self, key: str) -> int:
        """Which node has the key's slot."""
        slot = int(await self.nodes[0].call("CLUSTER", "KEYSLOT", key))
        return slot * len(self.nodes) // SLOTS

    async def move(self, key: str, *, to: int) -> None:
        """Give the slot of a key that does not exist to another node; clients are not told."""
        slot = await self.nodes[0].call("CLUSTER", "KEYSLOT", key)
        name = await self.nodes[to].call("CLUSTER", "MYID")
        for node in self.nodes:
            await node.call("CLUSTER", "SETSLOT", slot, "NODE", name)

    async def calls_of(self, command: str) -> list[int]:
        """How often each node was asked this command."""
        counts: list[int] = []
        for node in self.nodes:
            stats = await node.call("INFO", "commandstats")
            counts.append(int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"]))
        return counts


@asynccontextmanager
async def cluster_servers(directory: Path, *, nodes: int = 2, **settings: str) -> AsyncGenerator[list[int]]:
    """The ports of a cluster that serves; `settings` are of every server (`_` for `-`)."""
    async with AsyncExitStack() as stack:
        ports = [_free_port() for _ in range(nodes)]
        for port in ports:
            await stack.enter_async_context(_server(directory / str(port), port, settings))
        async with cluster_on(ports) as cluster:
            await _join(cluster.nodes, ports)
        yield ports


@asynccontextmanager
async def cluster_on(ports: list[int]) -> AsyncGenerator[Cluster]:
    """The cluster of these servers, for one event loop."""
    async with AsyncExitStack() as stack:
        urls = [f"redis://127.0.0.1:{port}" for port in ports]
        nodes = [await stack.enter_async_context(open_redis(url, max_connections=4)) for url in urls]
        yield Cluster(url=f"redis+cluster://127.0.0.1:{ports[0]}", nodes=nodes)


@asynccontextmanager
async def _server(directory: Path, port: int, settings: dict[str, str]) -> AsyncGenerator[None]:
    directory.mkdir()  # noqa: ASYNC240 - before anything else goes on in this loop
    options = {
        "port": str(port),
        "bind": "127.0.0.1",
        "dir": str(directory),
        "appendonly": "yes",
        "cluster_enabled": "yes",
        **settings,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    server = await asyncio.create_subprocess_exec(
        valkey_binary(), *arguments, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        yield
    finally:
        server.kill()
        await server.wait()


async def _join(clients: list[RedisClient], ports: list[int]) -> None:
    async with asyncio.timeout(30):
        for number, client in enumerate(clients):
            while not await client.is_alive():  # noqa: ASYNC110 - another process has no event to wait for
                await asyncio.sleep(0.01)
            first, end = (-(-SLOTS * at // len(clients)) for at in (number, number + 1))
            await client.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            await client.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            if number > 0:
                await client.call("CLUSTER", "MEET", "127.0.0.1", ports[0])
        for client in clients:
            while not await _is_whole(client, len(clients)):  # noqa: ASYNC110 - nor have the servers
                await asyncio.sleep(0.02)


async def _is_whole(client: RedisClient, nodes: int) -> bool:
    told = str(await client.call("CLUSTER", "INFO")).splitlines()
    return {"cluster_state:ok", f"cluster_known_nodes:{nodes}"} <= set(told)


def _free_port() -> int:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port <= HIGHEST_PORT:
            return port
