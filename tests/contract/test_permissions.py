"""A user of the store who loses a permission, or whose password is changed: honest errors, and nothing is lost."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.errors import CommandRefused, CredentialsRefused, NotPermitted, StoreFull, StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import check_writes
from tests.contract.inbox_kit import open_inbox
from tests.stores import REDIS, plain_valkey

pytestmark = pytest.mark.slow


@pytest.fixture(
    params=[
        "valkey",
        pytest.param("redis", marks=pytest.mark.skipif(REDIS is None, reason="Debian: redis-server")),
    ]
)
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[str]:
    """Run a server with an append-only file, and return its URL."""
    program = "" if request.param == "valkey" else REDIS or ""
    async with plain_valkey(tmp_path, program=program, appendonly="yes") as url:
        yield url


@asynccontextmanager
async def limited(url: str) -> AsyncGenerator[tuple[RedisClient, RedisClient]]:
    """Yield an administrator's client, and one of the user `bot`, who may do everything at first."""
    async with open_redis(url) as admin:
        await admin.call("ACL", "SETUSER", "bot", "on", ">word", "~*", "+@all")
        async with open_redis(url.replace("unix://", "unix://bot:word@")) as redis:
            yield admin, redis


@pytest.mark.parametrize("command", ["hset", "zadd", "xadd"])
async def test_an_update_that_a_lost_permission_refuses_is_stored_at_its_next_delivery(
    url: str, command: str
) -> None:
    async with limited(url) as (admin, redis):
        box = await open_inbox(redis)
        await admin.call("ACL", "SETUSER", "bot", f"-{command}")
        with pytest.raises(NotPermitted, match=f"REDIS_URL not run {command.upper()}: allow it"):
            await box.accept(1)
        assert await box.waiting() == []
        assert redis.permissions.missing(within_s=30) is not None

        await admin.call("ACL", "SETUSER", "bot", f"+{command}")

        assert await box.accept(1) == "accepted"
        assert (await box.take(await box.claim_one())).updates == {1: "p1"}


async def test_a_lost_permission_leaves_no_half_of_a_commit(url: str) -> None:
    async with limited(url) as (admin, redis):
        box = await open_inbox(redis)
        await box.accept(1)
        claim = await box.claim_one()
        await box.take(claim)
        await admin.call("ACL", "SETUSER", "bot", "-expire")
        with pytest.raises(NotPermitted, match="run EXPIRE"):
            await box.commit(claim, 1)
        assert await box.waiting() == [1]
        assert await box.state_of(1) == ("pending", "")

        await admin.call("ACL", "SETUSER", "bot", "+expire")
        await box.commit(claim, 1)

        assert (await box.state_of(1))[0] == "answered"


async def test_a_refused_command_is_no_lost_claim(url: str) -> None:
    """The heartbeat of a context needs XCLAIM. Without it the work waits, as in an outage."""
    async with limited(url) as (admin, redis):
        box = await open_inbox(redis)
        await box.accept(1)
        claim = await box.claim_one()
        await admin.call("ACL", "SETUSER", "bot", "-xclaim")

        with pytest.raises(NotPermitted) as refused:
            await box.inbox.keep(claim)

        assert isinstance(refused.value, StoreUnavailable | CommandRefused)
        await admin.call("ACL", "SETUSER", "bot", "+xclaim")
        await box.inbox.keep(claim)


async def test_keys_that_the_user_may_not_touch_are_named(url: str) -> None:
    async with limited(url) as (admin, redis):
        await admin.call("ACL", "SETUSER", "bot", "resetkeys", "~other:*")

        with pytest.raises(NotPermitted, match=r"allow mnemogram:\* \(ACL SETUSER"):
            await redis.call("GET", "mnemogram:format")


async def test_a_changed_password_is_named_and_a_corrected_one_works_without_a_restart(url: str) -> None:
    async with limited(url) as (admin, redis):
        box = await open_inbox(redis)
        await admin.call("ACL", "SETUSER", "bot", ">other", "<word")
        await admin.call("CLIENT", "KILL", "USER", "bot")
        with pytest.raises(CredentialsRefused, match="REDIS_URL"):
            await box.accept(1)

        await admin.call("ACL", "SETUSER", "bot", ">word")

        assert await box.accept(1) == "accepted"


async def test_a_replica_in_the_url_is_named(url: str) -> None:
    async with open_redis(url) as admin, open_redis(url) as redis:
        await admin.call("REPLICAOF", "127.0.0.1", 1)

        with pytest.raises(StoreFull, match=r"READONLY \(it is a replica: name the primary\)"):
            await check_writes(redis, partitions=1)
