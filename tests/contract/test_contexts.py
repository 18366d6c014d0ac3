"""The registry of contexts on the real store."""

import asyncio

from memory.history.contexts import dump_entry, get_or_create, list_contexts, scan_contexts
from memory.keys import partition_key
from memory.redis.client import RedisClient, open_redis
from tests.messages import make_ref

KEYS = {"bot_id": 7, "chat_id": 1}


async def test_m01_two_first_messages_at_the_same_instant_create_one_context(
    redis: RedisClient, redis_url: str
) -> None:
    async with open_redis(redis_url) as another_process:
        made = await asyncio.gather(
            *(
                get_or_create(client, make_ref(), context_keys=KEYS, title="Anna", now=float(n))
                for n, client in enumerate([redis, another_process] * 20)
            )
        )
    assert len({context.created_at for context in made}) == 1
    assert await list_contexts(redis, [0]) == [made[0]]


async def test_m01_an_existing_context_is_returned_with_its_keys_and_creation_time(
    redis: RedisClient,
) -> None:
    created = await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna", now=5.5)
    got = await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna", now=9.0)
    assert got == created
    assert (got.keys, got.title, got.created_at) == (KEYS, "Anna", 5.5)


async def test_a_new_title_replaces_only_the_old_title(redis: RedisClient) -> None:
    await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna", now=5.5)
    renamed = await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna & Ben", now=9.0)
    assert (renamed.title, renamed.created_at) == ("Anna & Ben", 5.5)
    assert await list_contexts(redis, [0]) == [renamed]


async def test_reading_a_known_context_takes_one_round_trip(redis: RedisClient) -> None:
    await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna", now=5.5)
    before = redis.round_trips
    await get_or_create(redis, make_ref(), context_keys=KEYS, title="Anna", now=5.5)
    assert redis.round_trips == before + 1


async def test_contexts_are_listed_oldest_first(redis: RedisClient) -> None:
    for chat_id, now in ((1, 30.0), (2, 10.0), (3, 20.0)):
        await get_or_create(redis, make_ref(chat_id), context_keys={"chat_id": chat_id}, title="", now=now)
    assert [context.ref for context in await list_contexts(redis, [0, 1])] == [
        make_ref(2),
        make_ref(3),
        make_ref(1),
    ]


async def test_the_contexts_of_a_chat_are_found_among_thousands_and_no_others(redis: RedisClient) -> None:
    entries = {
        f"{number:032x}": dump_entry({"chat_id": number}, title=f'"chat_id":77 of {number}', created_at=1.0)
        for number in range(3_000)
    }
    topics = {
        f"{number:032x}": dump_entry({"chat_id": -77, "message_thread_id": number}, title="", created_at=1.0)
        for number in range(5_000, 5_003)
    }
    registry = partition_key(0, "contexts")
    await redis.call("HSET", registry, *[word for row in (entries | topics).items() for word in row])

    async def found(chat_id: int) -> set[str]:
        scanned = scan_contexts(redis, 0, name="chat_id", value=chat_id)
        return {context.ref.context_id async for context in scanned}

    assert await found(77) == {f"{77:032x}"}
    assert await found(-77) == set(topics)
    assert await found(4_000) == set()
