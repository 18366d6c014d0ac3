"""The client on a real cluster: durable writes are confirmed by their node, and every node is checked."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass

import pytest

from memory.errors import CommandRefused, StoreNotDurable, StoreUnavailable
from memory.keys import Key
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import check_store
from tests.stores import hold_open
from tests.typed_scripts import set_two, set_value
from tests.valkey_cluster import Cluster, cluster_on, cluster_servers

pytestmark = pytest.mark.slow

KEYS = [f"{{m{number}}}:box" for number in range(6)]
"""On both nodes, as the partitions of an inbox are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    cluster: Cluster
    redis: RedisClient

    async def durably(self, key: str, value: str = "v") -> str:
        return await self.redis.run_durably(set_value(key=Key(key), value=value))


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Generator[list[int]]:
    with hold_open(cluster_servers(tmp_path_factory.mktemp("cluster"))) as opened:
        yield opened


@pytest.fixture
async def rig(ports: list[int]) -> AsyncGenerator[Rig]:
    async with cluster_on(ports) as cluster, open_redis(cluster.url) as redis:
        for node in cluster.nodes:
            await node.call("FLUSHALL")
            await node.call("CONFIG", "RESETSTAT")
        yield Rig(cluster=cluster, redis=redis)


async def test_a_durable_write_is_confirmed_by_its_node(rig: Rig) -> None:
    owners = [await rig.cluster.owner_of(key) for key in KEYS]
    for key in KEYS:  # each node learns the script
        await rig.durably(key)
    before = await rig.cluster.calls_of("waitaof")

    for key in KEYS:
        assert await rig.durably(key) == "OK"

    after = await rig.cluster.calls_of("waitaof")
    assert set(owners) == {0, 1}
    assert [now - then for now, then in zip(after, before, strict=True)] == [
        owners.count(node) for node in (0, 1)
    ]


async def test_one_reachable_node_of_the_url_is_enough(rig: Rig) -> None:
    _, _, known = rig.cluster.url.rpartition("/")
    async with open_redis(f"redis+cluster://127.0.0.1:1,{known}") as redis:
        assert [await redis.run_durably(set_value(key=Key(key), value="v")) for key in KEYS] == ["OK"] * len(
            KEYS
        )


async def test_a_write_without_confirmation_of_its_node_is_not_durable(rig: Rig) -> None:
    owners = {await rig.cluster.owner_of(key): key for key in KEYS}
    key = owners[1]
    await rig.durably(key)
    owner = rig.cluster.nodes[1]
    await owner.call("CONFIG", "SET", "appendfsync", "no")
    try:
        with pytest.raises(StoreNotDurable):
            await rig.durably(key)
    finally:
        await owner.call("CONFIG", "SET", "appendfsync", "everysec")


async def test_a_durable_write_follows_a_moved_slot(rig: Rig) -> None:
    key = "{moving}:box"
    owner = await rig.cluster.owner_of(key)
    await rig.durably(KEYS[0])  # the client has its map of the slots
    await rig.cluster.move(key, to=1 - owner)
    try:
        assert await rig.durably(key, "moved") == "OK"
        assert await rig.cluster.nodes[1 - owner].call("GET", key) == "moved"
        assert (await rig.cluster.calls_of("waitaof"))[1 - owner] >= 1
    finally:
        await rig.redis.call("DEL", key)
        await rig.cluster.move(key, to=owner)


async def test_a_durable_write_survives_a_closed_connection(rig: Rig) -> None:
    await rig.durably(KEYS[0])
    for node in rig.cluster.nodes:
        await node.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    assert [await rig.durably(key) for key in KEYS] == ["OK"] * len(KEYS)


async def test_a_durable_cluster_has_no_problem(rig: Rig) -> None:
    facts = await check_store(rig.redis, is_external=True)

    assert facts.problems == ()
    assert (facts.appendonly, facts.appendfsync, facts.maxmemory_policy) == (True, "everysec", "noeviction")


@pytest.mark.parametrize(
    ("setting", "bad", "good", "words"),
    [
        ("appendonly", "no", "yes", "keeps no append-only file"),
        ("appendfsync", "no", "everysec", "appendfsync everysec"),
        ("maxmemory-policy", "allkeys-lru", "noeviction", "allkeys-lru"),
    ],
)
@pytest.mark.parametrize("node", [0, 1])
async def test_one_node_that_loses_or_evicts_data_is_a_problem(
    rig: Rig, node: int, setting: str, bad: str, good: str, words: str
) -> None:
    await rig.cluster.nodes[node].call("CONFIG", "SET", setting, bad)
    try:
        (problem,) = (await check_store(rig.redis, is_external=True)).problems
    finally:
        await rig.cluster.nodes[node].call("CONFIG", "SET", setting, good)

    assert words in problem


async def test_a_command_unsupported_on_clusters_is_an_error_of_ours(rig: Rig) -> None:
    with pytest.raises(CommandRefused):
        await rig.redis.run(set_two(one=Key("{a}"), two=Key("{b}"), value="v"))


async def test_a_node_with_the_address_of_another_kind_is_told(rig: Rig, ports: list[int]) -> None:
    async with open_redis(f"redis://127.0.0.1:{ports[0]}") as redis:  # redis/ioredis#1606
        foreign = [key for key in KEYS if await rig.cluster.owner_of(key) != 0]
        with pytest.raises(StoreUnavailable, match=r"one node of a cluster. Begin the address with redis\+"):
            await redis.call("GET", foreign[0])
    async with open_redis(f"redis+sentinel://127.0.0.1:{ports[0]}") as redis:
        with pytest.raises(CommandRefused, match="It is no sentinel: begin the address with redis://"):
            await redis.call("PING")


async def test_a_missing_cluster_is_unavailable() -> None:
    async with open_redis("redis+cluster://127.0.0.1:1") as redis:
        for doing in (
            redis.call("PING"),
            redis.calls([("GET", "a")]),
            redis.run_durably(set_value(key=Key("a"), value="v")),
            redis.ask_each("INFO", "server"),
        ):
            with pytest.raises(StoreUnavailable):
                await doing
