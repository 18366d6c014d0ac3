"""The contract of HistoryStore, on the real store and on the fake, and additions of the Redis store."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from memory.chat_history import newest_first, oldest_first
from memory.errors import Forgotten
from memory.history.message import Sender
from memory.history.redis_history import RedisHistory, load_snapshot, parse_snapshot, recent_messages
from memory.history.store import Deletion
from memory.keys import PREFIX, ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import named
from tests.contract.memory_kit import Store, open_history
from tests.messages import ids, make_message, make_ref, some_messages
from tests.stores import all_keys
from tests.typed_scripts import link_telegram_id

REF = make_ref()


@pytest.fixture(params=["redis", "memory"])
async def store(request: pytest.FixtureRequest, redis_url: str) -> AsyncGenerator[Store]:
    async with open_history(request.param, redis_url) as history:
        yield history


async def test_an_unknown_context_is_empty(store: Store) -> None:
    snapshot = await store.load(REF, limit=10)
    assert (snapshot.epoch, snapshot.count, snapshot.next_sequence) == (0, 0, 0)
    assert snapshot.newest == ()
    assert snapshot.created_at is None
    assert await store.page(REF, limit=10) == []


async def test_a_message_reads_as_it_was_appended(store: Store) -> None:
    message = replace(
        make_message(text='say "\u2028" <|endoftext|> \U0001f44d\x00'),
        sender=Sender(id=-5, name="Zoë 'x'"),
        telegram_message_id=77,
        is_stopped=True,
    )
    appended = await store.append(REF, [message], epoch=0)
    assert appended == [replace(message, sequence=0)]
    assert (await store.load(REF, limit=1)).newest == (replace(message, sequence=0),)


async def test_messages_are_numbered_in_the_order_of_their_appends(store: Store) -> None:
    await store.append(REF, some_messages(3), epoch=0)
    appended = await store.append(REF, some_messages(2, start=3), epoch=0)
    assert [message.sequence for message in appended] == [3, 4]
    assert ids((await store.load(REF, limit=10)).newest) == ["m0", "m1", "m2", "m3", "m4"]


async def test_a_message_appended_twice_is_stored_once_with_its_first_sequence(store: Store) -> None:
    await store.append(REF, some_messages(2), epoch=0)
    again = await store.append(REF, [make_message("m0", "other"), make_message("m2")], epoch=0)
    assert [message.sequence for message in again] == [0, 2]
    assert [message.text for message in (await store.load(REF, limit=9)).newest] == [
        "text 0",
        "text 1",
        "hello",
    ]


async def test_a_load_returns_the_newest_messages_oldest_first_and_counts_all(store: Store) -> None:
    await store.append(REF, some_messages(7), epoch=0)
    snapshot = await store.load(REF, limit=3)
    assert ids(snapshot.newest) == ["m4", "m5", "m6"]
    assert (snapshot.count, snapshot.conversation_count, snapshot.next_sequence) == (7, 7, 7)
    assert snapshot.created_at == 1000.5
    assert len(snapshot.newest) < snapshot.conversation_count
    assert len((await store.load(REF, limit=7)).newest) == snapshot.conversation_count
    assert (await store.load(REF, limit=0)).newest == ()


async def test_pages_lead_back_through_the_history_and_end_with_an_empty_one(store: Store) -> None:
    await store.append(REF, some_messages(5), epoch=0)
    first = await store.page(REF, limit=2)
    second = await store.page(REF, before_sequence=first[-1].sequence, limit=2)
    third = await store.page(REF, before_sequence=second[-1].sequence, limit=2)
    assert [ids(page) for page in (first, second, third)] == [["m4", "m3"], ["m2", "m1"], ["m0"]]
    assert await store.page(REF, before_sequence=0, limit=2) == []


async def test_pages_lead_forward_from_the_beginning(store: Store) -> None:
    await store.append(REF, some_messages(5), epoch=0)
    assert ids(await store.page(REF, after_sequence=-1, limit=2)) == ["m0", "m1"]
    assert ids(await store.page(REF, after_sequence=1, limit=9)) == ["m2", "m3", "m4"]
    assert await store.page(REF, after_sequence=4, limit=9) == []


async def test_a_history_longer_than_a_page_reads_whole_in_both_directions(store: Store) -> None:
    await store.append(REF, some_messages(250), epoch=0)
    wanted = [f"m{number}" for number in range(250)]
    assert [message.id async for message in oldest_first(store, REF)] == wanted
    assert [message.id async for message in newest_first(store, REF)] == wanted[::-1]


async def test_messages_are_returned_by_id_without_missing_ones(store: Store) -> None:
    await store.append(REF, some_messages(3), epoch=0)
    got = await store.get(REF, ["m2", "nothing", "m0"])
    assert {key: message.sequence for key, message in got.items()} == {"m2": 2, "m0": 0}
    assert await store.get(REF, []) == {}


async def test_a_deletion_keeps_the_sequences_of_the_other_messages(store: Store) -> None:
    await store.append(REF, some_messages(4), epoch=0)
    assert (await store.delete(REF, ["m1", "m3", "nothing"], epoch=0)).messages == 2
    assert (await store.delete(REF, ["m1"], epoch=0)).messages == 0
    await store.append(REF, [make_message("m4")], epoch=0)
    snapshot = await store.load(REF, limit=9)
    assert [(message.id, message.sequence) for message in snapshot.newest] == [
        ("m0", 0),
        ("m2", 2),
        ("m4", 4),
    ]
    assert snapshot.count == 3


async def test_an_erasure_leaves_nothing_and_begins_an_epoch(store: Store) -> None:
    await store.append(REF, some_messages(4), epoch=0)
    erased = await store.erase(REF)
    assert (erased.epoch, erased.messages) == (1, 4)
    snapshot = await store.load(REF, limit=9)
    assert (snapshot.epoch, snapshot.count, snapshot.next_sequence) == (1, 0, 0)
    assert snapshot.created_at is None
    assert await store.get(REF, ["m0"]) == {}


async def test_a_write_from_before_a_reset_raises_forgotten(store: Store) -> None:
    await store.append(REF, some_messages(1), epoch=0)
    await store.erase(REF)
    await store.append(REF, [make_message("kept")], epoch=1)
    with pytest.raises(Forgotten):
        await store.append(REF, some_messages(1), epoch=0)
    with pytest.raises(Forgotten):
        await store.delete(REF, ["kept"], epoch=0)
    with pytest.raises(Forgotten):
        await store.start_conversation(REF, epoch=0)
    snapshot = await store.load(REF, limit=9)
    assert ids(snapshot.newest) == ["kept"]
    assert snapshot.conversation_start == 0


async def test_an_empty_write_does_nothing(store: Store) -> None:
    await store.erase(REF)
    assert await store.append(REF, [], epoch=0) == []
    assert await store.delete(REF, [], epoch=0) == Deletion()
    assert (await store.load(REF, limit=9)).created_at is None


async def test_a_new_conversation_hides_the_old_messages_and_keeps_them(store: Store) -> None:
    await store.append(REF, some_messages(3), epoch=0)
    assert await store.start_conversation(REF, epoch=0) == 3
    assert (await store.load(REF, limit=9)).newest == ()
    await store.append(REF, [make_message("new")], epoch=0)
    snapshot = await store.load(REF, limit=9)
    assert ids(snapshot.newest) == ["new"]
    assert (snapshot.count, snapshot.conversation_count, snapshot.conversation_start) == (4, 1, 3)
    assert ids(await store.page(REF, limit=9)) == ["new"]
    assert ids(await store.page(REF, after_sequence=-1, limit=9)) == ["new"]
    assert ids(await store.page(REF, limit=9, whole=True)) == ["new", "m2", "m1", "m0"]
    assert ids(await store.page(REF, after_sequence=-1, limit=2, whole=True)) == ["m0", "m1"]
    assert list(await store.get(REF, ["m0"])) == ["m0"]


async def test_contexts_do_not_see_each_other(store: Store) -> None:
    await store.append(REF, some_messages(2), epoch=0)
    other = make_ref(2)
    await store.append(other, [make_message("m0", "the other's")], epoch=0)
    await store.erase(other)
    assert (await store.load(REF, limit=9)).count == 2
    assert (await store.load(other, limit=9)).count == 0
    assert await store.get(other, ["m1"]) == {}


async def test_two_concurrent_writers_lose_nothing(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    writes = [store.append(REF, [make_message(f"w{n}")], epoch=0) for n in range(40)]
    appended = await asyncio.gather(*writes)
    assert sorted(message.sequence or 0 for (message,) in appended) == list(range(40))
    assert (await store.load(REF, limit=0)).count == 40


async def test_user_and_assistant_messages_with_text_queue_index_work_once(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    messages = [
        make_message("u", "Anna lives in Lisbon"),
        make_message("a", "Noted.", role="assistant"),
        make_message("blank", " \n\t"),
        make_message("s", "Be kind.", role="system"),
        make_message("t", "42", role="tool"),
    ]
    await store.append(REF, messages, epoch=0)
    await store.append(REF, messages, epoch=0)
    work = [fields for _, fields in await redis.call("XRANGE", partition_key(0, "work"), "-", "+")]
    assert work == [
        {"op": "new", "context": REF.context_id, "epoch": "0", "id": "u"},
        {"op": "new", "context": REF.context_id, "epoch": "0", "id": "a"},
    ]


async def test_deleting_and_erasing_queue_work_on_the_vectors(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("u")], epoch=0)
    await redis.call("DEL", partition_key(0, "work"))
    await store.delete(REF, ["u", "nothing"], epoch=0)
    await store.erase(REF)
    work = [fields for _, fields in await redis.call("XRANGE", partition_key(0, "work"), "-", "+")]
    assert work == [
        {"op": "drop", "context": REF.context_id, "epoch": "0", "id": "u"},
        {"op": "erase", "context": REF.context_id, "epoch": "1"},
    ]


async def test_an_erasure_leaves_only_the_epoch_the_index_work_and_its_count(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("u", "canary", telegram=9)], epoch=0)
    await store.start_conversation(REF, epoch=0)
    await redis.call("HSET", partition_key(0, "contexts"), REF.context_id, "{}")
    await store.erase(REF)
    assert await all_keys(redis) == sorted(
        [
            *(context_key(REF, "epoch"), partition_key(0, "work"), partition_key(0, "erasures")),
            *(partition_key(0, "tombstones"), global_key("secret")),
        ]
    )


async def test_a_message_is_found_by_its_telegram_id(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("u", telegram=9), make_message("v", telegram=10)], epoch=0)
    assert await store.find_by_telegram(REF, 9) == "u"
    await store.delete(REF, ["u"], epoch=0)
    assert await store.find_by_telegram(REF, 9) is None
    assert await redis.call("HGETALL", context_key(REF, "telegram")) == {"10": "v", "v": "10"}


async def test_a_split_reply_is_linked_to_each_of_its_telegram_ids_until_it_is_deleted(
    redis: RedisClient,
) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("reply", role="assistant")], epoch=0)
    for telegram_id in (20, 21, 21):
        await redis.run(link_telegram_id(REF, message_id="reply", telegram_id=telegram_id))
    assert [await store.find_by_telegram(REF, number) for number in (20, 21)] == ["reply", "reply"]
    await store.delete(REF, ["reply"], epoch=0)
    assert await redis.call("EXISTS", context_key(REF, "telegram")) == 0


async def test_a_load_is_one_round_trip_and_rides_with_another_script(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, some_messages(3), epoch=0)
    await store.load(REF, limit=2)
    before = redis.round_trips
    await store.load(REF, limit=2)
    assert redis.round_trips == before + 1
    first, second = await redis.run_all([load_snapshot(REF, limit=2), load_snapshot(make_ref(2), limit=2)])
    recent = recent_messages()
    assert ids(parse_snapshot(named(first), recent).newest) == ["m1", "m2"]
    assert parse_snapshot(named(second), recent).newest == ()


async def test_loading_a_long_history_costs_no_more_than_a_short_one(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    for start in range(0, 10_000, 1_000):
        await store.append(REF, some_messages(1_000, start=start), epoch=0)
    await store.append(make_ref(2), some_messages(60), epoch=0)
    short = await _script_microseconds(redis, store, make_ref(2))
    assert await _script_microseconds(redis, store, REF) < 3 * short


async def _script_microseconds(redis: RedisClient, store: RedisHistory, ref: ContextRef) -> float:
    """Return the server's time for a load.

    It is the least of several rounds, because others use this machine too.
    """
    rounds: list[float] = []
    for _ in range(8):
        await redis.call("CONFIG", "RESETSTAT")
        for _ in range(5):
            await store.load(ref, limit=50)
        statistics = await redis.call("INFO", "commandstats")
        rounds.append(float(statistics["cmdstat_evalsha"]["usec_per_call"]))
    return min(rounds)


async def test_only_the_keys_of_the_context_and_its_partition_are_written(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("u", telegram=9)], epoch=0)
    kept = [
        context_key(REF, "messages"),
        context_key(REF, "order"),
        context_key(REF, "telegram"),
        context_key(REF, "meta"),
        context_key(REF, "sessions"),
        partition_key(0, "work"),
    ]
    assert await all_keys(redis) == sorted(kept)
    assert context_key(REF, "messages").startswith(f"{PREFIX}:{{m0}}:ctx:")
