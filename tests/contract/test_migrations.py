"""Groups that became supergroups: their memory stays where it is, under the id that they had first."""

from dataclasses import dataclass

import pytest

from bot.transport.migrations import DOUBT_S, Migrations
from memory import keys
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from tests.messages import a_message, a_ref

OLD, NEW = -9, -1001009
REF = a_ref(1)


@dataclass(slots=True)
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def some_migrations(redis: RedisClient, clock: Clock | None = None) -> Migrations:
    """What one process knows."""
    return Migrations(redis, clock=clock or Clock())


async def test_a_chat_that_never_moved_is_its_own(redis: RedisClient) -> None:
    migrations = some_migrations(redis)

    assert [await migrations.resolve(chat) for chat in (7, OLD, NEW)] == [7, OLD, NEW]
    assert await migrations.present_ids() == {}


async def test_a_supergroup_is_known_by_both_ids_in_every_process_and_for_good(redis: RedisClient) -> None:
    await some_migrations(redis).learn(OLD, NEW)

    for migrations in (some_migrations(redis), some_migrations(redis)):
        assert [await migrations.resolve(chat) for chat in (OLD, NEW, NEW)] == [OLD, OLD, OLD]
        assert await migrations.present_ids() == {OLD: NEW}
    assert await redis.call("TTL", keys.global_key("migrations")) == -1


async def test_learning_it_again_changes_nothing(redis: RedisClient) -> None:
    first, second = some_migrations(redis), some_migrations(redis)

    await first.learn(OLD, NEW)
    await first.learn(OLD, NEW)
    await second.learn(OLD, NEW)
    await second.learn(-77, NEW)

    assert await some_migrations(redis).resolve(NEW) == OLD


async def test_a_group_that_moves_twice_keeps_its_first_memory(redis: RedisClient) -> None:
    await some_migrations(redis).learn(OLD, NEW)
    await some_migrations(redis).learn(NEW, -1002009)

    assert await some_migrations(redis).resolve(-1002009) == OLD


@pytest.mark.parametrize(("old", "new"), [(OLD, OLD), (OLD, 5), (5, NEW)])
async def test_what_no_group_can_become_is_not_learnt(redis: RedisClient, old: int, new: int) -> None:
    await some_migrations(redis).learn(old, new)

    assert await some_migrations(redis).present_ids() == {}


async def test_that_a_group_never_moved_is_believed_for_a_minute(redis: RedisClient) -> None:
    clock = Clock()
    migrations = some_migrations(redis, clock)
    await migrations.resolve(NEW)
    asked = redis.round_trips
    assert await migrations.resolve(NEW) == NEW
    assert redis.round_trips == asked

    await some_migrations(redis).learn(OLD, NEW)
    clock.now += DOUBT_S

    assert await migrations.resolve(NEW) == OLD


async def test_what_comes_before_the_news_of_a_migration_is_not_believed_for_later(
    redis: RedisClient,
) -> None:
    migrations = some_migrations(redis)
    assert await migrations.resolve(NEW, is_first_seen=True) == NEW

    await some_migrations(redis).learn(OLD, NEW)

    assert await migrations.resolve(NEW) == OLD


async def test_news_of_a_migration_end_what_was_believed(redis: RedisClient) -> None:
    migrations = some_migrations(redis)
    await migrations.resolve(NEW)

    await migrations.learn(OLD, NEW)

    assert await migrations.resolve(NEW) == OLD


async def test_old_telegram_ids_are_forgotten_once_and_the_messages_stay(redis: RedisClient) -> None:
    migrations, history = some_migrations(redis), RedisHistory(redis)
    await history.append(REF, [a_message("m1", telegram=57)], epoch=0)

    assert await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
    assert await history.find_by_telegram(REF, 57) is None

    await history.append(REF, [a_message("m2", telegram=57)], epoch=0)
    assert not await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
    assert await history.find_by_telegram(REF, 57) == "m2"
    assert [message.id for message in (await history.load(REF, limit=10)).newest] == ["m1", "m2"]


async def test_a_migration_from_before_a_reset_touches_nothing(redis: RedisClient) -> None:
    migrations, history = some_migrations(redis), RedisHistory(redis)
    await history.erase(REF)

    with pytest.raises(Forgotten):
        await migrations.forget_telegram_ids(REF, epoch=0, new_chat_id=NEW)
