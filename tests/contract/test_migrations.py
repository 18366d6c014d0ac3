"""Groups that became supergroups: their memory stays under their first id."""

from dataclasses import dataclass

import pytest

from bot.transport.migrations import DOUBT_S, Migrations
from memory import keys
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from tests.messages import make_message, make_ref

OLD, NEW = -9, -1001009
REF = make_ref(1)


@dataclass(slots=True)
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def some_migrations(redis: RedisClient, clock: Clock | None = None) -> Migrations:
    """Return the migrations of one process."""
    return Migrations(redis, clock=clock or Clock())


async def test_a_chat_without_a_migration_keeps_its_id(redis: RedisClient) -> None:
    migrations = some_migrations(redis)

    assert [await migrations.resolve(chat) for chat in (7, OLD, NEW)] == [7, OLD, NEW]
    assert await migrations.present_ids() == {}


async def test_every_process_knows_a_supergroup_by_both_ids_permanently(redis: RedisClient) -> None:
    await some_migrations(redis).learn(OLD, NEW)

    for migrations in (some_migrations(redis), some_migrations(redis)):
        assert [await migrations.resolve(chat) for chat in (OLD, NEW, NEW)] == [OLD, OLD, OLD]
        assert await migrations.present_ids() == {OLD: NEW}
    assert await redis.call("TTL", keys.global_key("migrations")) == -1


async def test_learning_a_migration_again_changes_nothing(redis: RedisClient) -> None:
    first, second = some_migrations(redis), some_migrations(redis)

    await first.learn(OLD, NEW)
    await first.learn(OLD, NEW)
    await second.learn(OLD, NEW)
    await second.learn(-77, NEW)

    assert await some_migrations(redis).resolve(NEW) == OLD


async def test_a_group_that_migrates_twice_keeps_its_first_memory(redis: RedisClient) -> None:
    await some_migrations(redis).learn(OLD, NEW)
    await some_migrations(redis).learn(NEW, -1002009)

    assert await some_migrations(redis).resolve(-1002009) == OLD


@pytest.mark.parametrize(("old", "new"), [(OLD, OLD), (OLD, 5), (5, NEW)])
async def test_an_impossible_migration_is_not_learnt(redis: RedisClient, old: int, new: int) -> None:
    await some_migrations(redis).learn(old, new)

    assert await some_migrations(redis).present_ids() == {}


async def test_a_missing_migration_is_cached_for_a_minute(redis: RedisClient) -> None:
    clock = Clock()
    migrations = some_migrations(redis, clock)
    await migrations.resolve(NEW)
    asked = redis.round_trips
    assert await migrations.resolve(NEW) == NEW
    assert redis.round_trips == asked

    await some_migrations(redis).learn(OLD, NEW)
    clock.now += DOUBT_S

    assert await migrations.resolve(NEW) == OLD


async def test_an_answer_from_before_a_migration_is_not_cached(redis: RedisClient) -> None:
    migrations = some_migrations(redis)
    assert await migrations.resolve(NEW, is_first_seen=True) == NEW

    await some_migrations(redis).learn(OLD, NEW)

    assert await migrations.resolve(NEW) == OLD


async def test_a_migration_clears_the_cache(redis: RedisClient) -> None:
    migrations = some_migrations(redis)
    await migrations.resolve(NEW)

    await migrations.learn(OLD, NEW)

    assert await migrations.resolve(NEW) == OLD


async def test_a_migration_deletes_the_old_telegram_ids_once_and_keeps_the_messages(
    redis: RedisClient,
) -> None:
    migrations, history = some_migrations(redis), RedisHistory(redis)
    await history.append(REF, [make_message("m1", telegram=57)], epoch=0)

    assert await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
    assert await history.find_by_telegram(REF, 57) is None

    await history.append(REF, [make_message("m2", telegram=57)], epoch=0)
    assert not await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
    assert await history.find_by_telegram(REF, 57) == "m2"
    assert [message.id for message in (await history.load(REF, limit=10)).newest] == ["m1", "m2"]


async def test_a_migration_from_before_a_reset_touches_nothing(redis: RedisClient) -> None:
    migrations, history = some_migrations(redis), RedisHistory(redis)
    await history.erase(REF)

    with pytest.raises(Forgotten):
        await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
