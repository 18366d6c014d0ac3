"""Group commit of updates: they share round trips, and each gets its own outcome."""

import asyncio

from memory import keys
from memory.errors import CommandRefused
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, open_inbox
from tests.messages import make_ref

UPDATES = 200


async def accept_all(box: Inbox) -> list[str | BaseException]:
    """Accept one update in each of many chats at the same time."""
    accepting = (box.accept(number, chat=number) for number in range(1, UPDATES + 1))
    return await asyncio.gather(*accepting, return_exceptions=True)


async def test_updates_that_arrive_together_share_round_trips(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await accept_all(box)
    before = redis.round_trips
    assert await accept_all(box) == ["duplicate"] * UPDATES
    assert redis.round_trips - before <= 10


async def test_a_group_is_stored_by_a_server_that_has_lost_its_scripts(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("SCRIPT", "FLUSH")
    assert await accept_all(box) == ["accepted"] * UPDATES
    assert [await box.waiting(number) for number in (1, UPDATES)] == [[1], [UPDATES]]


async def test_a_failed_update_does_not_fail_the_others_of_its_group(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("SET", keys.context_key(make_ref(7), "box"), "not a sorted set")
    outcomes = await accept_all(box)
    assert [number for number, outcome in enumerate(outcomes, 1) if outcome != "accepted"] == [7]
    assert isinstance(outcomes[6], CommandRefused)
