"""What real servers say of themselves."""

from pathlib import Path

import pytest

from memory.errors import StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import StoreDurability, check_store
from tests.stores import plain_valkey


async def test_the_embedded_store_has_no_problem(redis: RedisClient) -> None:
    facts = await check_store(redis, is_external=False)
    assert facts.problems == ()
    assert (facts.server, facts.appendonly, facts.appendfsync) == ("Valkey", True, "always")
    assert facts.maxmemory_policy == "noeviction"
    assert facts.version.startswith("9.")


async def test_a_server_that_loses_and_evicts_is_told(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path, maxmemory_policy="allkeys-lru") as url, open_redis(url) as redis:
        facts = await check_store(redis, is_external=True)
    assert (facts.appendonly, facts.maxmemory_policy) == (False, "allkeys-lru")
    assert ["append-only" in facts.problems[0], "evicts" in facts.problems[1]] == [True, True]


@pytest.mark.parametrize("appendonly", ["yes", "no"])
async def test_where_config_is_refused_the_server_is_asked_otherwise(tmp_path: Path, appendonly: str) -> None:
    async with plain_valkey(tmp_path, appendonly=appendonly) as url:
        facts = await facts_for_a_user_who_may_not(url, "-config")
    assert (facts.appendonly, facts.appendfsync) == (appendonly == "yes", None)
    assert facts.maxmemory_policy == "noeviction"
    assert len(facts.problems) == (appendonly == "no")


async def test_a_user_who_may_ask_nothing_is_told_that_nothing_is_known(tmp_path: Path) -> None:
    async with plain_valkey(tmp_path, appendonly="yes") as url:
        facts = await facts_for_a_user_who_may_not(url, "-config", "-info")
    assert (facts.appendonly, facts.maxmemory_policy) == (None, None)
    assert len(facts.problems) == 2
    assert all("does not tell" in problem for problem in facts.problems)


async def facts_for_a_user_who_may_not(url: str, *denied: str) -> StoreDurability:
    """As managed services do it: CONFIG, and sometimes INFO, is a matter of permission."""
    async with open_redis(url) as admin:
        await admin.call("ACL", "SETUSER", "limited", "on", ">word", "~*", "+@all", *denied)
    async with open_redis(url.replace("unix://", "unix://limited:word@")) as redis:
        return await check_store(redis, is_external=True)


async def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    async with open_redis(f"unix://{tmp_path / 'nothing.sock'}") as redis:
        with pytest.raises(StoreUnavailable):
            await check_store(redis, is_external=True)
