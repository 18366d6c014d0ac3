"""Messages by sequence with their neighbours: on the real store, on the fake, and in a turn."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from memory.history.buffered import BufferedHistory
from memory.history.redis_history import RedisHistory
from memory.history.store import SESSION_GAP_S, HistoryStore
from memory.keys import context_key
from memory.recall.vector_index import Where
from memory.redis.client import RedisClient, open_redis
from tests.fakes.history import InMemoryHistory
from tests.messages import ids, make_message, make_ref, some_messages
from tests.unit.test_history_search import FindingRecall, make_history

REF = make_ref()


@pytest.fixture(params=["redis", "memory", "turn"])
async def store(request: pytest.FixtureRequest, redis_url: str) -> AsyncGenerator[HistoryStore]:
    """A history of twelve messages; from m6 on they are of a second session."""
    if request.param == "memory":
        yield await _filled(InMemoryHistory())
        return
    async with open_redis(redis_url) as redis:
        await redis.call("FLUSHALL")
        kept = await _filled(RedisHistory(redis))
        yield kept if request.param == "redis" else BufferedHistory(kept, REF, await kept.load(REF, limit=2))


async def _filled(store: HistoryStore) -> HistoryStore:
    await store.append(REF, some_messages(6), epoch=0)
    later = [replace(each, sent_at=each.sent_at + SESSION_GAP_S) for each in some_messages(6, start=6)]
    await store.append(REF, later, epoch=0)
    return store


async def around(store: HistoryStore, *sequences: int, reach: int) -> list[list[str]]:
    found = await store.around(REF, sequences, reach=reach)
    assert list(found) == list(sequences)
    return [ids(found[each].messages) for each in sequences]


async def test_each_message_comes_with_its_neighbours_oldest_first(store: HistoryStore) -> None:
    assert await around(store, 3, 9, reach=2) == [
        ["m1", "m2", "m3", "m4", "m5"],
        ["m7", "m8", "m9", "m10", "m11"],
    ]
    assert await around(store, 3, reach=0) == [["m3"]]


async def test_neighbours_of_another_session_are_left_out(store: HistoryStore) -> None:
    assert await around(store, 5, 6, 0, 11, reach=3) == [
        ["m2", "m3", "m4", "m5"],
        ["m6", "m7", "m8", "m9"],
        ["m0", "m1", "m2", "m3"],
        ["m8", "m9", "m10", "m11"],
    ]


async def test_a_message_is_returned_as_it_was_appended(store: HistoryStore) -> None:
    (found,) = (await store.around(REF, [2], reach=0))[2].messages

    assert found == replace(some_messages(3)[2], sequence=2)


async def test_deleted_messages_are_replaced_by_further_neighbours(store: HistoryStore) -> None:
    await store.delete(REF, ["m2", "m4"], epoch=0)

    assert await around(store, 3, reach=1) == [["m1", "m3", "m5"]]
    assert "m4" not in (await around(store, 4, reach=1))[0]


async def test_no_sequences_return_no_messages(store: HistoryStore) -> None:
    assert await store.around(REF, [], reach=3) == {}
    await store.erase(REF)
    assert await around(store, 3, reach=1) == [[]]


async def test_a_history_without_sessions_is_read_as_one_session(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await _filled(store)
    await redis.call("DEL", context_key(REF, "sessions"))

    assert await around(store, 6, reach=1) == [["m5", "m6", "m7"]]


async def test_neighbours_are_read_in_one_round_trip(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [make_message("m0"), make_message("m1")], epoch=0)
    await store.around(REF, [0], reach=1)
    before = redis.round_trips

    await store.around(REF, [0, 1], reach=1)

    assert redis.round_trips == before + 1


@pytest.mark.parametrize("neighbours", [0, 2])
async def test_a_turns_search_reads_the_store_once_with_any_window(
    redis: RedisClient, neighbours: int
) -> None:
    store = RedisHistory(redis)
    await store.append(REF, some_messages(40), epoch=0)
    turn = BufferedHistory(store, REF, await store.load(REF, limit=20))
    (asked,) = await turn.append(REF, [make_message("asked")], epoch=0)
    window = (await turn.load(REF, limit=21)).newest
    recall = FindingRecall(*(replace(each, sequence=at) for at, each in enumerate(some_messages(9))))
    history = make_history(turn, recall)
    await store.around(REF, [0], reach=1)  # the server has both scripts from here on
    await store.get(REF, ["m0"])
    before = redis.round_trips

    found = await history.search("what?", visible=(*window, asked), neighbours=neighbours)

    assert redis.round_trips == before + 1
    assert len(found) == 3
    assert recall.asked[0].where == Where(before_sequence=20)
