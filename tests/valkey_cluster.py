"""A cluster of real servers on loopback, each with a part of the slots, for tests of cluster behaviour."""

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory.embedded.valkey import valkey_binary
from memory.redis.client import RedisClient, open_redis

SLOTS = 16_384
HIGHEST_PORT = 55_535
"""A node's bus listens 10,000 above its port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster. `nodes` are clients of the single servers, in the order of their slots."""

    url: str
    nodes: list[RedisClient]

    async def owner_of(self, key: str) -> int:
        """Return the node of the key's slot."""
        slot = int(await self.nodes[0].call("CLUSTER", "KEYSLOT", key))
        return slot * len(self.nodes) // SLOTS

    async def move(self, key: str, *, to: int) -> None:
        """Move the slot of a missing key to another node without telling clients.

        The new owner's epoch is raised first, or the former owner's next message would take the slot
        back.
        """
        slot = await self.nodes[0].call("CLUSTER", "KEYSLOT", key)
        owner = self.nodes[to]
        name = await owner.call("CLUSTER", "MYID")
        await owner.call("CLUSTER", "BUMPEPOCH")
        for node in (owner, *(each for each in self.nodes if each is not owner)):
            await node.call("CLUSTER", "SETSLOT", slot, "NODE", name)

    async def calls_of(self, command: str) -> list[int]:
        """Return the number of calls of this command on each node."""
        counts: list[int] = []
        for node in self.nodes:
            stats = await node.call("INFO", "commandstats")
            counts.append(int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"]))
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatedCluster:
    """A cluster with replicas.

    `nodes` and `servers`: the masters in the order of their slots, then the replica of each.
    """

    url: str
    nodes: list[RedisClient]
    masters: int
    servers: list[asyncio.subprocess.Process]

    def master_of(self, slot: int) -> int:
        """Return the master of the slot, before any failover."""
        return slot * self.masters // SLOTS

    async def lose_master(self, number: int) -> None:
        """Kill a master.

        Return when its replica has taken over and serves its slots. A stopped replica (SIGSTOP)
        continues with the data that had reached it.
        """
        self.servers[number].kill()
        await self.servers[number].wait()
        self.servers[self.masters + number].send_signal(signal.SIGCONT)
        replica = self.nodes[self.masters + number]

        async def leads() -> bool:
            is_whole = "cluster_state:ok" in str(await replica.call("CLUSTER", "INFO"))
            return is_whole and (await replica.call("ROLE"))[0] == "master"

        await _until(leads)


@asynccontextmanager
async def cluster_servers(directory: Path, *, nodes: int = 2, **settings: str) -> AsyncGenerator[list[int]]:
    """Run a cluster and yield its ports. `settings` apply to every server (`_` for `-`)."""
    async with AsyncExitStack() as stack:
        ports = [_free_port() for _ in range(nodes)]
        for port in ports:
            await stack.enter_async_context(_server(directory / str(port), port, settings))
        async with cluster_on(ports) as cluster:
            await _join(cluster.nodes, ports)
        yield ports


@asynccontextmanager
async def cluster_on(ports: list[int]) -> AsyncGenerator[Cluster]:
    """Open the cluster of these servers for one event loop."""
    async with AsyncExitStack() as stack:
        urls = [f"redis://127.0.0.1:{port}" for port in ports]
        nodes = [await stack.enter_async_context(open_redis(url, max_connections=4)) for url in urls]
        yield Cluster(url=f"redis+cluster://127.0.0.1:{ports[0]}", nodes=nodes)


@asynccontextmanager
async def replicated_cluster(
    directory: Path, *, masters: int = 3, **settings: str
) -> AsyncGenerator[ReplicatedCluster]:
    """Run a cluster in which each master has a replica with all its data."""
    async with AsyncExitStack() as stack:
        ports = [_free_port() for _ in range(2 * masters)]
        servers = [
            await stack.enter_async_context(
                _server(directory / str(port), port, {"repl_diskless_sync_delay": "0", **settings})
            )
            for port in ports
        ]
        cluster = await stack.enter_async_context(cluster_on(ports))
        await _join(cluster.nodes[:masters], ports[:masters])
        async with asyncio.TaskGroup() as following:
            for replica, master in zip(cluster.nodes[masters:], cluster.nodes, strict=False):
                following.create_task(_follow(replica, master, ports[0]))
        # Every node: that of a lone one may be the first to go.
        url = "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports)
        yield ReplicatedCluster(url=url, nodes=cluster.nodes, masters=masters, servers=servers)


@asynccontextmanager
async def _server(
    directory: Path, port: int, settings: dict[str, str]
) -> AsyncGenerator[asyncio.subprocess.Process]:
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
        yield server
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


async def _follow(replica: RedisClient, master: RedisClient, met: int) -> None:
    """Make an empty server follow a master. Return when it has caught up."""
    await _until(replica.is_alive)
    await replica.call("CLUSTER", "MEET", "127.0.0.1", met)
    name = str(await master.call("CLUSTER", "MYID"))

    async def knows_it() -> bool:
        return name in str(await replica.call("CLUSTER", "NODES"))

    async def has_caught_up() -> bool:
        return (await replica.call("INFO", "replication")).get("master_link_status") == "up"

    await _until(knows_it)
    await replica.call("CLUSTER", "REPLICATE", name)
    await _until(has_caught_up)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait up to 30 s until the servers report the condition."""
    async with asyncio.timeout(30):
        while not await holds():  # noqa: ASYNC110 - another process has no event to wait for
            await asyncio.sleep(0.02)


async def _join(clients: list[RedisClient], ports: list[int]) -> None:
    for number, client in enumerate(clients):
        await _until(client.is_alive)
        first, end = (-(-SLOTS * at // len(clients)) for at in (number, number + 1))
        await client.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        await client.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        if number > 0:
            await client.call("CLUSTER", "MEET", "127.0.0.1", ports[0])
    for client in clients:
        await _until(partial(_is_whole, client, len(clients)))


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
