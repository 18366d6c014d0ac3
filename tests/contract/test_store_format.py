"""The store's format: a store of another format is refused at the start, and nothing in it changes."""

import pytest

from memory import keys
from memory.errors import StoreMismatch
from memory.redis.client import RedisClient
from memory.redis.durability import STORE_FORMAT, check_store_format
from tests.redis_values import all_values


async def test_the_first_start_writes_the_format_and_later_starts_accept_it(redis: RedisClient) -> None:
    for _ in range(2):
        await check_store_format(redis, partitions=1)

    assert await redis.call("GET", keys.global_key("format")) == str(STORE_FORMAT)


@pytest.mark.parametrize("stored", [str(STORE_FORMAT - 1), str(STORE_FORMAT + 1), None])
async def test_a_store_with_another_format_or_none_is_refused_and_not_changed(
    redis: RedisClient, stored: str | None
) -> None:
    await redis.call("SET", keys.global_key("partitions"), 1)
    if stored is not None:
        await redis.call("SET", keys.global_key("format"), stored)
    before = await all_values(redis)

    with pytest.raises(StoreMismatch, match="name an empty store"):
        await check_store_format(redis, partitions=1)

    assert await all_values(redis) == before


async def test_the_first_start_fixes_the_number_of_partitions(redis: RedisClient) -> None:
    assert await check_store_format(redis, partitions=2) == 2
    assert await check_store_format(redis, partitions=1) == 2
