"""The durability of real servers, read from their settings."""

from pathlib import Path

import pytest

from memory.errors import StoreFull, StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import StoreDurability, check_store, check_writes
from tests.stores import plain_valkey


async def test_the_embedded_store_is_durable(redis: RedisClient) -> None:
    facts = await check_store(redis, is_external=False)
    assert facts.problems == ()
    assert (facts.server, facts.appendonly, facts.appendfsync) == ("Valkey", True, "always")
    assert facts.maxmemory_policy == "noeviction"
    assert facts.version.startswith("9.")


async def test_a_server_that_loses_or_evicts_data_is_reported(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path, maxmemory_policy="allkeys-lru") as url, open_redis(url) as redis:
        facts = await check_store(redis, is_external=True)
    assert (facts.appendonly, facts.maxmemory_policy) == (False, "allkeys-lru")
    assert ["append-only" in facts.problems[0], "evicts" in facts.problems[1]] == [True, True]


@pytest.mark.parametrize("appendonly", ["yes", "no"])
async def test_a_server_that_refuses_config_is_asked_by_info(tmp_path: Path, appendonly: str) -> None:
    async with plain_valkey(tmp_path, appendonly=appendonly) as url:
        facts = await facts_for_a_user_who_may_not(url, "-config")
    assert (facts.appendonly, facts.appendfsync) == (appendonly == "yes", None)
    assert facts.maxmemory_policy == "noeviction"
    assert len(facts.problems) == (appendonly == "no")


async def test_a_user_without_permissions_is_told_that_durability_is_unknown(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path, appendonly="yes") as url:
        facts = await facts_for_a_user_who_may_not(url, "-config", "-info")
    assert (facts.appendonly, facts.maxmemory_policy) == (None, None)
    assert len(facts.problems) == 2
    assert all("does not tell" in problem for problem in facts.problems)


async def facts_for_a_user_who_may_not(url: str, *denied: str) -> StoreDurability:
    """Read the facts as a user without CONFIG, and sometimes without INFO, as on managed services."""
    async with open_redis(url) as admin:
        await admin.call("ACL", "SETUSER", "limited", "on", ">word", "~*", "+@all", *denied)
    async with open_redis(url.replace("unix://", "unix://limited:word@")) as redis:
        return await check_store(redis, is_external=True)


async def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    async with open_redis(f"unix://{tmp_path / 'nothing.sock'}") as redis:
        with pytest.raises(StoreUnavailable):
            await check_store(redis, is_external=True)


@pytest.mark.parametrize("is_new", [True, False], ids=["new client", "client that has written"])
async def test_a_replica_refuses_writes_and_says_that_it_is_one(tmp_path: Path, is_new: bool) -> None:
    async with (
        plain_valkey(tmp_path, appendonly="yes") as url,
        open_redis(url) as control,
        open_redis(url) as redis,
    ):
        if not is_new:
            await check_writes(redis, partitions=1)
        await control.call("REPLICAOF", "127.0.0.1", 1)
        with pytest.raises(StoreFull, match=r"READONLY \(it is a replica: name the primary\)"):
            await check_writes(redis, partitions=1)
        await control.call("REPLICAOF", "NO", "ONE")
        await check_writes(redis, partitions=1)


async def test_a_managed_store_without_persistence_can_be_accepted(tmp_path: Path) -> None:
    """Some refuse CONFIG and have no append-only file, such as Memorystore's basic tier."""
    async with plain_valkey(tmp_path, appendonly="no") as url:
        async with open_redis(url) as admin:
            await admin.call("ACL", "SETUSER", "limited", "on", ">word", "~*", "+@all", "-config")
        async with open_redis(url.replace("unix://", "unix://limited:word@")) as redis:
            facts = await check_store(redis, is_external=True, accepts="true")
            await check_writes(redis, partitions=1)

    assert facts.problems == ()
    assert "keeps no append-only file" in facts.accepted
